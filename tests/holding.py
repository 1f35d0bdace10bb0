"""Programs that wait to be killed at a known step, where a moment would come too early or too late."""

import os
import sys
from pathlib import Path

from waiting import until

HELD = Path(__file__).with_name("held")


class Hold:
    """Hold a program just before it writes a file with this ending for the n-th time; `mark` is where it says so.

    variables  of its environment
    """

    def __init__(self, mark: Path, ending: str, number: int) -> None:
        self.mark = mark
        paths = os.pathsep.join([str(HELD), *sys.path])
        self.variables = {
            "PYTHONPATH": paths,
            "HOLD_NAME": ending,
            "HOLD_NUMBER": str(number),
            "HOLD_MARK": str(mark),
        }

    def wait(self, process) -> None:
        """Wait until the program is there."""
        until(lambda: self.mark.exists() or process.poll() is not None, 300)
        assert process.poll() is None, "it has ended before"
