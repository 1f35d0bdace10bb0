from concurrent.futures import wait

import pytest

from drethtr.base.errors import DataError
from drethtr.editing.executor import PriorityExecutor


@pytest.mark.parametrize(
    ("error", "shown"), [(KeyError("bug"), True), (DataError("no such page"), False)], ids=["bug", "expected"]
)
def test_a_bug_in_the_background_is_printed(error, shown, capsys):
    def fail():
        raise error

    executor = PriorityExecutor()
    wait([executor.submit_background(fail)])
    executor.shutdown()
    assert ("Traceback" in capsys.readouterr().err) == shown
