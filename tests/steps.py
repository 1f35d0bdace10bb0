"""Count the steps of a program, where times would depend on the machine."""

import sys
from collections.abc import Callable


def steps(work: Callable[[], object]) -> int:
    """The lines of Python that are executed, each round of a loop counted; unlike times, they are always the same."""
    count, before = 0, sys.gettrace()

    def trace(frame: object, event: str, value: object) -> object:
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
