"""How a text is found for an image memory: a user chooses one of these by value.

CTC()             the reading of the CTC head, with the vote of n-grams if the model has some: fastest
Greedy()          the decoder writes the likeliest token at every step
VerifiedDrafts()  the text of Greedy, but the decoder reads the CTC reading back instead of writing: faster
Beam(5)           the decoder keeps the best few texts on the way
Joint()           CTC head and decoder together choose among texts of the one, corrected where the other has doubts
Joint(widths=…)   the same, the line seen at several widths: fewest errors, slowest
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import torch

from drethtr.base.errors import ConfigError
from drethtr.language.ngrams import NGrams
from drethtr.language.voice import Voice
from drethtr.network.network import DRetHTR, ImageMemory
from drethtr.recognition.search.continuation import Continuation
from drethtr.recognition.search.ctc_search import ctc_log_likelihood, prefix_search
from drethtr.recognition.search.decoded import Candidate, CTCScores, Decoded, ctc_readings, located, placed
from drethtr.recognition.search.decoder import Decoder, OneView
from drethtr.recognition.search.joint import BEAMS, MARGIN, Scored, compete
from drethtr.recognition.search.scorer import NetworkScorer, text_limits
from drethtr.recognition.search.search import Hypothesis, beam_search, greedy
from drethtr.recognition.search.verify import verify
from drethtr.text.tokenizer import EOS, PAD

THREE_WIDTHS = (1.0, 0.8, 1.2)


class Weights(NamedTuple):
    """How much the CTC head's word counts against the decoder's, and how much language counts on top."""

    ctc: float
    language: float


USUAL = Weights(ctc=0.4, language=0.0)


def check_weight(name: str, weight: float | None) -> None:
    """Refuse a weight that is none.

    Raises:
        ConfigError: saying whose it is.
    """
    if weight is not None and not 0 <= weight <= 1:
        raise ConfigError(f"the weight of {name} is between 0 and 1, not {weight}")


@dataclass(frozen=True)
class CTC(OneView):
    """The likeliest text of the CTC head and of n-grams; without these its likeliest path, no decoding loop at all.

    Args:
        language_weight: Of the n-grams, beside the CTC head's 1; left open, what `drethtr calibrate` found.
    """

    language_weight: float | None = None

    needs_ctc: ClassVar[bool] = True
    stepwise: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_weight("language", self.language_weight)

    @property
    def weights(self) -> Weights:
        """As of `Joint`, which would not ask the decoder."""
        return Weights(1.0, USUAL.language if self.language_weight is None else self.language_weight)

    def fitted(self, best: Decoder | None) -> Decoder:
        if self.language_weight is not None or not isinstance(best, CTC | Joint):
            return self
        return replace(self, language_weight=best.weights.language)

    def decode(
        self, network: DRetHTR, memory: ImageMemory, alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        scores, voice = CTCScores.of(memory), Voice(ngrams, self.weights.language)
        lines = [scores.line(number) for number in range(len(scores.steps))]
        read = ctc_readings(network, scores)
        if voice.speaks:
            best = [prefix_search(rows, PAD, beams=BEAMS, margin=MARGIN, voice=voice)[0] for rows in lines]
            read = [
                placed(network, rows, text.tokens)._replace(draft=draft)
                for rows, text, draft in zip(lines, best, read, strict=True)
            ]
        if not alternatives:
            return read
        texts = [prefix_search(rows, PAD, beams=2 * (alternatives + 1), voice=voice) for rows in lines]
        own = ctc_log_likelihood(*scores, [line.tokens for line in read], PAD).tolist()
        return [
            line.with_alternatives(
                score + voice.votes(line.tokens), [Candidate(text.tokens, text.score) for text in others], alternatives
            )
            for line, score, others in zip(read, own, texts, strict=True)
        ]


@dataclass(frozen=True)
class Beam(OneView):
    """Beam search, texts compared by log-probability / length^length_exponent; alternatives are other beams."""

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

    def decode(
        self, network: DRetHTR, memory: ImageMemory, alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        texts = self.search(network, memory, min(alternatives + 1, self.beams))
        read = located(network, memory, [best for best, *_ in texts])
        return self.with_alternatives(read, [best for best, *_ in texts], texts, alternatives)

    def search(self, network: DRetHTR, memory: ImageMemory, nbest: int) -> list[list[Hypothesis]]:
        """The best texts of each line."""
        scorer = NetworkScorer(network, memory)
        return beam_search(
            scorer,
            network.initial_state(memory),
            scorer.first_tokens(),
            end=EOS,
            beams=self.beams,
            limit=text_limits(memory),
            length_exponent=self.length_exponent,
            nbest=nbest,
        )

    def with_alternatives(
        self, read: list[Decoded], own: list[Hypothesis], texts: list[list[Hypothesis]], number: int
    ) -> list[Decoded]:
        """Each line's reading beside the `texts` a search found."""
        return [
            line.with_alternatives(self.quality(best), [Candidate(t.tokens, self.quality(t)) for t in others], number)
            for line, best, others in zip(read, own, texts, strict=True)
        ]

    def quality(self, text: Hypothesis) -> float:
        """What texts are compared by."""
        return float(text.log_probability / max(len(text.token_log_probabilities), 1) ** self.length_exponent)


class Writer(OneView):
    """A decoder that writes one text; alternatives come from a beam search of their own."""

    @abstractmethod
    def write(self, scorer: NetworkScorer) -> list[Hypothesis]:
        """The text of each line."""

    def decode(
        self, network: DRetHTR, memory: ImageMemory, alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        own = self.write(NetworkScorer(network, memory))
        read = located(network, memory, own)
        if not alternatives:
            return read
        beam = Beam(alternatives + 1)
        return beam.with_alternatives(read, own, beam.search(network, memory, alternatives + 1), alternatives)


@dataclass(frozen=True)
class Greedy(Writer):
    """The likeliest next token at every step."""

    def write(self, scorer: NetworkScorer) -> list[Hypothesis]:
        state = scorer.network.initial_state(scorer.memory)
        return greedy(scorer, state, scorer.first_tokens(), end=EOS, limit=text_limits(scorer.memory))


@dataclass(frozen=True)
class VerifiedDrafts(Writer):
    """The text of `Greedy`, token for token, from a CTC draft that the decoder reads back and corrects.

    A line that needs more than `passes`, or where rounding could decide between two tokens, is left to `Greedy`.
    """

    passes: int = 16

    needs_ctc: ClassVar[bool] = True

    def write(self, scorer: NetworkScorer) -> list[Hypothesis]:
        scores, limits = CTCScores.of(scorer.memory), text_limits(scorer.memory)
        readers = [Continuation(scores.line(line).numpy(), PAD) for line in range(scorer.lines)]
        found = verify(scorer, readers, limits, end=EOS, passes=self.passes)
        left = [line for line, text in enumerate(found) if text is None]
        rest = iter(Greedy().write(scorer.keep(torch.tensor(left, device=scorer.device))) if left else ())
        return [next(rest) if text is None else text for text in found]


@dataclass(frozen=True)
class Joint(Decoder):
    """Of the CTC head's best texts and those near the best of them, the one that head and decoder find likeliest.

    Texts are compared by ctc_weight log P_ctc + (1 - ctc_weight) log P_decoder + language_weight log P_language, where
    P_language is what n-grams make of a text or, if the model has none, the decoder without its image. Weights that are
    left open are those with which the model reads best, as `drethtr calibrate` found; else 0.4 and 0.

    Args:
        candidates: Texts that the CTC head may propose for a line, at each width.
        corrections: Further passes of the decoder, to try changes of the best text where it was nearly of another mind,
            or to put together those that help.
        widths: Widths at which lines are seen, 1 being the usual one. Both probabilities are means over them, of
            logarithms: three widths make fewer errors than one, and take three times as long or more.
        language_weight: 0 for a model without n-grams that has learned no prose.
    """

    candidates: int = 4
    ctc_weight: float | None = None
    corrections: int = 6
    widths: tuple[float, ...] = (1.0,)
    language_weight: float | None = None

    needs_ctc: ClassVar[bool] = True
    stepwise: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 1 <= self.candidates <= 100:
            raise ConfigError(f"the CTC head proposes 1 to 100 texts, not {self.candidates}")
        check_weight("the CTC head", self.ctc_weight)
        check_weight("language", self.language_weight)
        if self.corrections < 0:
            raise ConfigError(f"a text is corrected 0 times or more often, not {self.corrections}")
        object.__setattr__(self, "widths", tuple(self.widths))  # a list would be akin to no other
        if not 1 <= len(self.widths) <= 10 or not all(0.5 <= width <= 2 for width in self.widths):
            raise ConfigError(f"a line is seen at 1 to 10 widths, each of them 0.5 to 2, not {self.widths}")

    @property
    def weights(self) -> Weights:
        """Those that texts are compared by; the usual ones where they are left open."""
        return self.completed(USUAL)

    def fitted(self, best: Decoder | None) -> Decoder:
        usual = best.weights if isinstance(best, CTC | Joint) else USUAL
        weights = self.completed(usual if isinstance(best, Joint) else usual._replace(ctc=USUAL.ctc))
        return replace(self, ctc_weight=weights.ctc, language_weight=weights.language)

    def completed(self, usual: Weights) -> Weights:
        """The weights, those that are left open taken from others."""
        ctc = usual.ctc if self.ctc_weight is None else self.ctc_weight
        return Weights(ctc, usual.language if self.language_weight is None else self.language_weight)

    def akin(self, other: Decoder) -> bool:
        return isinstance(other, Joint) and self.widths == other.widths

    def decode_views(
        self, network: DRetHTR, views: Sequence[ImageMemory], alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        texts = self.propose(network, views, ngrams)
        own = [max(line, key=self.quality) for line in texts]
        read = located(network, views[0], [text.decoder for text in own])
        decoded = []
        for line, best, others in zip(read, own, texts, strict=True):
            candidates = [Candidate(text.decoder.tokens, self.quality(text)) for text in others]
            decoded.append(line.with_alternatives(self.quality(best), candidates, alternatives))
        return decoded

    def propose(
        self, network: DRetHTR, views: Sequence[ImageMemory], ngrams: NGrams | None = None
    ) -> list[list[Scored]]:
        """The texts of each line, scored by all.

        Raises:
            ValueError: if there is not one view for each of its widths.
        """
        if len(views) != len(self.widths):
            raise ValueError(f"{self!r} looks at lines at {len(self.widths)} widths, not {len(views)}")
        scorers = [NetworkScorer(network, memory) for memory in views]
        return compete(
            scorers,
            self.quality,
            candidates=self.candidates,
            corrections=self.corrections,
            language=self.weights.language,
            ngrams=ngrams,
        )

    def quality(self, text: Scored) -> float:
        """What texts are compared by."""
        return text.quality(*self.weights)


def default_decoder(network: DRetHTR) -> Decoder:
    """CTC where there is a head for it, else greedy."""
    return CTC() if network.ctc is not None else Greedy()
