"""Evidence for and against each word of a given text, and each gap between words, from the outputs of a network.

There are three sources. The CTC head shows how much likelier the same ink is as another text. The decoder shows what it
would have written in place of each character. The reading was found without knowing the text: where they differ, CTC
head and decoder compare the two.

Shapes, everywhere in this file: W words of a text and W + 1 gaps, before, between and after them; N tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from drethtr.base.arrays import Floats
from drethtr.proofreading.given import GivenText, Pairing, encode, pair
from drethtr.recognition.confidence.logistic import log_odds
from drethtr.recognition.decoding.ctc_paths import MIN_LOG_PROBABILITY, Beginning, Ending, Paths, Scores, TextScores
from drethtr.recognition.decoding.ctc_search import CTCPath, align, best_path
from drethtr.recognition.decoding.decoded import LogProbs, edges
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.protocol import TextTree
from drethtr.recognition.reading import Reading
from drethtr.text.normalize import for_scoring
from drethtr.text.tokenizer import EOS, Tokenizer


class Stretch(NamedTuple):
    """The best reading in place of some tokens, with all others fixed.

    gain    its log-probability minus that of the tokens, in nats
    steps   its first step, and the one after its last
    tokens  of the reading
    """

    gain: float
    steps: tuple[int, int]
    tokens: tuple[int, ...]


class Stretches:
    """The likeliest CTC paths of a given text through one line, and those that leave the text for a stretch."""

    def __init__(self, rows: LogProbs, tokens: tuple[int, ...]) -> None:
        self.rows = rows
        self.paths = Paths(rows, np.maximum)
        beginnings, endings = [self.paths.empty], [self.paths.end]
        for token in tokens:
            beginnings.append(self.paths.longer(beginnings[-1], token))
        for token in reversed(tokens):
            endings.append(self.paths.earlier(token, endings[-1]))
        self.beginnings: list[Beginning] = beginnings
        self.endings: list[Ending] = endings[::-1]
        best = np.maximum(rows.max(1).astype(np.float64), MIN_LOG_PROBABILITY)
        self.best: Scores = np.concatenate(([0.0], best.cumsum()))

    @cached_property
    def score(self) -> float:
        """The log-probability of the likeliest path of the whole text; -inf if it does not fit on the line."""
        return self.paths.whole(self.beginnings[-1], self.endings[-1])

    @property
    def freedom(self) -> float:
        """The gain of the best path over the text, in nats."""
        return float(self.best[-1]) - self.score

    def free(self, first: int, last: int) -> Stretch:
        """The best reading in place of the tokens from `first` to `last`, exclusive."""
        before, after = self.beginnings[first], self.endings[last]
        left = np.maximum(before.in_token, before.in_blank) - self.best
        right = after.entered + self.best
        enter = np.maximum.accumulate(left)
        end = int((enter + right).argmax())
        begin = int(left[: end + 1].argmax())
        path = best_path(self.rows[begin:end])
        return Stretch(float(left[begin] + right[end]) - self.score, (begin, end), path.tokens)

    def without(self, first: int, last: int) -> float:
        """The gain of dropping the tokens from `first` to `last`, exclusive, in nats; usually negative."""
        return self.paths.whole(self.beginnings[first], self.endings[last]) - self.score


Edges = tuple[float, float]

WORST = -12.0
"""Log-probabilities of characters are clipped here: one impossible character must not outweigh all that fits."""

LEAD = 10.0
"""Leads of the decoder are clipped here, for the same reason."""

MAX_DIFFERENCE = 1e3
"""Differences of log-probabilities are clipped here, in nats, since those of impossible texts are infinite."""

WORD_FEATURES, GAP_FEATURES = 14, 8
"""Without the free stretch, recall at 2 % false alarms on collections never seen falls from 0.77 to 0.69, without the
reading to 0.75; three widths of the line and neural networks gain nothing (LOG.md, 2026-11-24, night, and 2026-11-25,
night)."""


class ReadText(NamedTuple):
    """The reading of a line: its text, folded, and the confidence of each word."""

    text: str
    confidences: tuple[float, ...]

    @classmethod
    def of(cls, reading: Reading) -> "ReadText":
        """Take text and confidences from a reading."""
        return cls(for_scoring(reading.text), tuple(word.confidence for word in reading.words()))

    def surest(self, pairing: Pairing) -> tuple[list[float], list[float]]:
        """Log-odds of the least confident word of the reading for each word of the text, and in each gap.

        0 where nothing was read.
        """
        owners = [number for number, word in enumerate(self.text.split()) for _ in word]
        parts = [part for both in zip(pairing.gaps, (*pairing.words, ""), strict=True) for part in both]
        ends = np.cumsum([0, *(len("".join(part.split())) for part in parts)]).tolist()
        sure = log_odds(np.array(self.confidences))
        found = [min((float(sure[owner]) for owner in owners[a:b]), default=0.0) for a, b in pairwise(ends)]
        return found[1::2][: len(pairing.words)], found[::2]


@dataclass(frozen=True)
class TextEvidence:
    """The evidence for a text on a line.

    words         (W, WORD_FEATURES): by the CTC head, the score of the worst character, and the gains of the best other
                  reading and of the text without the word; the decoder's worst lead, in the word and after it; whether
                  the same was read, and with what confidence; how much likelier the reading is; how certain the reading
                  of the line is
    gaps          (W + 1, GAP_FEATURES): likewise
    word_edges    of each word, in image tokens from the left
    gap_edges     of the ink in each gap that reads as text
    """

    given: GivenText
    read: ReadText
    pairing: Pairing
    words: Floats
    gaps: Floats
    word_edges: tuple[Edges, ...]
    gap_edges: tuple[Edges, ...]


class EncodedLine(NamedTuple):
    """An encoded line: CTC log-probabilities (S, V), steps per image token, and the reading."""

    rows: LogProbs
    steps_per_token: int
    read: ReadText

    def holds(self, given: GivenText) -> bool:
        """Whether the text fits on the line: there is a CTC path for it."""
        repeated = sum(one == other for one, other in pairwise(given.tokens))
        return len(given.tokens) + repeated <= len(self.rows)


def gather(
    scorer: NetworkScorer, lines: Sequence[EncodedLine], texts: Sequence[Sequence[GivenText]], tokenizer: Tokenizer
) -> list[list[TextEvidence]]:
    """Evidence for any number of texts of each line; each must fit on its line.

    Raises:
        FloatingPointError: if the network's numbers overflow.
    """
    cases = [[TextVariants.of(line, text, tokenizer) for text in some] for line, some in zip(lines, texts, strict=True)]
    trees = [TextTree.of([tokens for case in some for tokens in case.texts]) for some in cases]
    found = []
    for line, some, tree, scores in zip(lines, cases, trees, scorer.score_trees(trees), strict=True):
        paths = iter(tree.paths)
        found.append([weigh(line, case, [scores[next(paths)] for _ in case.texts]) for case in some])
    return found


class TextVariants(NamedTuple):
    """A given text, and variants that each have the reading in one place where the two differ.

    texts     tokens of the given text, then of the variants
    replaced  for each word the number of the variant with the reading instead; 0 if the same was read
    inserted  for each gap the number of the variant with the reading there; 0 if nothing was read
    """

    given: GivenText
    pairing: Pairing
    texts: tuple[tuple[int, ...], ...]
    replaced: tuple[int, ...]
    inserted: tuple[int, ...]

    @classmethod
    def of(cls, line: EncodedLine, given: GivenText, tokenizer: Tokenizer) -> "TextVariants":
        """The variants of a given text."""
        pairing = pair(given.written, line.read.text)
        texts = [given.tokens]

        def rival(first: int, last: int, instead: str) -> int:
            texts.append((*given.tokens[:first], *encode(instead, tokenizer), *given.tokens[last:]))
            return len(texts) - 1

        replaced = [
            # Only where the two differ: for equal words, decoder and CTC head would compare a text with itself.
            0 if word == read else rival(*(given.spans[number] if read else given.without(number)), read)
            for number, (word, read) in enumerate(zip(given.written, pairing.words, strict=True))
        ]
        inserted = [
            rival(*given.gap(number), spaced(read, number, len(given.words))) if read else 0
            for number, read in enumerate(pairing.gaps)
        ]
        return cls(given, pairing, tuple(texts), tuple(replaced), tuple(inserted))


def spaced(text: str, gap: int, words: int) -> str:
    """A text with the spaces that it needs in gap number `gap` of a text of `words` words."""
    return f"{' ' if gap else ''}{text}{' ' if gap < words else ''}"


class Clues(NamedTuple):
    """The scores of a text and its variants, from which features are computed.

    stretches  CTC scores of parts of the text
    certainty  CTC log-probability of each token
    leads      lead of the decoder for each token, and for the end
    rivals     for each variant, its gain over the text by CTC head and by decoder
    sure       log-odds of the reading for each word, and in each gap
    confidence log-odds of the mean confidence of the reading
    """

    stretches: Stretches
    certainty: Floats
    leads: Floats
    rivals: Sequence[tuple[float, ...]]
    sure: tuple[list[float], list[float]]
    confidence: float

    @classmethod
    def of(cls, line: EncodedLine, case: TextVariants, aligned: CTCPath, opinions: Sequence[Floats]) -> "Clues":
        """The scores of one text, from its CTC alignment and the decoder's opinions on its variants."""
        tokens, ctc = case.given.tokens, TextScores(line.rows)
        ctc.lean_on(tokens)
        likely = [
            (ctc(text), likelihood(text, log_probs)) for text, log_probs in zip(case.texts, opinions, strict=True)
        ]
        return cls(
            Stretches(line.rows, tokens),
            np.maximum(aligned.token_log_probabilities, WORST),
            leads_of(tokens, opinions[0]),
            [tuple(map(signed_log, np.subtract(other, likely[0]))) for other in likely],
            line.read.surest(case.pairing),
            float(log_odds(np.mean(line.read.confidences or (0.5,), keepdims=True))[0]),
        )


def weigh(line: EncodedLine, case: TextVariants, opinions: Sequence[Floats]) -> TextEvidence:
    """The evidence for one text.

    Args:
        opinions: The decoder's log-probabilities (N + 1, V) along each of its variants.
    """
    given, pairing = case.given, case.pairing
    aligned = align(line.rows, given.tokens)
    clues = Clues.of(line, case, aligned, opinions)
    words = [word_features(case, clues, number) for number in range(len(given.written))]
    free = [clues.stretches.free(*given.gap(number)) for number in range(len(pairing.gaps))]
    gaps = [gap_features(case, clues, number, stretch) for number, stretch in enumerate(free)]
    places, steps = edges(aligned.spans, len(line.rows), line.steps_per_token), line.steps_per_token
    return TextEvidence(
        given,
        line.read,
        pairing,
        np.array(words, dtype=np.float64).reshape(len(words), WORD_FEATURES),
        np.array(gaps),
        tuple((places[first][0], places[last - 1][1]) for first, last in given.spans),
        tuple((stretch.steps[0] / steps, stretch.steps[1] / steps) for stretch in free),
    )


def word_features(case: TextVariants, clues: Clues, number: int) -> tuple[float, ...]:
    """The features of a word, see `TextEvidence.words`."""
    given, word, read = case.given, case.given.written[number], case.pairing.words[number]
    first, last = given.spans[number]
    gain = clues.stretches.free(first, last).gain
    # A line that is read badly everywhere is little evidence against one word of it.
    elsewhere = (clues.stretches.freedom - gain) / max(len(given.tokens) - (last - first), 1)
    same, sure = float(word == read), clues.sure[0][number]
    return (
        clues.certainty[first:last].min(),
        positive_log(gain),
        positive_log(gain / (last - first)),
        signed_log(clues.stretches.without(*given.without(number))),
        clues.leads[first:last].min(),
        clues.leads[last],
        same,
        same * sure,
        (1 - same) * sure,
        *clues.rivals[case.replaced[number]],
        Levenshtein.normalized_distance(word, read),
        clues.confidence,
        positive_log(elsewhere),
    )


def gap_features(case: TextVariants, clues: Clues, number: int, free: Stretch) -> tuple[float, ...]:
    """The features of a gap with its best reading, see `TextEvidence.gaps`."""
    return (
        positive_log(free.gain),
        np.log1p(len(free.tokens)),
        np.log1p(len(case.pairing.gaps[number])),
        *clues.rivals[case.inserted[number]],
        clues.sure[1][number],
        clues.confidence,
        positive_log(clues.stretches.freedom / max(len(case.given.tokens), 1)),
    )


def likelihood(tokens: Sequence[int], log_probs: Floats) -> float:
    """The decoder's log-probability of a text and its end."""
    return float(log_probs[np.arange(len(log_probs)), [*tokens, EOS]].sum())


def leads_of(tokens: Sequence[int], log_probs: Floats) -> Floats:
    """Lead of each token, and of the end, over the likeliest other one in the decoder's log-probabilities, (N + 1,)."""
    places, wanted = np.arange(len(log_probs)), [*tokens, EOS]
    own, others = log_probs[places, wanted], log_probs.copy()
    others[places, wanted] = -np.inf
    leads: Floats = (own - others.max(1)).clip(-LEAD, LEAD)
    return leads


def positive_log(value: float) -> float:
    """log(1 + x) of a value that is negative only by rounding."""
    return float(np.log1p(np.clip(value, 0, MAX_DIFFERENCE)))


def signed_log(value: float) -> float:
    """sign(x) log(1 + |x|)."""
    return float(np.copysign(np.log1p(min(abs(value), MAX_DIFFERENCE)), value))
