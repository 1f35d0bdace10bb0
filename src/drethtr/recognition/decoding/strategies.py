"""The decoders: each is a `Strategy`, a frozen config that finds the text of every line. Users choose one by name.

name         strategy             what it does
ctc          CTC()                prefix search with the CTC head and n-grams; the best path without n-grams: fastest
joint        Joint()              CTC candidates, rescored and corrected with the decoder and the language models
careful      Joint(stretches=…)   joint decoding at several widths (test-time augmentation): most accurate, slowest
greedy       Greedy()             the decoder's likeliest next token at every step
verified     VerifiedDrafts()     as `Greedy`, by speculative decoding with the CTC reading as the draft: faster
beam, beam:N Beam(N)              beam search with the decoder

How a line becomes a text, from top to bottom: `PieceReader` encodes a line at each width in `Strategy.stretches`, and
calls `Strategy.find` with one `View` for each:

    Network.encode                     pixels -> ImageMemory: keys and values for the decoder, CTC logits
    View.of, CTCScores    decoded.py   logits -> log-probabilities (S, V), best path and entropies, computed once
    Strategy.find         this file    views -> one `Decoded` per line

Two families of search sit below `find`. The CTC head scores every step of the image at once, without any language
model:

    prefix_search         ctc_search.py    beam over prefixes of texts, with n-grams; `search_languages`: in several
    best_path, align      ctc_search.py    the likeliest path of any text, or of a given text, which places its tokens
    TextScores            ctc_paths.py     log P_ctc of whole texts, summed over paths; common parts are summed once

The decoder scores the next token, given the image and the text so far. It is called in two ways:

    beam_search           stepwise.py      one token at a time, with a recurrent state: `Greedy`, `Beam`; on a GPU
                                           `network/resident.py` does the same without leaving it
    NetworkScorer         scorer.py        whole texts in one parallel pass, as a prefix tree (`TextTree`)
        joint_search      joint.py         candidates of `prefix_search`, then rounds of corrections: `Joint`
        verify            speculative.py   a draft, checked token by token in one pass: `VerifiedDrafts`

Whichever finds the text, its tokens are placed on the image by CTC alignment (`View.locate`).

To add a decoder, write a `Strategy` and enter it in `DECODERS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from drethtr.base.config import hint
from drethtr.base.errors import ConfigError
from drethtr.base.plugins import load_plugins
from drethtr.language.languages import NO_LANGUAGE, Languages, WeightedLanguages
from drethtr.recognition.decoding.ctc_paths import TextScores
from drethtr.recognition.decoding.ctc_search import search_languages
from drethtr.recognition.decoding.decoded import Candidate, Decoded, View
from drethtr.recognition.decoding.joint import BEAMS, ScoredText, joint_search
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.speculative import Continuation, verify
from drethtr.recognition.decoding.stepwise import Hypothesis
from drethtr.recognition.protocol import Network

MAX_ALTERNATIVES = 99  # `Beam` takes at most 100 beams, which are one text and its alternatives

MARGIN = 6.0
"""`CTC` drops prefixes that are e^6 times less likely than the best; `joint` only from e^8, since the decoder may
prefer texts that the CTC head finds less likely."""


class Strategy(ABC):
    """Finds the text of every line; the text of a line does not depend on the other lines."""

    needs_ctc: ClassVar[bool] = False
    """Whether it needs a CTC head."""

    @property
    def stretches(self) -> tuple[float, ...]:
        """The widths at which it sees a line, relative to the usual one; characters are placed on the first."""
        return (1.0,)

    @property
    def most_alternatives(self) -> int:
        """The largest number of alternatives it can give."""
        return MAX_ALTERNATIVES

    def completed_by(self, best: "Strategy | None") -> "Strategy":
        """The strategy, with unset weights taken from the model's best strategy."""
        return self

    def is_like(self, other: "Strategy") -> bool:
        """Whether one calibration applies to both."""
        return type(self) is type(other)

    @abstractmethod
    def find(
        self, network: Network, views: Sequence[View], alternatives: int = 0, languages: Languages = NO_LANGUAGE
    ) -> list[Decoded]:
        """One text for each line, with at most `alternatives` others; `views` has one view for each of `stretches`."""


class RankingWeights(NamedTuple):
    """The weight of the CTC head relative to the decoder, and the additional weight of language."""

    ctc: float
    language: float


DEFAULT_WEIGHTS = RankingWeights(ctc=0.4, language=0.0)
"""For models that were never calibrated. Without n-grams, 0.3 to 0.6 for the CTC head are equally good (LOG.md,
2026-11-22, later); with them `drethtr model calibrate` finds 0.65."""


def check_weight(name: str, weight: float | None) -> None:
    """Refuse a weight outside [0, 1]."""
    if weight is not None and not 0 <= weight <= 1:
        raise ConfigError(f"{name} must be between 0 and 1, not {weight}")


@dataclass(frozen=True)
class CTC(Strategy):
    """Prefix search with the CTC head and n-grams; without n-grams the best path, without a search.

    Args:
        language_weight: Weight of the n-grams, relative to 1 for the CTC head. Default: as found by `drethtr model
            calibrate`.
    """

    language_weight: float | None = None

    needs_ctc: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_weight("language_weight", self.language_weight)

    @property
    def weights(self) -> RankingWeights:
        """The same weights as of a `Joint` that ignores the decoder."""
        return RankingWeights(1.0, DEFAULT_WEIGHTS.language if self.language_weight is None else self.language_weight)

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
            best = search_languages(rows, language_models, draft.tokens, beams=BEAMS, margin=MARGIN)[0]
            read = scores.placed(line, best.tokens)._replace(draft=draft)
        if not alternatives:
            return read
        # Twice as many as requested: the search is wider, and some texts are equal once white space is stripped.
        texts = search_languages(rows, language_models, draft.tokens, beams=2 * (alternatives + 1))
        own = TextScores(rows)(read.tokens) + language_models.score(read.tokens)
        return read.with_alternatives(own, [Candidate(text.tokens, text.score) for text in texts], alternatives)


@dataclass(frozen=True)
class Beam(Strategy):
    """Beam search; texts are ranked by log-probability / length^length_exponent, and alternatives are other beams."""

    beams: int = 5
    length_exponent: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.beams <= 100:
            raise ConfigError(f"beams must be between 1 and 100, not {self.beams}")
        if not 0 <= self.length_exponent <= 10:
            raise ConfigError(f"length_exponent must be between 0 and 10, not {self.length_exponent}")

    @property
    def most_alternatives(self) -> int:
        return self.beams - 1

    def find(
        self, network: Network, views: Sequence[View], alternatives: int = 0, languages: Languages = NO_LANGUAGE
    ) -> list[Decoded]:
        [view] = views
        texts = self.search(NetworkScorer(network, view.memory), min(alternatives + 1, self.beams))
        own = [best for best, *_ in texts]
        return self.with_alternatives(view.locate(own), own, texts, alternatives)

    def search(self, scorer: NetworkScorer, nbest: int) -> list[list[Hypothesis]]:
        """The best texts of each line."""
        return scorer.search(self.beams, self.length_exponent, nbest)

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
        read = view.locate(own)
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
    return [best for [best] in scorer.search(beams=1)]


@dataclass(frozen=True)
class VerifiedDrafts(Writer):
    """Speculative decoding: the text of `Greedy`, token for token, from a CTC draft that the decoder verifies.

    A line that needs more than `passes`, or where rounding could decide between two tokens, is decoded greedily. In
    int8 the text is nearly always that of `Greedy`, whose single steps stay in float32.
    """

    # A line takes one pass, and another for each place where draft and decoder differ. Beyond a few such places, one
    # step per token is as fast.
    passes: int = 16

    needs_ctc: ClassVar[bool] = True

    def write(self, scorer: NetworkScorer, view: View) -> list[Hypothesis]:
        readers = [Continuation(rows) for rows in view.scores.lines]
        found = verify(scorer, readers, scorer.text_limits().tolist(), passes=self.passes)
        left = [line for line, text in enumerate(found) if text is None]
        rest = iter(write_greedily(scorer.keep(np.array(left))) if left else ())
        return [next(rest) if text is None else text for text in found]


@dataclass(frozen=True)
class Joint(Strategy):
    """The best of the CTC candidates and their corrections, by CTC head, decoder and language model together.

    Texts are ranked by ctc_weight log P_ctc + (1 - ctc_weight) log P_decoder + language_weight (log P_language + 2 for
    each token), where P_language comes from n-grams and rescorer or, in a model without both, from the decoder without
    an image. Unset weights are those that `drethtr model calibrate` found best for the model, else 0.4 and 0.

    Args:
        candidates: Maximum texts that the CTC head proposes for a line, at each width.
        corrections: Further passes of the decoder, which try changes to the best text where the decoder nearly
            preferred another token, or combine the changes that help.
        stretches: Widths at which lines are seen, relative to the usual one. Log-probabilities are averaged over them:
            three widths make fewer errors than one, and take more than twice as long.
        language_weight: Must be 0 for a model without a language model whose decoder was not trained on prose.
    """

    # 4 candidates read as well as 12 in nine tenths of the time: CER -0.016 points on 800 lines, at most +0.055
    # (LOG.md, 2026-11-27). Two rounds of corrections read as well as six in a quarter less time (LOG.md, 2026-11-24,
    # night).
    candidates: int = 4
    ctc_weight: float | None = None
    corrections: int = 2
    stretches: tuple[float, ...] = (1.0,)
    language_weight: float | None = None

    needs_ctc: ClassVar[bool] = True
    hashed_defaults: ClassVar[Mapping[str, int]] = {"corrections": 6}
    """Defaults when the hash of models was defined, see `config.essence`."""

    def __post_init__(self) -> None:
        if not 1 <= self.candidates <= 100:
            raise ConfigError(f"candidates must be between 1 and 100, not {self.candidates}")
        check_weight("ctc_weight", self.ctc_weight)
        check_weight("language_weight", self.language_weight)
        if self.corrections < 0:
            raise ConfigError(f"corrections must be at least 0, not {self.corrections}")
        object.__setattr__(self, "stretches", tuple(self.stretches))  # a list never equals a tuple
        if not 1 <= len(self.stretches) <= 10 or not all(0.5 <= stretch <= 2 for stretch in self.stretches):
            raise ConfigError(f"stretches must be 1 to 10 values between 0.5 and 2, not {self.stretches}")

    @property
    def weights(self) -> RankingWeights:
        """The weights by which texts are ranked; by default `DEFAULT_WEIGHTS`."""
        return self.completed(DEFAULT_WEIGHTS)

    def completed_by(self, best: Strategy | None) -> Strategy:
        defaults = best.weights if isinstance(best, CTC | Joint) else DEFAULT_WEIGHTS
        weights = self.completed(defaults if isinstance(best, Joint) else defaults._replace(ctc=DEFAULT_WEIGHTS.ctc))
        return replace(self, ctc_weight=weights.ctc, language_weight=weights.language)

    def completed(self, defaults: RankingWeights) -> RankingWeights:
        """The weights; unset ones are taken from `defaults`."""
        ctc = defaults.ctc if self.ctc_weight is None else self.ctc_weight
        return RankingWeights(ctc, defaults.language if self.language_weight is None else self.language_weight)

    def is_like(self, other: Strategy) -> bool:
        return isinstance(other, Joint) and self.stretches == other.stretches

    def find(
        self, network: Network, views: Sequence[View], alternatives: int = 0, languages: Languages = NO_LANGUAGE
    ) -> list[Decoded]:
        texts = self.propose(network, views, languages)
        own = [max(line, key=self.quality) for line in texts]
        read = views[0].locate([text.decoder for text in own])
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


DECODERS: dict[str, Strategy] = {
    "ctc": CTC(),
    "joint": Joint(),
    # On 144 validation lines 10.6 to 9.8 % CER; widths of 0.85 and 1.15 read nearly as well (9.9), and five views, two
    # of them sheared, no better (LOG.md, 2026-11-22, night). Choosing the width with the most certain reading gains
    # little: only averaging over widths does (LOG.md, 2026-11-22).
    "careful": Joint(stretches=(1.0, 0.8, 1.2)),
    "greedy": Greedy(),
    "verified": VerifiedDrafts(),
    "beam": Beam(),
}
"""The decoders by name, for the command line and `Recognizer.load`; plug-ins add theirs."""

NUMBERED: dict[str, Callable[[int], Strategy]] = {"beam": Beam}
"""Decoders that take a number, as in `beam:5`."""


def strategy_named(text: str) -> Strategy:
    """The strategy with a name such as `joint` or `beam:5`.

    Raises:
        ConfigError: for any other name or number.
    """
    name, colon, number = text.partition(":")
    if name not in DECODERS:
        load_plugins()
    if name not in DECODERS:
        raise ConfigError(f"unknown decoder {text!r}{hint(name, DECODERS)}; known: {', '.join(DECODERS)}, beam:5")
    if not colon:
        return DECODERS[name]
    if name not in NUMBERED or not number.isdecimal():
        raise ConfigError(f"unknown decoder {text!r}; only {' and '.join(NUMBERED)} take a number, such as beam:5")
    return NUMBERED[name](int(number))


def decoder_name(strategy: Strategy) -> str:
    """The name of a strategy, ignoring weights taken from a model; its `repr` if it has no name."""
    beams = getattr(strategy, "beams", None)
    numbered = {} if beams is None else {f"{name}:{beams}": kind(beams) for name, kind in NUMBERED.items()}
    for name, known in {**numbered, **DECODERS}.items():
        if known.completed_by(strategy) == strategy.completed_by(strategy):
            return name
    return repr(strategy)
