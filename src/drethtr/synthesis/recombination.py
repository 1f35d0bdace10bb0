"""Word recombination: new lines from words of lines by the same hand on the same page.

A network that sees a line many times memorizes its text; recombined words must be read. The gaps at which a line can be
cut are found beforehand (`drethtr data gaps`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from PIL import Image

from drethtr.base.errors import ConfigError, DataError, MissingExtraError
from drethtr.base.files import atomic_write
from drethtr.datasets.parquet import open_parquet
from drethtr.datasets.sample import Sample, fingerprint, page_of
from drethtr.images.line import Line

IMAGE, COLUMNS, CHARACTERS = FIELDS = ("image", "columns", "characters")
"""The columns of a gaps file: the fingerprint of an image, and the fields of each `WordGap` in it."""

MAX_WORDS = 4
"""Maximum number of consecutive words to keep together; more would be memorized again."""

MAX_PIECES = 12
"""Maximum number of pieces of a line, so that empty ones, or narrow ones for a very wide line, do not loop forever."""

MIN_LINES = 3
"""Minimum lines by one hand on a page; with fewer, the same words repeat too often."""

MARGIN = 0.125
"""Margin to add where pieces are cut close to the ink, relative to the height. Two make a narrow space."""

SEAM = 3
"""Columns on either side of a seam over which the papers are blended."""


class WordGap(NamedTuple):
    """White space between two words: a column of the image, and the position of the space in the text."""

    column: int
    character: int

    def is_of(self, text: str) -> bool:
        """Whether the text has a space at its position."""
        return 0 < self.character < len(text) and text[self.character] == " "


Gaps = Mapping[bytes, tuple[WordGap, ...]]
"""The gaps of lines, by the fingerprints of their images."""


def write_gaps(gaps: Gaps, path: Path) -> None:
    """Write a file for `read_gaps`.

    Raises:
        DataError: if the file cannot be written.
        MissingExtraError: without pyarrow.
    """
    try:
        import pyarrow
        from pyarrow.parquet import write_table
    except ImportError as error:
        raise MissingExtraError("pyarrow", "batch") from error
    numbers = pyarrow.list_(pyarrow.int32())
    schema = pyarrow.schema([(IMAGE, pyarrow.binary()), (COLUMNS, numbers), (CHARACTERS, numbers)])
    rows = [
        {IMAGE: image, COLUMNS: [gap.column for gap in of_line], CHARACTERS: [gap.character for gap in of_line]}
        for image, of_line in gaps.items()
    ]
    try:
        with atomic_write(path) as unfinished, unfinished.open("wb") as stream:
            write_table(pyarrow.Table.from_pylist(rows, schema), stream)
    except OSError as error:
        raise DataError(f"cannot be written: {error}", path) from error


def read_gaps(path: str) -> Gaps:
    """The gaps in a file from `drethtr data gaps`.

    Raises:
        DataError: if it cannot be read, or is another file.
        MissingExtraError: without pyarrow.
    """
    with open_parquet(path) as file:
        if {*FIELDS} - {*file.schema_arrow.names}:
            raise DataError("not a gaps file; create one with drethtr data gaps", path)
        rows = file.read(list(FIELDS), use_threads=False).to_pylist()
    return {row[IMAGE]: tuple(map(WordGap, row[COLUMNS], row[CHARACTERS])) for row in rows}


class CuttableLine(NamedTuple):
    """A line that can be cut."""

    sample: Sample
    gaps: tuple[WordGap, ...]

    def draw_words(self, rng: np.random.Generator) -> tuple[Line, str]:
        """At most `MAX_WORDS` consecutive words, with an added margin at the ends of the line.

        Raises:
            DataError: naming the sample, if its image cannot be read.
        """
        line = self.sample.line()
        edges = [WordGap(0, -1), *self.gaps, WordGap(line.shape[1], len(self.sample.text))]
        count = min(int(rng.integers(1, MAX_WORDS + 1)), len(edges) - 1)
        first = int(rng.integers(len(edges) - count))
        left, right = edges[first], edges[first + count]
        piece = line[:, left.column : right.column]
        if piece.size:
            margin = round(MARGIN * line.shape[0])
            sides = (margin * (left is edges[0]), margin * (right is edges[-1]))
            # A line has paper at its ends, a word cut out of its middle has none.
            piece = np.pad(piece, ((0, 0), sides), constant_values=int(np.median(line)))
        return piece, self.sample.text[left.character + 1 : right.character].strip()


def recombine(sample: Sample, pool: Sequence[CuttableLine], rng: np.random.Generator) -> Sample:
    """A line about as long as `sample`, from words of the lines in the pool.

    Raises:
        DataError: naming the sample, if an image cannot be read.
    """
    width, height = sample.size()
    pieces: list[Line] = []
    texts: list[str] = []
    length = 0.0
    for _ in range(MAX_PIECES):
        piece, text = pool[int(rng.integers(len(pool)))].draw_words(rng)
        if piece.size and text:
            pieces.append(piece)
            texts.append(text)
            length += piece.shape[1] / piece.shape[0]
        if length >= width / height:
            break
    if not pieces:
        return sample
    return replace(sample, image=joined_up(pieces), text=" ".join(texts), key=f"{sample.key}, recombined")


def joined_up(pieces: Sequence[Line]) -> Line:
    """Join pieces to one line with the height and the paper of the first."""
    height, paper = pieces[0].shape[0], float(np.median(pieces[0]))
    shown = []
    for piece in pieces:
        if piece.shape[0] != height:
            size = (max(1, round(piece.shape[1] * height / piece.shape[0])), height)
            piece = np.asarray(Image.fromarray(piece).resize(size, Image.Resampling.BILINEAR))
        # Paper may be lighter on the other side of a page, so each piece is shifted to the tone of the first.
        shown.append(piece.astype(np.float32) + (paper - float(np.median(piece))))
    joined = np.concatenate(shown, axis=1)
    for seam in np.cumsum([piece.shape[1] for piece in shown])[:-1].tolist():
        left, right = max(seam - SEAM, 0), min(seam + SEAM, joined.shape[1])
        # Blended over the seam, since a network would learn to recognize recombined lines by a sharp edge.
        turn = np.linspace(0, 1, right - left, dtype=np.float32)
        joined[:, left:right] = (1 - turn) * joined[:, left, None] + turn * joined[:, right - 1, None]
    return joined.clip(0, 255).round().astype(np.uint8)


@dataclass(frozen=True, kw_only=True)
class Recombined:
    """The recombination of the lines of a source.

    gaps    a file from `drethtr data gaps`; lines that it does not contain are not recombined
    share   the share of the other lines that is recombined from words of their page
    """

    gaps: str
    share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ConfigError(f"share must be between 0 and 1, not {self.share}")


@dataclass(frozen=True)
class Recombination:
    """Recombines lines of a set.

    share  of the lines that can be recombined
    pages  lines by one hand on one page
    page   the page of each line that can be recombined, by the line's number in the set
    """

    share: float
    pages: tuple[tuple[CuttableLine, ...], ...]
    page: Mapping[int, int]

    @classmethod
    def of(cls, samples: Sequence[Sample], gaps: Gaps, share: float) -> Self:
        """The recombination of lines whose page is known and whose text has not changed since gaps were found.

        Raises:
            DataError: naming the sample, if its file cannot be read.
        """
        found: dict[tuple[str, str | None], dict[int, CuttableLine]] = defaultdict(dict)
        for number, sample in enumerate(samples):
            of_line = gaps.get(fingerprint(sample))
            if of_line is not None and page_of(sample) and all(gap.is_of(sample.text) for gap in of_line):
                found[page_of(sample), sample.hand][number] = CuttableLine(sample, of_line)
        pages = [lines for lines in found.values() if len(lines) >= MIN_LINES]
        numbers = {number: page for page, lines in enumerate(pages) for number in lines}
        return cls(share, tuple(tuple(lines.values()) for lines in pages), numbers)

    def __call__(self, number: int, sample: Sample, rng: np.random.Generator) -> Sample:
        """The sample with this number in its set, or a line of words of its page.

        Raises:
            DataError: naming the sample, if an image cannot be read.
        """
        page = self.page.get(number)
        return sample if page is None or rng.random() >= self.share else recombine(sample, self.pages[page], rng)

    def digest(self) -> str:
        """A digest of the share and the gaps."""
        gaps = [[words.gaps for words in page] for page in self.pages]
        return blake2b(repr((self.share, gaps)).encode(), digest_size=8).hexdigest()
