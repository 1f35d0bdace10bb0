from concurrent.futures import wait
from threading import Event

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


def test_nobody_waits_for_work_that_is_cancelled_at_the_end():
    """A request to confirm a line kept the program alive."""
    executor, begun, go_on = PriorityExecutor(), Event(), Event()
    executor.submit(lambda: begun.set() or go_on.wait())
    assert begun.wait(60)
    queued = {executor.submit(print), executor.submit_background(print)}
    executor.shutdown(wait=False)
    assert wait(queued, timeout=0).done == queued and all(future.cancelled() for future in queued)
    go_on.set()
    executor.shutdown()  # twice, as the first did not wait
