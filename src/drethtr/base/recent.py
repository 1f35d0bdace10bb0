"""A cache of recent results for several threads."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Result = TypeVar("Result")


class RecentResults(Generic[Result]):
    """The most recent results; one that several threads request at once is computed once.

    Args:
        most: Maximum number, or total weight, of the results kept; the last one is always kept.
        weigh: The weight of a result.
    """

    def __init__(self, most: int, weigh: Callable[[Result], int] = lambda result: 1) -> None:
        self.most = most
        self.weigh = weigh
        self.weight = 0
        self.results: OrderedDict[Hashable, Result] = OrderedDict()
        self.lock = Lock()
        self.making: dict[Hashable, Lock] = {}

    def clear(self) -> None:
        """Forget all results."""
        with self.lock:
            self.results.clear()
            self.weight = 0

    def get(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """The result for a key, computed by `make` if it is not cached."""
        with self.lock:
            if key in self.results:
                self.results.move_to_end(key)
                return self.results[key]
            own = self.making.setdefault(key, Lock())
        with own:  # not under `self.lock`: decoding one scan must not hold up the strips of another
            with self.lock:
                if key in self.results:
                    return self.results[key]  # another thread has computed it meanwhile
            try:
                made = make()
                with self.lock:
                    # After a failure, a waiting thread and a new one may both compute it; it must be counted once.
                    if key not in self.results:
                        self.results[key] = made
                        self.weight += self.weigh(made)
                    while self.weight > self.most and len(self.results) > 1:
                        _, oldest = self.results.popitem(last=False)
                        self.weight -= self.weigh(oldest)
                return made
            finally:
                with self.lock:
                    self.making.pop(key, None)
