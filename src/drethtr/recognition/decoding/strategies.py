"""The strategies, or decoders. Users choose one by value, or by name (`names.py`).

CTC()                CTC decoding, with the n-gram language model if the model has one: fastest
Joint()              CTC candidates, corrected and rescored with decoder and language model
Joint(stretches=…)   the same at several widths (test-time augmentation): most accurate, slowest
Greedy()             greedy decoding: the likeliest token at every step
VerifiedDrafts()     the text of Greedy by speculative decoding with the CTC reading as the draft: faster
Beam(5)              beam search with the decoder
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from drethtr.base.errors import ConfigError
from drethtr.language.languages import NO_LANGUAGE, Languages
from drethtr.language.weighted import WeightedLanguages
from drethtr.recognition.decoding.continuation import Continuation
from drethtr.recognition.decoding.ctc_search import ctc_log_likelihood, search_languages
from drethtr.recognition.decoding.decoded import Candidate, Decoded, located
from drethtr.recognition.decoding.joint import BEAMS, ScoredText, joint_search
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.stepwise import Hypothesis, beam_search, greedy
from drethtr.recognition.decoding.strategy import Strategy, View
from drethtr.recognition.decoding.verify import verify
from drethtr.recognition.network import Network
from drethtr.text.tokenizer import EOS, PAD

__all__ = ["CTC", "Beam", "Greedy", "Joint", "Strategy", "VerifiedDrafts"]
"""Code that parses settings or models imports `Strategy` from here, so that every kind is registered."""

MARGIN = 6.0
"""`CTC` drops prefixes that are e^6 times less likely than the best."""


class Weights(NamedTuple):
    """The weight of the CTC head relative to the decoder, and the additional weight of language."""

    ctc: float
    language: float


DEFAULT_WEIGHTS = Weights(ctc=0.4, language=0.0)


def check_weight(name: str, weight: float | None) -> None:
    """Refuse a weight outside [0, 1].

    Raises:
        ConfigError: naming it.
    """
    if weight is not None and not 0 <= weight <= 1:
        raise ConfigError(f"the weight of {name} is between 0 and 1, not {weight}")


@dataclass(frozen=True)
class CTC(Strategy):
    """Prefix search with the CTC head and n-grams; without n-grams the best path, without a search.

    Args:
        language_weight: Of the n-grams; that of the CTC head is 1. Default: as `drethtr model calibrate` found.
    """

    language_weight: float | None = None

    needs_ctc: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_weight("language", self.language_weight)

    @property
    def weights(self) -> Weights:
        """The weights of a `Joint` that ignores the decoder."""
        return Weights(1.0, DEFAULT_WEIGHTS.language if self.language_weight is None else self.language_weight)

    def completed_by(self, best: Strategy | None) -> Strategy:
        if self.language_weight is not None or not isinstance(best, CTC | Joint):
            return self
        return replace(self, language_weight=best.weights.language)

    def find(
        self, network: Network, views: Sequence[View], alternatives: int = 0, languages: Languages = NO_LANGUAGE
    ) -> list[Decoded]:
        [view] = views
        language_models = WeightedLanguages(languages, self.weights.language)
        return [self.find_line(view, line, language_models, alternatives) for line in range(view.memory.lines)]

    def find_line(self, view: View, line: int, language_models: WeightedLanguages, alternatives: int) -> Decoded:
        """The text of one line."""
        scores, rows = view.scores, view.scores.lines[line]
        read = draft = scores.reading(line)
        if language_models.active:
            best = search_languages(rows, PAD, language_models, draft.tokens, beams=BEAMS, margin=MARGIN)[0]
            read = scores.placed(line, best.tokens)._replace(draft=draft)
        if not alternatives:
            return read
        texts = search_languages(rows, PAD, language_models, draft.tokens, beams=2 * (alternatives + 1))
        own = ctc_log_likelihood(rows, read.tokens, PAD) + language_models.score(read.tokens)
        return read.with_alternatives(own, [Candidate(text.tokens, text.score) for text in texts], alternatives)


@dataclass(frozen=True)
class Beam(Strategy):
    """Beam search; texts are ranked by log-probability / length^length_exponent, and alternatives are other beams."""

    beams: int = 5
    length_exponent: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.beams <= 100:
            raise ConfigError(f"a beam search keeps 1 to 100 beams, not {self.beams}")
        if not 0 <= self.length_exponent <= 10:
            raise ConfigError(f"the exponent of the length is 0 to 10, not {self.length_exponent}")

    @property
    def most_alternatives(self) -> int:
        return self.beams - 1

    def find(
        self, network: Network, views: Sequence[View], alternatives: int = 0, languages: Languages = NO_LANGUAGE
    ) -> list[Decoded]:
        [view] = views
        texts = self.search(NetworkScorer(network, view.memory), min(alternatives + 1, self.beams))
        own = [best for best, *_ in texts]
        return self.with_alternatives(located(view.memory, view.ctc, own), own, texts, alternatives)

    def search(self, scorer: NetworkScorer, nbest: int) -> list[list[Hypothesis]]:
        """The best texts of each line."""
        return beam_search(
            scorer,
            scorer.begin(),
            scorer.first_tokens(),
            end=EOS,
            beams=self.beams,
            limit=scorer.text_limits(),
            length_exponent=self.length_exponent,
            nbest=nbest,
        )

    def with_alternatives(
        self, read: list[Decoded], own: list[Hypothesis], texts: list[list[Hypothesis]], number: int
    ) -> list[Decoded]:
        """The reading of each line with alternatives from `texts`, which a search found."""
        return [
            line.with_alternatives(self.quality(best), [Candidate(t.tokens, self.quality(t)) for t in others], number)
            for line, best, others in zip(read, own, texts, strict=True)
        ]

    def quality(self, text: Hypothesis) -> float:
        """The score by which texts are ranked."""
        return float(text.log_probability / max(len(text.token_log_probabilities), 1) ** self.length_exponent)


class Writer(Strategy):
    """A strategy that finds one text; alternatives come from a separate beam search."""

    @abstractmethod
    def write(self, scorer: NetworkScorer, view: View) -> list[Hypothesis]:
        """The text of each line of a view."""

    def find(
        self, network: Network, views: Sequence[View], alternatives: int = 0, languages: Languages = NO_LANGUAGE
    ) -> list[Decoded]:
        [view] = views
        scorer = NetworkScorer(network, view.memory)
        own = self.write(scorer, view)
        read = located(view.memory, view.ctc, own)
        if not alternatives:
            return read
        beam = Beam(alternatives + 1)
        return beam.with_alternatives(read, own, beam.search(scorer, alternatives + 1), alternatives)


@dataclass(frozen=True)
class Greedy(Writer):
    """The likeliest next token at every step."""

    def write(self, scorer: NetworkScorer, view: View) -> list[Hypothesis]:
        return write_greedily(scorer)


def write_greedily(scorer: NetworkScorer) -> list[Hypothesis]:
    """The likeliest next token at every step, for each line of a scorer."""
    return greedy(scorer, scorer.begin(), scorer.first_tokens(), end=EOS, limit=scorer.text_limits())


@dataclass(frozen=True)
class VerifiedDrafts(Writer):
    """Speculative decoding: the text of `Greedy`, token for token, from a CTC draft that the decoder verifies.

    A line that needs more than `passes`, or where rounding could decide between two tokens, is decoded greedily.
    """

    passes: int = 16

    needs_ctc: ClassVar[bool] = True

    def write(self, scorer: NetworkScorer, view: View) -> list[Hypothesis]:
        readers = [Continuation(rows, PAD) for rows in view.scores.lines]
        found = verify(scorer, readers, scorer.text_limits().tolist(), end=EOS, passes=self.passes)
        left = [line for line, text in enumerate(found) if text is None]
        rest = iter(write_greedily(scorer.keep(np.array(left))) if left else ())
        return [next(rest) if text is None else text for text in found]


@dataclass(frozen=True)
class Joint(Strategy):
    """The best of the CTC candidates and their corrections, by CTC head, decoder and language model together.

    Texts are ranked by ctc_weight log P_ctc + (1 - ctc_weight) log P_decoder + language_weight log P_language, where
    P_language comes from n-grams and rescorer or, in a model without both, from the decoder without an image. Weights
    that are left open are the best ones for the model, as found by `drethtr model calibrate`; else 0.4 and 0.

    Args:
        candidates: Texts that the CTC head may propose for a line, at each width.
        corrections: Further passes of the decoder, which try changes of the best text where the decoder nearly
            preferred another token, or combine those that help.
        stretches: Widths at which lines are seen, relative to the usual one. Log-probabilities are averaged over them:
            three widths make fewer errors than one, and take more than twice as long.
        language_weight: 0 for a model without a language model that was not trained on prose.
    """

    candidates: int = 12
    ctc_weight: float | None = None
    corrections: int = 2
    stretches: tuple[float, ...] = (1.0,)
    language_weight: float | None = None

    needs_ctc: ClassVar[bool] = True
    hashed_defaults: ClassVar[Mapping[str, int]] = {"candidates": 4, "corrections": 6}

    def __post_init__(self) -> None:
        if not 1 <= self.candidates <= 100:
            raise ConfigError(f"the CTC head proposes 1 to 100 texts, not {self.candidates}")
        check_weight("the CTC head", self.ctc_weight)
        check_weight("language", self.language_weight)
        if self.corrections < 0:
            raise ConfigError(f"a text is corrected 0 times or more often, not {self.corrections}")
        object.__setattr__(self, "stretches", tuple(self.stretches))  # a list would equal no tuple
        if not 1 <= len(self.stretches) <= 10 or not all(0.5 <= stretch <= 2 for stretch in self.stretches):
            raise ConfigError(f"a line is seen at 1 to 10 widths, each of them 0.5 to 2, not {self.stretches}")

    @property
    def weights(self) -> Weights:
        """The weights by which texts are ranked; by default `DEFAULT_WEIGHTS`."""
        return self.completed(DEFAULT_WEIGHTS)

    def completed_by(self, best: Strategy | None) -> Strategy:
        defaults = best.weights if isinstance(best, CTC | Joint) else DEFAULT_WEIGHTS
        weights = self.completed(defaults if isinstance(best, Joint) else defaults._replace(ctc=DEFAULT_WEIGHTS.ctc))
        return replace(self, ctc_weight=weights.ctc, language_weight=weights.language)

    def completed(self, defaults: Weights) -> Weights:
        """The weights; those that are left open are taken from `defaults`."""
        ctc = defaults.ctc if self.ctc_weight is None else self.ctc_weight
        return Weights(ctc, defaults.language if self.language_weight is None else self.language_weight)

    def is_like(self, other: Strategy) -> bool:
        return isinstance(other, Joint) and self.stretches == other.stretches

    def find(
        self, network: Network, views: Sequence[View], alternatives: int = 0, languages: Languages = NO_LANGUAGE
    ) -> list[Decoded]:
        texts = self.propose(network, views, languages)
        own = [max(line, key=self.quality) for line in texts]
        read = located(views[0].memory, views[0].ctc, [text.decoder for text in own])
        decoded = []
        for line, best, others in zip(read, own, texts, strict=True):
            candidates = [Candidate(text.decoder.tokens, self.quality(text)) for text in others]
            decoded.append(line.with_alternatives(self.quality(best), candidates, alternatives))
        return decoded

    def propose(
        self, network: Network, views: Sequence[View], languages: Languages = NO_LANGUAGE
    ) -> list[list[ScoredText]]:
        """The candidates of each line with all their scores.

        Raises:
            ValueError: if there is not one view for each of its widths.
        """
        if len(views) != len(self.stretches):
            raise ValueError(f"{self!r} sees lines at {len(self.stretches)} widths, not {len(views)}")
        return joint_search(
            network,
            views,
            self.quality,
            candidates=self.candidates,
            corrections=self.corrections,
            language_models=WeightedLanguages(languages, self.weights.language),
        )

    def quality(self, text: ScoredText) -> float:
        """The score by which texts are ranked."""
        return text.quality(*self.weights)


def default_strategy(network: Network) -> Strategy:
    """CTC decoding if the network has a CTC head, else greedy decoding."""
    return Greedy() if network.dimensions.steps_per_token is None else CTC()
