"""Other readings of a word in a line, ranked by all scores that are used to read lines.

Alternatives of a whole line differ in the one or two places where its decoder doubted most. For a word, the CTC head is
searched again between its neighbors, which stay as they are, whoever wrote them.
"""

from collections.abc import Collection, Iterable
from math import exp, inf
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from drethtr.images.line import Line
from drethtr.language.languages import NO_LANGUAGE_MODEL, WeightedLanguages
from drethtr.recognition.decoding.ctc_search import align, prefix_search
from drethtr.recognition.decoding.decoded import LogProbs, View
from drethtr.recognition.decoding.joint import LineScores, Tokens, changed, changes_at, language_scorer, rescore
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.strategies import CTC, Joint
from drethtr.recognition.recognizer import Recognizer

PROPOSED = 40
"""Texts that the CTC head proposes for a word."""

RESCORED = 16
"""Texts of `PROPOSED` that the decoder scores."""

MAX_NODES = 2048
"""Maximum nodes of one tree of lines: each head of a layer weighs all pairs of nodes, here in 17 MB. Never varied.

Lines that differ in their first word share no prefix, so each adds as many nodes as it has tokens."""

ROUNDS, FOLLOWED = 2, 3
"""Rounds of following the decoder's doubts, and the number of best texts whose doubts are followed.

With these, and n-grams in the search, the right word is among the first four for 68 % of the wrong ones; without both,
54 % (LOG.md, 2026-11-27)."""

SHARPNESS = 0.6
"""Exponent that turns scores into probabilities, below 1 since CTC head, decoder and language model share evidence.

With 0.6, texts with probabilities of 29, 49, 72 and 90 % were right in 31, 53, 66 and 86 % of 700 doubtful words; with
0.4 they were underconfident, with 0.8 overconfident (LOG.md, 2026-11-27)."""


LineViews: TypeAlias = tuple[View, ...]
"""Views of a line that is read in one piece, one for each width of the strategy."""


class WordCandidate(NamedTuple):
    """A text for the place of a word, and its probability relative to all that were ranked."""

    text: str
    probability: float


def encode_line(recognizer: Recognizer, line: Line) -> LineViews | None:
    """Encode a line for `word_candidates`; None if its decoder is not `CTC` or `Joint`, or reads it in several pieces.

    Raises:
        CheckpointError: if the model's activations are not finite.
    """
    if not isinstance(recognizer.strategy, CTC | Joint):
        return None
    pieces = recognizer.pieces.prepare_whole([line])
    if not pieces:
        return None
    return tuple(recognizer.pieces.view([view]) for view in pieces[0].views)


class Place(NamedTuple):
    """The place of a word in its line, by the tokens before and after it."""

    before: Tokens
    after: Tokens

    def line(self, word: Tokens) -> Tokens:
        """The line with a word in this place."""
        return (*self.before, *word, *self.after)

    def word(self, line: Tokens) -> Tokens:
        """The tokens of a line in this place."""
        return line[len(self.before) : len(line) - len(self.after)]

    def holds(self, start: int, end: int, line: Tokens) -> bool:
        """Whether some tokens of a line are in this place."""
        return len(self.before) <= start and end <= len(line) - len(self.after)


class WordSearch:
    """The search for the text of one place: lines that differ in nothing else, with scores.

    first  the scores of ranked lines by CTC head and n-grams; those of the decoder are in `lines.known`
    """

    def __init__(self, recognizer: Recognizer, line: LineViews, place: Place, word: Tokens) -> None:
        strategy, network = recognizer.strategy, recognizer.network
        assert isinstance(strategy, CTC | Joint), "`encode_line` refuses others"
        self.strategy = strategy
        self.place = place
        self.languages = WeightedLanguages(recognizer.model.languages, strategy.weights.language)
        self.base = place.line(word)
        self.lines = LineScores([view.scores.lines[0] for view in line], self.languages)
        self.scorers = [NetworkScorer(network, view.memory) for view in line] if isinstance(strategy, Joint) else []
        self.alone = language_scorer(network, self.languages)
        self.first: dict[Tokens, float] = {}

    def rank(self, words: Iterable[Tokens], always: Collection[Tokens] = ()) -> None:
        """Score words; the decoder scores the most promising ones, and those of `always`.

        Those that are too long for the line are left out.
        """
        self.lines.propose(map(self.place.line, words), self.base)
        weight = self.languages.weight
        scores = {line: by.quality(weight) for line, by in self.lines.waiting.items() if by.ctc > -inf}
        best = sorted(scores, key=scores.__getitem__, reverse=True)
        kept = [line for rank, line in enumerate(best) if rank < RESCORED or self.place.word(line) in always]
        self.first |= {line: scores[line] for line in kept}
        if self.scorers and kept:
            together = max(MAX_NODES // (1 + max(map(len, kept))), 1)
            trees = (kept[first : first + together] for first in range(0, len(kept), together))
            self.lines.keep(kept)
            self.lines.add_scores(one for tree in trees for one in rescore(self.scorers, [tree], self.alone)[0])

    def follow_doubts(self) -> None:
        """Rank the words to which the decoder's doubts about the best ones lead."""
        best = sorted(self.first, key=self.quality, reverse=True)[:FOLLOWED]
        self.rank(
            self.place.word(changed(line, [change]))
            for line in best
            for doubt in self.lines.known[line].doubts
            if self.place.holds(doubt.place, doubt.place, line)
            for change in changes_at(doubt, line)
            if self.place.holds(change.start, change.end, line)
        )

    def quality(self, line: Tokens) -> float:
        """The score of a ranked line."""
        return self.strategy.quality(self.lines.known[line]) if isinstance(self.strategy, Joint) else self.first[line]

    def shares(self) -> dict[Tokens, float]:
        """The probability of each ranked word, relative to all of them."""
        best = max(map(self.quality, self.first), default=0.0)
        shares = {self.place.word(line): exp(SHARPNESS * (self.quality(line) - best)) for line in self.first}
        whole = sum(shares.values())
        return {word: share / whole for word, share in shares.items()}


def word_candidates(
    recognizer: Recognizer, line: LineViews, text: str, start: int, end: int, vocabulary: Iterable[str] = ()
) -> list[WordCandidate]:
    """Texts for the place of a word in the text of a line, likeliest first; the word itself is one of them.

    Candidates that would make the text too long for the line are left out.

    Args:
        text: The whole text; all but the word is taken as right.
        start: The first character of the word, as a code point of the text.
        end: The character after its last one.
        vocabulary: Further words to rank, such as those that a person has confirmed nearby.
    """
    tokenizer = recognizer.model.tokenizer
    before, word, after = (tuple(tokenizer.encode(part)) for part in (text[:start], text[start:end], text[end:]))
    place = Place(before, after)
    search = WordSearch(recognizer, line, place, word)
    texts = {
        tokenizer.decode(tokens).strip()
        for view in line
        for tokens in proposed(view.scores.lines[0], place, word, search.languages)
    }
    # Given words keep their spelling, since tokens have only NFC and no letters outside the alphabet.
    spelled = {tuple(tokenizer.encode(one)): one for one in (*vocabulary, text[start:end]) if one}
    search.rank([*spelled, *(tuple(tokenizer.encode(one)) for one in texts if one)], spelled)
    for _ in range(ROUNDS if search.scorers else 0):
        search.follow_doubts()
    found: dict[str, float] = {}
    for tokens, share in search.shares().items():
        one = spelled.get(tokens) or tokenizer.decode(tokens).strip()
        found[one] = found.get(one, 0.0) + share
    candidates = (WordCandidate(*one) for one in found.items() if one[0])
    return sorted(candidates, key=attrgetter("probability"), reverse=True)


def proposed(scores: LogProbs, place: Place, word: Tokens, languages: WeightedLanguages) -> set[Tokens]:
    """What CTC head and n-grams may read between the neighbors of a word, including white space at its ends."""
    path = align(scores, place.line(word))
    # Search from the last character of the previous word to the first of the next, as the spaces may be misread, too.
    left, right = len(place.before), len(place.before) + len(word)
    first = path.spans[left - 2][1] if left > 1 else 0
    last = path.spans[right + 1][0] if right + 1 < len(path.spans) else len(scores)
    return {
        text.tokens
        for model in (NO_LANGUAGE_MODEL, *languages.near(path.tokens))
        for text in prefix_search(scores[first:last], beams=PROPOSED, tokens_per_step=8, language_model=model)
        if text.log_probability > -inf
    }
