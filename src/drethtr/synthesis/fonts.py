"""Handwriting fonts, checked for the characters they really draw.

A font may map a character and still draw nothing, a box, the letter without its accent, or SS for ß. Therefore every
character is rendered once and inspected. Sizes are heights of ink, since point sizes differ between fonts.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFont
from PIL.ImageFont import FreeTypeFont

from drethtr.base.arrays import Booleans, Ints
from drethtr.base.errors import DataError

SUFFIXES = (".otf", ".ttf", ".woff2")
REFERENCE_SIZE = 48  # pixels per em at which characters are inspected
UNMAPPED = "\uffff"  # a noncharacter: every font draws its glyph for missing characters
LOW, TALL, DEEP = "acemnorsuvxz", "bdhkl", "gpqy"

# Substitutions in careless fonts: letters that must look different, and pairs that may be spelled out.
CONFUSED = {"ß": "Bs", "ſ": "s", "œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
SPELLED_OUT = {"ß": ("ss", "SS"), "ẞ": ("ss", "SS"), "«": ("‹",), "»": ("›",)}
SAME_DRAWING = 0.9  # correlation; rock-salt and walter-turncoat reach 0.98 for ß as SS, correct fonts stay below 0.6


class Glyphs:
    """The ink of a short text, cropped; `top` and `bottom` in pixels above and below the baseline."""

    def __init__(self, font: FreeTypeFont, text: str) -> None:
        mask, (_, above) = mask_of(font, text)
        width, height = mask.size
        ink: NDArray[np.uint8] = np.frombuffer(bytes(mask), np.uint8).reshape(height, width)
        # Pixels paler than 96 are blur at the edges of strokes.
        rows, columns = np.flatnonzero((ink > 96).any(axis=1)), np.flatnonzero((ink > 96).any(axis=0))
        self.blank = rows.size == 0
        self.ink = ink[:0] if self.blank else ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        self.top = 0 if self.blank else -int(above + rows[0])
        self.bottom = self.ink.shape[0] - self.top

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Glyphs) and np.array_equal(self.ink, other.ink)

    __hash__ = None  # type: ignore[assignment]

    def resembles(self, other: "Glyphs") -> bool:
        """Whether both are the same drawing, up to size and spacing."""
        small = [Image.fromarray(glyphs.ink).resize((24, 24), Image.Resampling.BOX) for glyphs in (self, other)]
        a, b = (np.asarray(picture, np.float64).ravel() for picture in small)
        return bool(np.corrcoef(a, b)[0, 1] > SAME_DRAWING)


def mask_of(font: FreeTypeFont, text: str) -> tuple[Any, tuple[int, int]]:
    """The ink of a text in a font, and its offset from the start of the baseline.

    Raises:
        DataError: if the font cannot draw it, or draws it with excessive size.
    """
    try:
        return font.getmask2(text, mode="L", anchor="ls")
    except (OSError, Image.DecompressionBombError) as error:
        raise DataError(f"{font.path!r} cannot draw {text!r} ({error}); remove it from the folder") from error


def run_lengths(ink: Booleans) -> Ints:
    """Lengths of the runs of ink in every row."""
    changes = np.diff(np.pad(ink, ((0, 0), (1, 1))).astype(np.int8), axis=1).ravel()
    return np.flatnonzero(changes == -1) - np.flatnonzero(changes == 1)


class Face:
    """A font file; what it draws is determined on first use and cached.

    Raises:
        DataError: if FreeType cannot open the file as a font, or it draws no lower case letters.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reference = open_font(path, REFERENCE_SIZE)
        self.looked_at: dict[str, bool] = {" ": True}

    @property
    def name(self) -> str:
        """The name of the file, without its extension."""
        return self.path.stem

    @cached_property
    def missing(self) -> Glyphs:
        """The glyph for missing characters."""
        return Glyphs(self.reference, UNMAPPED)

    @cached_property
    def x_height(self) -> float:
        """Median ink height of low letters, in ems."""
        heights = [Glyphs(self.reference, letter).ink.shape[0] for letter in LOW]
        if not min(heights):
            raise DataError(f"{self.path} draws no ink for one of {LOW!r}; remove it from the folder")
        return float(np.median(heights)) / REFERENCE_SIZE

    @cached_property
    def ascent(self) -> float:
        """Ink above the baseline in b, d, h, in ems."""
        ascent = float(np.median([Glyphs(self.reference, c).top for c in TALL])) / REFERENCE_SIZE
        if ascent <= 0:
            raise DataError(f"{self.path} draws no ink above the baseline in {TALL!r}; remove it from the folder")
        return ascent

    @cached_property
    def descent(self) -> float:
        """Ink below the baseline in g, p, y, in ems."""
        return float(np.median([Glyphs(self.reference, c).bottom for c in DEEP])) / REFERENCE_SIZE

    @cached_property
    def strokes(self) -> Ints:
        """Widths and heights of strokes in some letters, in pixels at four times the usual size."""
        ink = Glyphs(open_font(self.path, 4 * REFERENCE_SIZE), "nonumhole").ink > 127
        return np.concatenate([run_lengths(ink), run_lengths(ink.T)])

    @cached_property
    def stroke(self) -> float:
        """Width of a usual stroke, in ems."""
        return float(np.median(self.strokes)) / 4 / REFERENCE_SIZE

    @cached_property
    def hairline(self) -> float:
        """Width of a thin stroke, in ems."""
        return float(np.percentile(self.strokes, 10)) / 4 / REFERENCE_SIZE

    def draws(self, text: Iterable[str]) -> bool:
        """Whether every character of the text is drawn correctly."""
        return all(self.draws_character(character) for character in set(text))

    def draws_character(self, character: str) -> bool:
        """Whether a character has its own glyph, not a blank, a box, or another letter."""
        known = self.looked_at.get(character)
        if known is None:
            known = self.looked_at[character] = self.look_at(character)
        return known

    def look_at(self, character: str) -> bool:
        glyph = Glyphs(self.reference, character)
        if glyph.blank or glyph == self.missing:
            return False
        decomposed = unicodedata.normalize("NFD", character)
        bare = decomposed[0] if len(decomposed) > 1 else ""
        if any(glyph == Glyphs(self.reference, other) for other in CONFUSED.get(character, "") + bare):
            return False
        pairs = (Glyphs(self.reference, pair) for pair in SPELLED_OUT.get(character, ()))
        return not any(glyph.resembles(pair) for pair in pairs if not pair.blank)


@dataclass(frozen=True)
class FontFolder:
    """The fonts of a folder, sorted by name; sent between processes as a path.

    Raises:
        DataError: if the folder is missing or has no fonts.
    """

    path: Path

    def __post_init__(self) -> None:
        if not self.path.is_dir():
            raise DataError(f"{self.path} is not a folder of fonts")
        if not self.files:
            raise DataError(f"{self.path} has no fonts; looked for {', '.join(SUFFIXES)}")

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The font files."""
        return tuple(sorted(file for file in self.path.iterdir() if file.suffix.lower() in SUFFIXES))

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> Face:
        return open_face(self.files[number])


open_face = cache(Face)
"""The face of a file, opened once per process."""


@lru_cache(maxsize=512)
def open_font(path: Path, pixels: int) -> FreeTypeFont:
    """A font at a size in pixels per em.

    Raises:
        DataError: if FreeType cannot open the file as a font.
    """
    try:
        return ImageFont.truetype(str(path), pixels)
    except OSError as error:
        raise DataError(f"cannot open the font {path}: {error}") from error
