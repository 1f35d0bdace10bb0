"""Hold this process where `holding.Hold` says: Python imports this module at startup."""

import os
import sys
import time
from pathlib import Path


def install():
    """Wait to be killed just before a file gets its name for the n-th time."""
    name, number, mark = os.environ["HOLD_NAME"], int(os.environ["HOLD_NUMBER"]), Path(os.environ["HOLD_MARK"])
    seen = 0

    def look(event, arguments):
        nonlocal seen
        if event != "os.rename" or not os.path.basename(os.fsdecode(arguments[1])).endswith(name):  # noqa: PTH119
            return
        seen += 1
        if seen == number:
            mark.touch()
            time.sleep(600)

    sys.addaudithook(look)


install()
