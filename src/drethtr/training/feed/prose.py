"""Text without images, from which the decoder learns to be a language model."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from drethtr.base.config import check_positive
from drethtr.base.urls import digest_of
from drethtr.synthesis.corpus import Corpus


@dataclass(frozen=True, kw_only=True)
class Prose:
    """The texts of each batch, plus `lines` lines from text files, plain or compressed, if any are given."""

    texts: tuple[str, ...] = ()
    lines: int = 12

    def __post_init__(self) -> None:
        check_positive(self, "lines", table="prose")

    def build(self, alphabet: str) -> "ProseLines":
        """Restrict the text to the characters of an alphabet; files are read when first needed."""
        files = tuple(map(Path, self.texts))
        return ProseLines(Corpus(files=files, alphabet=alphabet) if files else None, self.lines)


@dataclass(frozen=True)
class ProseLines:
    """Draws a number of lines at a time from a corpus, none without one."""

    corpus: Corpus | None
    lines: int

    def digest(self) -> str:
        """A digest of the files' content.

        Raises:
            DataError: if one cannot be read.
        """
        return digest_of(self.corpus.files if self.corpus is not None else ())

    def draw(self, rng: np.random.Generator) -> list[str]:
        """The additional lines for one batch.

        Raises:
            DataError: if a file cannot be read, or has no text in the alphabet.
        """
        return [] if self.corpus is None else [self.corpus.draw(rng).text for _ in range(self.lines)]
