"""The language models' vote on a text: token by token by one model during search, or for a whole text by all."""

from collections.abc import Sequence
from dataclasses import dataclass

from drethtr.language.languages import NO_LANGUAGE, Languages
from drethtr.language.ngrams import NGrams, State
from drethtr.text.tokenizer import EOS

PER_TOKEN = 2.0
"""A bonus per token, about the nats per character of running text, so that longer texts are not penalized."""


@dataclass(frozen=True)
class Voice:
    """An n-gram model with a weight; its vote is weight × (log-probability + `PER_TOKEN`), or 0 without n-grams."""

    ngrams: NGrams | None = None
    weight: float = 0.0

    @property
    def speaks(self) -> bool:
        """Whether its votes count."""
        return self.ngrams is not None and self.weight > 0

    @property
    def start(self) -> State:
        """The state at the beginning of a line."""
        return self.ngrams.start if self.ngrams is not None and self.speaks else ()

    @property
    def most(self) -> float:
        """The highest vote, for a token of probability 1."""
        return self.weight * PER_TOKEN if self.speaks else 0.0

    def vote(self, state: State, token: int) -> float:
        """The vote for a token, or for `EOS`, in a state."""
        if not state:
            return 0.0
        assert self.ngrams is not None
        gained = 0.0 if token == EOS else PER_TOKEN
        return self.weight * (self.ngrams.next(state, token) + gained)

    def after(self, state: State, token: int) -> State:
        """The state after a token."""
        return self.ngrams.after(state, token) if state and self.ngrams is not None else ()


SILENT = Voice()
"""No language model."""


@dataclass(frozen=True)
class Voices:
    """The models of several languages with a weight; a text gets the vote of its language."""

    languages: Languages = NO_LANGUAGE
    weight: float = 0.0

    @property
    def speak(self) -> bool:
        """Whether their votes count."""
        return bool(self.languages) and self.weight > 0

    def near(self, draft: Sequence[int]) -> list[Voice]:
        """The voices of languages that are plausible for a text, given its draft; without n-grams, a silent one."""
        return [Voice(ngrams, self.weight) for ngrams in self.languages.near(draft)] if self.speak else [SILENT]

    def say(self, tokens: Sequence[int]) -> float:
        """The unweighted vote for a whole text; 0 if votes do not count."""
        return self.languages.log_probability(tokens) + PER_TOKEN * len(tokens) if self.speak else 0.0

    def vote(self, tokens: Sequence[int]) -> float:
        """The vote for a whole text."""
        return self.weight * self.say(tokens)
