"""Benchmark the host: processor time per line outside the network.

That is everything but the network: preparing lines, search, confidences and flags. It limits how many lines per second
one processor can feed to a GPU. A network that replays its recorded results takes next to no time, so only the rest is
measured.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any, cast

from drethtr.base.errors import DataError
from drethtr.images.line import Line
from drethtr.recognition.protocol import Network
from drethtr.recognition.recognizer import Recognizer

CALLS = frozenset({"encode", "keep", "score_trees", "score_texts", "begin", "step", "reorder"})
"""The calls of `Network` that compute."""


class Replayed:
    """A network whose results are recorded until `rewind`, and replayed after it, in the order of the calls.

    The same lines must be read again, by the same strategy, on one thread.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._results: list[Any] = []
        self._next: int | None = None

    def rewind(self) -> None:
        """Replay from the first call on."""
        self._next = 0

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._network, name)
        return (lambda *args: self._result(own, args)) if name in CALLS else own

    def _result(self, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if self._next is None:
            self._results.append(call(*args))
            return self._results[-1]
        self._next += 1
        return self._results[self._next - 1]


def earlier(path: Path) -> dict[str, float]:
    """The milliseconds of each decoder in a file of `drethtr bench host --json`.

    Raises:
        DataError: naming the file, if it is no such file.
    """
    try:
        found = json.loads(path.read_bytes())["milliseconds"]
        return {str(name): 1.0 * value for name, value in found.items() if value > 0}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(
            "is not a file of `drethtr bench host --json`; write one with the other version", path
        ) from error


def measure(recognizer: Recognizer, lines: Sequence[Line], rounds: int) -> float:
    """Milliseconds of processor time per line outside the network: the least of some rounds, on one thread.

    The images are open already. The minimum is used because other processes only add to the time, for example by
    evicting caches.
    """
    network = Replayed(recognizer.network)
    reader = Recognizer(
        recognizer.model,
        recognizer.strategy,
        network=cast("Network", network),
        precision=recognizer.precision,
        threads=1,
    )
    reader.read_lines(lines)
    busy = []
    for _ in range(rounds):
        network.rewind()
        begun = process_time()
        reader.read_lines(lines)
        busy.append(process_time() - begun)
    return 1000 * min(busy) / len(lines)
