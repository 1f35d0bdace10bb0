"""N-gram models with a weight: scores of a token during search, by one model, or of a whole text, by all languages."""

from collections.abc import Sequence
from dataclasses import dataclass

from drethtr.language.languages import NO_LANGUAGE, Languages
from drethtr.language.ngrams import NGrams, State
from drethtr.text.tokenizer import EOS

BONUS_PER_TOKEN = 2.0
"""A bonus per token, about the nats per character of running text, so that longer texts are not penalized (LOG,
2026-11-23, night)."""


@dataclass(frozen=True)
class WeightedNGrams:
    """An n-gram model with a weight. Scores are weight × (log-probability + `BONUS_PER_TOKEN`), 0 without n-grams."""

    ngrams: NGrams | None = None
    weight: float = 0.0

    @property
    def active(self) -> bool:
        """Whether it contributes to scores."""
        return self.ngrams is not None and self.weight > 0

    @property
    def start(self) -> State:
        """The state at the beginning of a line."""
        return self.ngrams.start if self.ngrams is not None and self.active else ()

    @property
    def max_score(self) -> float:
        """The highest score, of a token of probability 1."""
        return self.weight * BONUS_PER_TOKEN if self.active else 0.0

    def score(self, state: State, token: int) -> float:
        """The score of a token, or of `EOS`, in a state."""
        if not state:
            return 0.0
        assert self.ngrams is not None
        gained = 0.0 if token == EOS else BONUS_PER_TOKEN
        return self.weight * (self.ngrams.next(state, token) + gained)

    def state_after(self, state: State, token: int) -> State:
        """The state after a token."""
        return self.ngrams.after(state, token) if state and self.ngrams is not None else ()


NO_LANGUAGE_MODEL = WeightedNGrams()
"""No language model."""


@dataclass(frozen=True)
class WeightedLanguages:
    """The models of several languages with a weight; a text is scored by that of its language."""

    languages: Languages = NO_LANGUAGE
    weight: float = 0.0

    @property
    def active(self) -> bool:
        """Whether they contribute to scores."""
        return bool(self.languages) and self.weight > 0

    def near(self, draft: Sequence[int]) -> list[WeightedNGrams]:
        """The models of the languages that a text may be in, given its draft; `NO_LANGUAGE_MODEL` if inactive."""
        if not self.active:
            return [NO_LANGUAGE_MODEL]
        return [WeightedNGrams(ngrams, self.weight) for ngrams in self.languages.near(draft)]

    def unweighted_score(self, tokens: Sequence[int]) -> float:
        """The score of a whole text without the weight; 0 if inactive."""
        return self.languages.log_probability(tokens) + BONUS_PER_TOKEN * len(tokens) if self.active else 0.0

    def score(self, tokens: Sequence[int]) -> float:
        """The score of a whole text."""
        return self.weight * self.unweighted_score(tokens)
