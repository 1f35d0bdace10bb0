"""What language has to say of a text, for a search that asks while it writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from drethtr.language.ngrams import NGrams, State
from drethtr.text.tokenizer import EOS

PER_TOKEN = 2.0
"""Added to each log-probability: about what a character loses in running text, so that long texts lose no votes."""


@dataclass(frozen=True)
class Voice:
    """The votes of n-grams: log-probabilities, a constant more for each token, times a weight; 0 without n-grams."""

    ngrams: NGrams | None = None
    weight: float = 0.0

    @property
    def speaks(self) -> bool:
        """Whether it has anything to say."""
        return self.ngrams is not None and self.weight > 0

    @property
    def start(self) -> State:
        """Where a line begins."""
        return self.ngrams.start if self.ngrams is not None and self.speaks else ()

    @property
    def most(self) -> float:
        """The best that a token can get."""
        return self.weight * PER_TOKEN if self.speaks else 0.0

    def vote(self, state: State, token: int) -> float:
        """What a token gets, or the end."""
        if not state:
            return 0.0
        assert self.ngrams is not None
        gained = 0.0 if token == EOS else PER_TOKEN
        return self.weight * (self.ngrams.next(state, token) + gained)

    def after(self, state: State, token: int) -> State:
        """Where one is after it."""
        return self.ngrams.after(state, token) if state and self.ngrams is not None else ()

    def says(self, tokens: Sequence[int]) -> float:
        """What a whole text would get with a weight of 1; 0 if it has nothing to say."""
        if self.ngrams is None or not self.speaks:
            return 0.0
        return self.ngrams.log_probability(tokens) + PER_TOKEN * len(tokens)

    def votes(self, tokens: Sequence[int]) -> float:
        """What a whole text gets."""
        return self.weight * self.says(tokens)


SILENT = Voice()
"""Has nothing to say."""
