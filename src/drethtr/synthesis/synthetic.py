"""Synthetic lines: text rendered in handwriting fonts with the appearance of a scan, generated on demand.

    synthesizer = Synthetic(fonts="fonts", texts=("novels_eng.txt.xz",)).build()
    sample = synthesizer.render(index=7, seed=0)

Configuration, seed and index determine the line, in any order and process.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from drethtr.base.errors import ConfigError, DataError
from drethtr.base.urls import digest_of
from drethtr.datasets.sample import Sample
from drethtr.synthesis.corpus import Corpus, LineText, Spelling, Wording
from drethtr.synthesis.fonts import Face, FontFolder
from drethtr.synthesis.paper import Paper, put_on_paper
from drethtr.synthesis.writing import Pen, Writing, write

TRIES = 20  # attempts to draw a text whose characters some font has; a font of few letters must not stop a run


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """A folder of fonts, text files, and the style of the lines.

    `weights` are the relative frequencies of the texts, equal if empty; `alphabet` restricts the characters, unless it
    is empty; `height` is in pixels.
    """

    fonts: str
    texts: tuple[str, ...]
    weights: tuple[float, ...] = ()
    alphabet: str = ""
    height: int = 64
    wording: Wording = field(default_factory=Wording)
    spelling: Spelling = field(default_factory=Spelling)
    pen: Pen = field(default_factory=Pen)
    paper: Paper = field(default_factory=Paper)

    def __post_init__(self) -> None:
        if self.height < 16:
            raise ConfigError(f"lines of {self.height} pixels are illegible; height must be at least 16")

    def build(self) -> "Synthesizer":
        """The synthesizer; cheap, because fonts and texts are read when first needed.

        Raises:
            DataError: if the folder has no fonts.
        """
        texts = tuple(Path(text) for text in self.texts)
        corpus = Corpus(files=texts, weights=self.weights, alphabet=self.alphabet, wording=self.wording)
        return Synthesizer(self, FontFolder(Path(self.fonts)), corpus)


@dataclass(frozen=True)
class Synthesizer:
    """Renders synthetic lines; sent between processes as a few paths."""

    config: Synthetic
    fonts: FontFolder
    corpus: Corpus

    def digest(self) -> str:
        """A digest of the fonts and texts.

        Raises:
            DataError: if one cannot be read.
        """
        return digest_of((*self.fonts.files, *self.corpus.files))

    def render(self, index: int, seed: int) -> Sample:
        """Line number `index` of a seed.

        Raises:
            DataError: if a font or text cannot be read, or no font has the characters of the texts.
        """
        return self.make(index, seed)[0]

    def make(self, index: int, seed: int) -> tuple[Sample, Writing]:
        """The line of `render`, and the layout of its writing, which gives the position of each character."""
        rng = np.random.default_rng((seed, index))
        text, face = self.draw_text_and_face(rng)
        drawn = self.config.spelling.drawn(text.text, face, rng)
        writing = write(drawn, face, self.config.pen, self.config.height, rng)
        line = put_on_paper(writing.ink, self.config.paper, rng)
        key = f"synthetic line {index} of seed {seed}"
        return Sample(line, text.text, "synthetic", text.language, None, face.name, True, key), writing

    def draw_text_and_face(self, rng: np.random.Generator) -> tuple[LineText, Face]:
        for _ in range(TRIES):
            text = self.corpus.draw(rng)
            text = text._replace(text=self.config.spelling.edited(text.text))
            for number in rng.permutation(len(self.fonts)):
                face = self.fonts[number]
                if face.draws(text.text):
                    return text, face
        raise DataError(f"no font in {self.fonts.path} has all characters of the texts, such as {text.text!r}")
