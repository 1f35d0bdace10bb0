"""The posteriors of a page's lines as a few bytes.

A page is packed as a whole: its lines share their letters, and one step after the other is alike. It needs no model: it
names its letters itself. Probabilities are kept as logarithms of eight bits.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.recognition.posteriors import LEAST, Posteriors

Bytes = NDArray[np.uint8]

LEVELS = 256
VALUES = np.exp(np.arange(LEVELS) * (log(LEAST) / (LEVELS - 1)))
"""(256,) the probability of each level, from 1 down to the least that is kept."""

HEAD = struct.Struct("<IIII")
MOST_BYTES = 1 << 27
"""No page takes more, unpacked; what claims more is damaged."""

MOST_STEPS = (1 << 16) - 1
MOST_TEXTS = MOST_GAP = 255


@dataclass(frozen=True, eq=False)
class PackedLines:
    """The posteriors of L lines, S steps and N entries in all.

    texts   what each token says
    widths  (L,) float32, width of a step of each line in pixels
    sizes   (L,) uint16, steps of each line
    gaps    (S,) how many steps further a step is than the one before; more than 1 if there are blanks between them
    counts  (S,) entries of each step
    tokens  (N,) places in `texts`
    levels  (N,) places in `VALUES`
    """

    texts: tuple[str, ...]
    widths: NDArray[np.float32]
    sizes: NDArray[np.uint16]
    gaps: Bytes
    counts: Bytes
    tokens: Bytes
    levels: Bytes

    @classmethod
    def of(cls, lines: Sequence[Posteriors]) -> Self:
        """Pack lines, in reading order."""
        texts = common_texts(lines)
        places = {text: place for place, text in enumerate(texts)}
        parts = [pack_line(line, places) for line in lines]
        gaps, counts, tokens, levels = (
            np.concatenate([part[which] for part in parts]) if parts else np.empty(0, dtype=np.uint8)
            for which in range(4)
        )
        widths = np.array([line.step for line in lines], dtype=np.float32)
        sizes = np.array([len(part[0]) for part in parts], dtype=np.uint16)
        return cls(texts, widths, sizes, gaps, counts, tokens, levels)

    def to_bytes(self) -> bytes:
        """The lines, compressed."""
        texts = "\n".join(self.texts).encode()
        head = HEAD.pack(len(self.sizes), len(self.gaps), len(self.tokens), len(texts))
        arrays = (self.widths, self.sizes, self.gaps, self.counts, self.tokens, self.levels)
        return zlib.compress(b"".join((head, *(array.tobytes() for array in arrays), texts)), 9)

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """What `to_bytes` has packed.

        Raises:
            DataError: if it is damaged.
        """
        try:
            unzip = zlib.decompressobj()
            raw = unzip.decompress(content, MOST_BYTES)
            lines, steps, entries, length = HEAD.unpack_from(raw)
            start, arrays = HEAD.size, []
            kinds = (np.float32, lines), (np.uint16, lines), *((np.uint8, n) for n in (steps, steps, entries, entries))
            for kind, number in kinds:
                array = np.frombuffer(raw, kind, number, start)
                arrays.append(array)
                start += array.nbytes
            texts = raw[start : start + length].decode()
            whole = cls(tuple(texts.split("\n")) if texts else (), *arrays)
        except (zlib.error, struct.error, ValueError) as error:
            raise DataError("posteriors are damaged") from error
        if not unzip.eof or start + length != len(raw) or not whole.fits:
            raise DataError("posteriors are damaged")
        return whole

    @property
    def fits(self) -> bool:
        """Whether the arrays belong together."""
        sums = int(self.sizes.sum(dtype=np.int64)) == len(self.gaps) == len(self.counts)
        entries = int(self.counts.sum(dtype=np.int64)) == len(self.tokens) == len(self.levels)
        return sums and entries and (not len(self.tokens) or int(self.tokens.max()) < len(self.texts))

    def __len__(self) -> int:
        return len(self.sizes)

    def line(self, number: int) -> Posteriors:
        """The posteriors of one line."""
        ends = np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])
        steps = slice(int(ends[number]), int(ends[number + 1]))
        firsts = np.concatenate([[0], np.cumsum(self.counts[: steps.stop], dtype=np.int64)])
        entries = slice(int(firsts[steps.start]), int(firsts[steps.stop]))
        return Posteriors(
            self.texts,
            np.cumsum(self.gaps[steps], dtype=np.int64) - 1,
            firsts[steps.start :] - firsts[steps.start],
            self.tokens[entries].astype(np.int64),
            VALUES[self.levels[entries]],
            float(self.widths[number]),
        )


def common_texts(lines: Sequence[Posteriors]) -> tuple[str, ...]:
    """All texts of some lines, sorted; of more than a byte can number, the likeliest."""
    masses: dict[str, float] = {}
    for line in lines:
        of_line = np.bincount(line.tokens, line.probabilities, minlength=len(line.texts))
        for text, mass in zip(line.texts, of_line.tolist(), strict=True):
            if text and "\n" not in text:
                masses[text] = masses.get(text, 0.0) + mass
    return tuple(sorted(sorted(masses, key=lambda text: -masses[text])[:MOST_TEXTS]))


def pack_line(line: Posteriors, places: dict[str, int]) -> tuple[Bytes, ...]:
    """Gaps, counts, tokens and levels of one line; tokens without a place are left out."""
    known = np.array([places.get(text, -1) for text in line.texts], dtype=np.int64)[line.tokens]
    steps = np.repeat(np.arange(line.steps), np.diff(line.firsts))
    kept = known >= 0
    counts = np.bincount(steps[kept], minlength=line.steps)
    gaps = np.diff(line.numbers, prepend=-1)
    # A gap that is too wide for a byte is crossed on steps without entries.
    stops = (gaps - 1) // MOST_GAP
    gaps, counts = gaps - stops * MOST_GAP, np.insert(counts, np.repeat(np.arange(line.steps), stops), 0)
    gaps = np.insert(gaps, np.repeat(np.arange(line.steps), stops), MOST_GAP)
    gaps, counts = gaps[:MOST_STEPS], counts[:MOST_STEPS]
    levels = np.rint(np.log(line.probabilities[kept]) * ((LEVELS - 1) / log(LEAST))).clip(0, LEVELS - 1)
    entries = slice(0, int(counts.sum()))
    arrays = gaps, counts, known[kept][entries], levels[entries]
    return tuple(array.astype(np.uint8) for array in arrays)
