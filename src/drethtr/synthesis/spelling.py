"""How a text is spelled on paper: what writers of old hands drew where an edition prints another character."""

import re
from dataclasses import dataclass, fields

import numpy as np

from drethtr.base.errors import ConfigError
from drethtr.synthesis.fonts import Face

S_BEFORE_A_LETTER = re.compile(r"s(?=[^\W\d_])")


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """The shares of lines written in an old way; their texts stay in today's spelling.

    long_s              draw ſ for every s before a letter, if the font has one; ſ in the text files becomes s
    double_hyphens      draw = for the hyphen of a word broken at the end of the line
    """

    long_s: float = 0.0
    double_hyphens: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            share = getattr(self, field.name)
            if not 0 <= share <= 1:
                raise ConfigError(f"spelling.{field.name} is a share of lines, from 0 to 1, not {share}")

    def edited(self, text: str) -> str:
        """The text as an edition prints it."""
        return text.replace("ſ", "s") if self.long_s else text

    def drawn(self, text: str, face: Face, rng: np.random.Generator) -> str:
        """The characters to draw for a text, one for one."""
        if self.double_hyphens and text.endswith("-") and rng.random() < self.double_hyphens and face.draws("="):
            text = text[:-1] + "="
        if self.long_s and rng.random() < self.long_s and face.draws("ſ"):
            text = S_BEFORE_A_LETTER.sub("ſ", text)
        return text
