"""Types of the compiled inner loops; `compiled/` says what they do. All arrays are contiguous."""

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Table = tuple[int, NDArray[Any], NDArray[Any], memoryview, NDArray[Any]]
"""Order, tokens, losses, first children and backoffs of n-grams."""

def log_probabilities(texts: tuple[array[int], ...], ngrams: tuple[Table, ...], found: Doubles) -> None: ...
def surprises(tokens: array[int], ngrams: Table, found: Doubles) -> None: ...
def prefix_search(
    rows: NDArray[np.float32],
    tokens: int,
    blank: int,
    beams: int,
    tokens_per_step: int,
    margin: float,
    weight: float,
    per_token: float,
    begin_end: tuple[int, int],
    ngrams: Table | None,
) -> list[tuple[tuple[int, ...], float, float]]: ...
def numbers(logarithms: Doubles, numbers: Doubles) -> None: ...
def longer(
    token: Doubles,
    blank: Doubles,
    same: bool,
    in_token: Doubles,
    in_blank: Doubles,
    longer_in_token: Doubles,
    longer_in_blank: Doubles,
) -> None: ...
def earlier(token: Doubles, blank: Doubles, same: bool, entered: Doubles, earlier_entered: Doubles) -> None: ...
def whole(same: bool, in_token: Doubles, in_blank: Doubles, entered: Doubles) -> float: ...
def viterbi(
    rows: NDArray[np.float32], tokens: int, text: NDArray[np.int32], blank: int, path: NDArray[np.int32]
) -> bool: ...
def seam(cost: Doubles, path: NDArray[np.int64]) -> None: ...
def nearest(points: Doubles, others: Doubles, places: NDArray[np.int64]) -> None: ...
def covered(
    table: NDArray[np.bool_],
    across: int,
    left: float,
    top: float,
    places: Doubles,
    downs: Doubles,
    above: float,
    mask: NDArray[np.bool_],
) -> None: ...
def word_on_pages(
    contents: Sequence[bytes],
    classes: Sequence[bytes],
    after: NDArray[np.uint16],
    kinds: bytes,
    breaks: NDArray[np.uint16],
    values: Doubles,
    pieces: bytes,
    found: int,
    dead: int,
    faintest: float,
    least: float,
    probabilities: Doubles,
) -> None: ...
