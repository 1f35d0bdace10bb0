"""Pack the posteriors of the lines of a page into a few bytes.

A packed page needs no model, as it includes its letters. A step takes one byte, an entry about eleven bits, without
further compression, so that scanning every line for a query is fast.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.recognition.posteriors import MIN_PROBABILITY, Posteriors

Bytes = NDArray[np.uint8]

# Fewer levels would cost at most 0.005 of average precision (LOG.md, 2026-11-25), and save one of about eleven bits.
LEVEL_BITS = 5
LEVELS = 1 << LEVEL_BITS
SUREST = 7.0
"""Log-odds of the highest level below certainty."""

ODDS = np.linspace(SUREST, log(MIN_PROBABILITY / (1 - MIN_PROBABILITY)), LEVELS - 1)
VALUES = np.concatenate([[1.0], 1 / (1 + np.exp(-ODDS))])
"""(32,) the probability of each level, from 1 downwards."""

SKIRT = 0.1
"""A token is dropped at a step where it is less likely than this share of its probability one step before or after:
such skirts of a letter cost bytes, and gain at most 0.005 of average precision (LOG.md, 2026-11-25)."""

MAX_LINE_BYTES = 580
"""Maximum bytes per line, averaged over the page; beyond that, the least likely tokens are dropped."""

HEAD = struct.Struct("<IIII")

# Limits: the 16 bits for the steps of a line, the byte that numbers a text, and the two halves of a step's byte.
MAX_STEPS = (1 << 16) - 1
MAX_TEXTS = 255
MAX_GAP = MAX_COUNT = 15


class Entries(NamedTuple):
    """Entries (N,) of a line: step, token and probability of each, by step."""

    numbers: NDArray[np.int64]
    tokens: NDArray[np.int64]
    chances: NDArray[np.float64]

    def where(self, kept: NDArray[np.bool_] | NDArray[np.int64]) -> "Entries":
        """Some of them, by a mask or by their places."""
        return Entries(self.numbers[kept], self.tokens[kept], self.chances[kept])


@dataclass(frozen=True, eq=False)
class PackedLines:
    """The posteriors of L lines with S steps and N entries in all, as bytes that are decoded on access.

    texts  of each token
    """

    content: bytes
    texts: tuple[str, ...]

    @classmethod
    def of(cls, lines: Sequence[Posteriors]) -> Self:
        """Pack lines, in reading order."""
        texts = common_texts(lines)
        places = {text: place for place, text in enumerate(texts)}
        bits = token_bits(len(texts))
        known = [known_entries(line, places) for line in lines]
        packed = [pack_steps(entries) for entries in essential(known, bits + LEVEL_BITS)]
        tokens = np.concatenate([entries.tokens for _, entries in packed]) if packed else np.empty(0, dtype=np.int64)
        chances = np.concatenate([entries.chances for _, entries in packed]) if packed else np.empty(0)
        numbers = tokens | levels_of(chances) << bits
        arrays = (
            np.array([line.step for line in lines], dtype=np.float32),
            np.array([len(steps) for steps, _ in packed], dtype=np.uint16),
            np.concatenate([steps for steps, _ in packed]) if packed else np.empty(0, dtype=np.uint8),
            np.packbits((numbers[:, None] >> np.arange(bits + LEVEL_BITS)) & 1, bitorder="little"),
        )
        named = "\n".join(texts).encode()
        head = HEAD.pack(len(lines), len(arrays[2]), len(arrays[3]), len(named))
        return cls(b"".join((head, *(array.tobytes() for array in arrays), named)), texts)

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The lines of some `content`.

        Raises:
            DataError: if the lengths of the parts are wrong.
        """
        try:
            lines, steps, entries, length = HEAD.unpack_from(content)
            # Of each line, the width of a step in 4 bytes and the number of its steps in 2.
            if len(content) != HEAD.size + 6 * lines + steps + entries + length:
                raise ValueError("other lengths")
            texts = content[len(content) - length :].decode()
        except (struct.error, ValueError) as error:
            raise DataError("posteriors are damaged") from error
        return cls(content, tuple(texts.split("\n")) if texts else ())

    @cached_property
    def lengths(self) -> tuple[int, int, int, int]:
        """L, S, and the bytes of the entries and of the texts."""
        lines, steps, entries, length = HEAD.unpack_from(self.content)
        return lines, steps, entries, length

    @property
    def widths(self) -> NDArray[np.float32]:
        """(L,) width of a step of each line in pixels."""
        return np.frombuffer(self.content, np.float32, len(self), HEAD.size)

    @property
    def sizes(self) -> NDArray[np.uint16]:
        """(L,) steps of each line."""
        return np.frombuffer(self.content, np.uint16, len(self), HEAD.size + 4 * len(self))

    @property
    def steps(self) -> Bytes:
        """(S,) in the high half the distance to the previous step, in the low half the number of entries.

        The distance is more than one if there are blank steps between them.
        """
        return np.frombuffer(self.content, np.uint8, self.lengths[1], HEAD.size + 6 * len(self))

    @property
    def entries(self) -> Bytes:
        """The bits of the tokens and levels of all steps."""
        lines, steps, entries, _ = self.lengths
        return np.frombuffer(self.content, np.uint8, entries, HEAD.size + 6 * lines + steps)

    def __len__(self) -> int:
        return self.lengths[0]

    @property
    def gaps(self) -> Bytes:
        """(S,) the distance of each step to the previous one."""
        return (self.steps >> 4).astype(np.uint8)

    @property
    def counts(self) -> Bytes:
        """(S,) number of entries of each step."""
        return (self.steps & 15).astype(np.uint8)

    @cached_property
    def unpacked(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(N,) places in `texts`, and (N,) places in `VALUES`.

        Raises:
            DataError: if they are damaged.
        """
        number, bits = int(self.counts.sum(dtype=np.int64)), token_bits(len(self.texts))
        width = bits + LEVEL_BITS
        if int(self.sizes.sum(dtype=np.int64)) != len(self.steps) or len(self.entries) != (number * width + 7) // 8:
            raise DataError("posteriors are damaged")
        rows = np.unpackbits(self.entries, count=number * width, bitorder="little").reshape(number, width)
        numbers = rows @ (1 << np.arange(width))
        tokens = numbers & ((1 << bits) - 1)
        if number and int(tokens.max()) >= len(self.texts):
            raise DataError("posteriors are damaged")
        return tokens, numbers >> bits

    def line(self, number: int) -> Posteriors:
        """The posteriors of one line.

        Raises:
            DataError: if the page is damaged, or has fewer lines.
        """
        if number >= len(self):
            raise DataError("posteriors are damaged")
        tokens, levels = self.unpacked
        ends = np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])
        steps = slice(int(ends[number]), int(ends[number + 1]))
        firsts = np.concatenate([[0], np.cumsum(self.counts[: steps.stop], dtype=np.int64)])
        entries = slice(int(firsts[steps.start]), int(firsts[steps.stop]))
        return Posteriors(
            self.texts,
            np.cumsum(self.gaps[steps], dtype=np.int64) - 1,
            firsts[steps.start :] - firsts[steps.start],
            tokens[entries],
            VALUES[levels[entries]],
            float(self.widths[number]),
        )


def token_bits(texts: int) -> int:
    """The number of bits of a token, for this many texts."""
    return max(texts - 1, 0).bit_length()


def levels_of(chances: NDArray[np.float64]) -> NDArray[np.int64]:
    """(N,) the nearest levels of probabilities, by log-odds; the first one only for certainty."""
    # By log-odds, since an error of 0.01 matters at 0.99 but not at 0.5.
    odds = np.log(np.maximum(chances, MIN_PROBABILITY) / np.maximum(1 - chances, 1e-9))
    nearest = np.rint((odds - SUREST) / (ODDS[-1] - SUREST) * (LEVELS - 2)).clip(0, LEVELS - 2).astype(np.int64)
    return np.where(chances >= 1, 0, nearest + 1)


def common_texts(lines: Sequence[Posteriors]) -> tuple[str, ...]:
    """All texts of some lines, sorted; if a byte cannot number them, only the likeliest."""
    masses: dict[str, float] = {}
    for line in lines:
        of_line = np.bincount(line.tokens, line.probabilities, minlength=len(line.texts))
        for text, mass in zip(line.texts, of_line.tolist(), strict=True):
            if text and mass and "\n" not in text:
                masses[text] = masses.get(text, 0.0) + mass
    return tuple(sorted(sorted(masses, key=lambda text: -masses[text])[:MAX_TEXTS]))


def known_entries(line: Posteriors, places: dict[str, int]) -> Entries:
    """The entries of a line whose token was kept, by step and token."""
    known = np.array([places.get(text, -1) for text in line.texts], dtype=np.int64)[line.tokens]
    entries = Entries(np.repeat(line.numbers, np.diff(line.firsts)), known, line.probabilities)
    order = np.lexsort((known, entries.numbers))
    return entries.where(order[known[order] >= 0])


def essential(lines: Sequence[Entries], bits: int) -> list[Entries]:
    """The entries of each line without skirts, cut to the maximum size of the page; an entry takes `bits` bits."""
    kept = [entries.where(~in_skirt(entries)) for entries in lines]
    chances = np.concatenate([entries.chances for entries in kept]) if kept else np.empty(0)
    steps = sum(len(np.unique(entries.numbers)) for entries in kept)
    most = max((MAX_LINE_BYTES * len(lines) - steps) * 8 // bits, 0)
    if len(chances) > most:
        # One threshold for the page, so that its difficult lines keep more entries than its clear ones.
        least = np.partition(chances, len(chances) - most - 1)[len(chances) - most - 1]
        kept = [entries.where(entries.chances > least) for entries in kept]
    return kept


def in_skirt(entries: Entries) -> NDArray[np.bool_]:
    """(N,) whether a token is much likelier one step before or after."""
    if not len(entries.tokens):
        return np.empty(0, dtype=np.bool_)
    width = int(entries.tokens.max()) + 1
    # Step and token as one number, ascending, so that the same token one step on is found by binary search.
    places = entries.numbers * width + entries.tokens
    beside = np.zeros(len(places))
    for other in (places - width, places + width):
        at = np.minimum(np.searchsorted(places, other), len(places) - 1)
        beside = np.maximum(beside, np.where(places[at] == other, entries.chances[at], 0.0))
    skirt: NDArray[np.bool_] = entries.chances < SKIRT * beside
    return skirt


def pack_steps(entries: Entries) -> tuple[Bytes, Entries]:
    """Distances and counts of the steps of a line as bytes, and their entries."""
    numbers, firsts, counts = np.unique(entries.numbers, return_index=True, return_counts=True)
    if len(counts) and counts.max() > MAX_COUNT:  # the likeliest of each step
        order = np.lexsort((-entries.chances, entries.numbers))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - np.repeat(firsts, counts)
        return pack_steps(entries.where(rank < MAX_COUNT))
    gaps = np.diff(numbers, prepend=-1)
    # A long distance is bridged by steps without entries.
    stops = (gaps - 1) // MAX_GAP
    between = np.repeat(np.arange(len(numbers)), stops)
    gaps, counts = np.insert(gaps - stops * MAX_GAP, between, MAX_GAP), np.insert(counts, between, 0)
    steps = (gaps << 4 | counts)[:MAX_STEPS]
    number = int((steps & 15).sum())
    numbers, tokens, chances = entries
    return steps.astype(np.uint8), Entries(numbers[:number], tokens[:number], chances[:number])
