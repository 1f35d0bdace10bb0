"""What is known for and against each word of a given text, and of each gap between them, from what a network computed.

Three witnesses: the CTC head, which says how much better the same ink reads otherwise; the decoder, which says by how
much it would have written something else; and the reading, which was found without knowing the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from drethtr.recognition.confidence.logistic import log_odds
from drethtr.recognition.reading import Reading
from drethtr.recognition.search.ctc_paths import TextScores
from drethtr.recognition.search.decoded import LogProbs, edges
from drethtr.recognition.search.ctc_search import align
from drethtr.recognition.search.scorer import NetworkScorer
from drethtr.recognition.search.tree import TextTree
from drethtr.recognition.support.given import GivenText, Pairing, encode, pair
from drethtr.recognition.support.stretches import Stretches
from drethtr.text.normalize import for_scoring
from drethtr.text.tokenizer import EOS, PAD, Tokenizer

Floats = NDArray[np.float64]

WORST, LEAD = -12.0, 10.0
"""Log-probabilities and leads beyond it say no more."""


class LineSeen(NamedTuple):
    """A line that was read: CTC log-probabilities (S, V), steps per image token, and the reading."""

    rows: LogProbs
    steps_per_token: int
    reading: Reading


@dataclass(frozen=True)
class TextEvidence:
    """What is known of a text on a line.

    words    (W, WORD_FEATURES) of each word
    gaps     (W + 1, GAP_FEATURES) of each gap
    pairing  what was read in their places
    places   left and right edge of each word in image tokens, then of each gap
    """

    given: GivenText
    pairing: Pairing
    words: Floats
    gaps: Floats
    word_places: tuple[tuple[float, float], ...]
    gap_places: tuple[tuple[float, float], ...]


def gather(
    scorer: NetworkScorer, lines: Sequence[LineSeen], texts: Sequence[Sequence[GivenText]], tokenizer: Tokenizer
) -> list[list[TextEvidence]]:
    """Evidence for any number of texts of each line.

    Raises:
        FloatingPointError: if the network's numbers overflow.
    """
    cases = [[Case.of(line, text, tokenizer) for text in some] for line, some in zip(lines, texts, strict=True)]
    trees = [TextTree.of([tokens for case in some for tokens in case.texts]) for some in cases]
    found = []
    for line, some, tree, scores in zip(lines, cases, trees, scorer.score_trees(trees), strict=True):
        paths = iter(tree.paths)
        found.append([weigh(line, case, [(next(paths), scores) for _ in case.texts]) for case in some])
    return found


class Case(NamedTuple):
    """A text that is given, and those that differ from it in one place, where the reading does.

    texts        tokens of the given one, then of the others
    replaced     for each word the number of the text that has what was read instead; 0 if the same was read
    inserted     for each gap the number of the text with what was read there; 0 if nothing was
    """

    given: GivenText
    pairing: Pairing
    texts: list[tuple[int, ...]]
    replaced: list[int]
    inserted: list[int]

    @classmethod
    def of(cls, line: LineSeen, given: GivenText, tokenizer: Tokenizer) -> "Case":
        """The texts to compare."""
        pairing = pair(given.words, for_scoring(line.reading.text))
        texts, tokens = [given.tokens], given.tokens
        replaced, inserted = [0] * len(given.words), [0] * (len(given.words) + 1)
        for number, (word, read) in enumerate(zip(given.words, pairing.words, strict=True)):
            if word != read:
                first, last = given.spans[number] if read else given.without(number)
                replaced[number] = len(texts)
                texts.append((*tokens[:first], *encode(read, tokenizer), *tokens[last:]))
        for number, read in enumerate(pairing.gaps):
            if read:
                first, last = given.gap(number)
                spaced = " ".join([*[""] * (number > 0), read, *[""] * (number < len(given.words))])
                inserted[number] = len(texts)
                texts.append((*tokens[:first], *encode(spaced, tokenizer), *tokens[last:]))
        return cls(given, pairing, texts, replaced, inserted)


def weigh(line: LineSeen, case: Case, paths: Sequence[tuple[Sequence[int], Floats]]) -> TextEvidence:
    """Evidence for one text; `paths` has the nodes of each text of the case, with log-probabilities (nodes, V)."""
    given, pairing = case.given, case.pairing
    ctc, stretches = TextScores(line.rows, PAD), Stretches(line.rows, given.tokens)
    ctc.lean_on(given.tokens)
    own_ctc, own_decoder = ctc(given.tokens), likelihood(given.tokens, *paths[0])
    rivals = [
        (ctc(tokens) - own_ctc, likelihood(tokens, *path) - own_decoder)
        for tokens, path in zip(case.texts, paths, strict=True)
    ]
    aligned = align(line.rows, given.tokens, PAD)
    leads = leads_of(given.tokens, *paths[0])
    sure = word_confidences(line.reading)
    legible = float(log_odds(np.array([np.mean(sure) if sure else 0.5]))[0])
    freedom = stretches.freedom
    certainty = np.array(aligned.token_log_probabilities).clip(WORST)
    words, places = [], edges(aligned.spans, len(line.rows), line.steps_per_token)
    read_sure = sure_of_parts(line.reading, pairing)
    word_places, gap_places = [], []
    for number, (word, read) in enumerate(zip(given.words, pairing.words, strict=True)):
        first, last = given.spans[number]
        free = stretches.free(first, last)
        elsewhere = max(freedom - free.gain, 0.0) / max(len(given.tokens) - (last - first), 1)
        lead = leads[first:last].clip(-LEAD, LEAD)
        same = word == read
        ctc_rival, decoder_rival = rivals[case.replaced[number]]
        conf = float(log_odds(np.array([read_sure[number]]))[0])
        words.append(
            (
                certainty[first:last].min(),
                certainty[first:last].mean(),
                np.log1p(max(free.gain, 0.0)),
                np.log1p(max(free.gain, 0.0) / (last - first)),
                signed_log(-stretches.without(*given.without(number))),
                lead.min(),
                lead.mean(),
                np.log1p(-lead.clip(max=0).sum()),
                leads[last].clip(-LEAD, LEAD),
                float(same),
                same * conf,
                (1 - same) * conf,
                signed_log(ctc_rival),
                signed_log(decoder_rival),
                Levenshtein.normalized_distance(word, read),
                np.log(last - first),
                legible,
                np.log1p(elsewhere),
            )
        )
        word_places.append((places[first][0], places[last - 1][1]))
    gaps = []
    for number, read in enumerate(pairing.gaps):
        first, last = given.gap(number)
        free = stretches.free(first, last)
        ctc_rival, decoder_rival = rivals[case.inserted[number]]
        gaps.append(
            (
                np.log1p(max(free.gain, 0.0)),
                np.log1p(len(free.tokens)),
                np.log1p(len(read)),
                signed_log(ctc_rival),
                signed_log(decoder_rival),
                float(log_odds(np.array([gap_sure(line.reading, read)]))[0]) if read else 0.0,
                legible,
                np.log1p(freedom / max(len(given.tokens), 1)),
            )
        )
        gap_places.append(tuple(step / line.steps_per_token for step in free.steps))
    return TextEvidence(
        given, pairing, np.array(words, dtype=np.float64).reshape(len(words), -1), np.array(gaps, dtype=np.float64),
        tuple(word_places), tuple(gap_places),
    )


def word_confidences(reading: Reading) -> list[float]:
    return [word.confidence for word in reading.words()]


def sure_of_parts(reading: Reading, pairing: Pairing) -> list[float]:
    """Least confidence among the read words from which each word's part was taken; 0.5 where nothing was read."""
    words = reading.words()
    out, at = [], 0
    # parts are in order: word and gap parts interleaved
    letters = "".join(w.text for w in words)
    owner = [i for i, w in enumerate(words) for _ in w.text]
    place = 0
    for number, part in enumerate(pairing.words):
        place += len("".join(pairing.gaps[number].split()))
        n = len("".join(part.split()))
        own = owner[place : place + n]
        out.append(min((words[i].confidence for i in own), default=0.5))
        place += n
    return out


def gap_sure(reading: Reading, read: str) -> float:
    found = [w.confidence for w in reading.words() if w.text in read.split()]
    return float(np.mean(found)) if found else 0.5


def signed_log(value: float) -> float:
    """sign(x) log(1 + |x|), with infinities as the largest values that say something."""
    kept = np.clip(value, -1e3, 1e3)
    return float(np.sign(kept) * np.log1p(abs(kept)))


def likelihood(tokens: Sequence[int], path: Sequence[int], scores: Floats) -> float:
    """The decoder's log-probability of a text."""
    return float(scores[path, [*tokens, EOS]].sum())


def leads_of(tokens: Sequence[int], path: Sequence[int], scores: Floats) -> Floats:
    """By how much the decoder prefers each token, and the end, to the likeliest other one, (N + 1,)."""
    rows = scores[list(path)]
    wanted = [*tokens, EOS]
    own = rows[np.arange(len(rows)), wanted]
    rows[np.arange(len(rows)), wanted] = -np.inf
    leads: Floats = own - rows.max(1)
    return leads
