"""Tests wait for facts, not for times, and never for ever."""

from time import monotonic, sleep


def until(fact, seconds=60):
    """Wait until a fact holds, and return it; one that does not come to hold fails the test."""
    end = monotonic() + seconds
    while not (found := fact()):
        assert monotonic() < end, f"not within {seconds} s"
        sleep(0.01)
    return found


def ended(job):
    """A job of the editor once it has ended."""
    until(lambda: job.state.ended, 900)
    return job
