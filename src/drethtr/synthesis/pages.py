"""Synthetic pages: letters, openings, registers, accounts, pages with notes and in columns, with their layout.

    pages = SyntheticPages(fonts="fonts", texts=("novels_eng.txt.xz",)).build()
    page = pages.render(index=7, seed=0)
    page.page, page.layout.lines[0].role

Configuration, seed and index determine the page, in any order and process. Lines are written as synthetic lines are,
put on a sheet, and the sheet is bent as in a photograph, together with all its points.
"""

from dataclasses import dataclass, field, replace
from itertools import repeat

import numpy as np

from drethtr.base.errors import ConfigError, DataError
from drethtr.layout.finder import MarkedPage
from drethtr.synthesis.corpus import TRIES, draw_paragraph, language_of
from drethtr.synthesis.fragments import MONTHS
from drethtr.synthesis.page_kinds import KINDS, opening, prose
from drethtr.synthesis.page_sheet import Edges, Hand, Sheet, inset
from drethtr.synthesis.photograph import Scene, photographed
from drethtr.synthesis.synthetic import Synthesizer, Synthetic
from drethtr.synthesis.writing import Pen


@dataclass(frozen=True, kw_only=True)
class SyntheticPages:
    """Fonts and texts, as for `Synthetic`, and the pages to make of them.

    `letters` to `columns` are the relative frequencies of kinds of pages. `side` is the range of the longer side of a
    picture in pixels, and `x_height` that of the writing, relative to a longer side of 1,000 pixels. The others are
    shares of pages: with a facing page, on a table, and on paper that shows its other side. None of them was
    varied in a run on record.
    """

    fonts: str
    texts: tuple[str, ...]
    weights: tuple[float, ...] = ()
    side: tuple[int, int] = (900, 1500)
    x_height: tuple[float, float] = (6.5, 17.0)
    letters: float = 3.0
    openings: float = 2.0
    registers: float = 3.0
    accounts: float = 1.5
    noted: float = 2.0
    columns: float = 1.0
    facing: float = 0.35
    on_table: float = 0.6
    bleeding: float = 0.4
    pen: Pen = field(default_factory=lambda: Pen(slant=1.2, wobble=1.5, stretch=0.03, spacing=0.05, drift=0.05))

    def __post_init__(self) -> None:
        if not (min(self.kinds) >= 0 and sum(self.kinds) > 0):
            raise ConfigError(f"frequencies of kinds of pages must be 0 or more, and one above 0, not {self.kinds}")
        if not 200 <= self.side[0] <= self.side[1]:
            raise ConfigError(f"side is a range of pixels (low, high) from 200 up, not {self.side}")

    @property
    def kinds(self) -> tuple[float, ...]:
        """The relative frequencies of `KINDS`."""
        return (self.letters, self.openings, self.registers, self.accounts, self.noted, self.columns)

    def build(self) -> "PageSynthesizer":
        """The synthesizer; cheap, because fonts and texts are read when first needed.

        Raises:
            DataError: if the folder has no fonts.
        """
        return PageSynthesizer(self, Synthetic(fonts=self.fonts, texts=self.texts, weights=self.weights).build())


@dataclass(frozen=True)
class PageSynthesizer:
    """Renders synthetic pages; sent between processes as a few paths."""

    config: SyntheticPages
    lines: Synthesizer

    def digest(self) -> str:
        """A digest of the fonts and texts.

        Raises:
            DataError: if one cannot be read.
        """
        return self.lines.digest()

    def render(self, index: int, seed: int) -> MarkedPage:
        """Page number `index` of a seed.

        Raises:
            DataError: if a font or text cannot be read, or no font has the characters of the texts.
        """
        rng = np.random.default_rng((seed, index))
        shares = np.cumsum(self.config.kinds) / sum(self.config.kinds)
        compose = KINDS[int(np.searchsorted(shares, rng.random(), side="right"))]
        scene = self.scene(rng, opening=compose is opening)
        hand = self.hand(scene, rng)
        sheet = Sheet(scene.height, scene.width)
        compose(sheet, hand, scene.box, rng)
        return photographed(sheet, scene, self.beside(scene, hand, rng), rng)

    def scene(self, rng: np.random.Generator, *, opening: bool) -> Scene:
        """A random scene of one page or an opening."""
        config = self.config
        side, shape = rng.uniform(*config.side), rng.uniform(0.62, 0.82)
        height, width = (round(side * shape), round(side)) if opening else (round(side), round(side * shape))
        edges = rng.uniform(0.0, 0.07, 4) * (rng.random() < config.on_table) * side
        left, top, right, bottom = edges[0], edges[1], width - edges[2], height - edges[3]
        bleeding = rng.random() < config.bleeding
        if opening:
            fold = width * rng.uniform(0.46, 0.54)
            return Scene(height, width, ((left, top, fold, bottom), (fold, top, right, bottom)), (0, 0, 0, 0), bleeding)
        beside: Edges = (0, 0, 0, 0)
        if rng.random() < config.facing:
            share = rng.uniform(0.02, 0.16) * width
            if rng.random() < 0.5:
                beside, left = (0, top, share, bottom), share
            else:
                beside, right = (width - share, top, width, bottom), width - share
        return Scene(height, width, ((left, top, right, bottom),), beside, bleeding)

    def hand(self, scene: Scene, rng: np.random.Generator) -> Hand:
        """A hand that has the characters of a text, and the text."""
        corpus = self.lines.corpus
        file = corpus.draw_file(rng)
        known = language_of(file) or ""
        language = known if known in MONTHS else "en"
        sample = next(filter(None, (corpus.restrict(draw_paragraph(file, rng)) for _ in range(TRIES))), "")
        if not sample:  # every face draws it, and the words of a page would be looked for without end
            raise DataError(f"{file} has hardly any text; remove its blank lines, or leave it out")
        for number in rng.permutation(len(self.lines.fonts)).tolist():
            face = self.lines.fonts[number]
            if face.draws(sample):
                low, high = self.config.x_height
                x_height = low * (high / low) ** rng.random() * max(scene.height, scene.width) / 1000
                gap, stroke = rng.uniform(0.6, 1.4), rng.uniform(0.08, 0.2)
                pen = replace(self.config.pen, gap=(gap, gap + 0.2), stroke=(stroke, stroke + 0.02))
                words = (word for _ in repeat(None) for word in corpus.restrict(draw_paragraph(file, rng)).split())
                return Hand(face, pen, max(x_height, 5.0), rng.normal(0, 0.12), words, language, rng)
        raise DataError(f"no font in {self.lines.fonts.path} has all characters of the texts, such as {sample!r}")

    def beside(self, scene: Scene, hand: Hand, rng: np.random.Generator) -> Sheet:
        """What is written on a facing page, whose lines are not the page's; empty if there is none."""
        sheet = Sheet(scene.height, scene.width)
        if scene.facing:
            left, top, right, bottom = scene.beside
            reach = scene.box[2] - scene.box[0]
            box = (left - reach if left <= 0 else left, top, right + reach if right >= scene.width else right, bottom)
            prose(sheet, hand, inset(box, 0.04, 0.08), rng)
        return sheet
