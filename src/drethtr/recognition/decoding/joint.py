"""Joint decoding: candidates from the CTC head, rescored and corrected with the decoder and a language model.

The CTC head proposes texts by prefix search; the decoder scores them in one parallel pass, as a tree in which they
share prefixes. A list of whole texts does not cover a line that is uncertain in many places. So the best text is then
changed, one place at a time, wherever the decoder nearly preferred another token; changes that help are combined, and
the new text is changed in turn.

Language is the third score. N-grams propose texts together with the CTC head; the rescorer, a retentive language
model, scores whole texts. A model may have either, or both, which are then averaged. In a model without them the
decoder scores texts without an image, if it was trained for that.

Lines may be seen at several widths; log-probabilities are then averaged over them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.language.languages import BONUS_PER_TOKEN, WeightedLanguages
from drethtr.recognition.decoding.ctc_paths import TextScores
from drethtr.recognition.decoding.ctc_search import CTCText, search_languages
from drethtr.recognition.decoding.decoded import CTCScores, LogProbs, View
from drethtr.recognition.decoding.scorer import LanguageScorer, NetworkScorer
from drethtr.recognition.decoding.stepwise import Hypothesis
from drethtr.recognition.protocol import Network, TextTree
from drethtr.text.tokenizer import EOS

Tokens = tuple[int, ...]

MARGIN = 8.0
"""Texts e^8 times less likely than the best, by the CTC head, are not proposed.

12 candidates within it read as well as 16 without it, in less time (LOG.md, 2026-11-25, evening)."""

NEARLY = 2.0
"""The decoder nearly preferred another token if it finds it at most e^2 times less likely.

Since the decoder was also trained as a language model, more doubts are worth following than e^1 gives; with `WORSE`,
e^3 and e^6 read no better and take longer (LOG.md, 2026-11-23)."""

BEAMS = 10
"""Beams of the prefix search with n-grams."""

WORSE = 3.0
"""Changes that make the text e^3 times less likely, by CTC head and n-grams, are not tried (LOG.md, 2026-11-23)."""

AT_ONCE = 8
"""Doubts about a text that are tried together.

Twelve, and doubts up to e^3, read 380 lines 0.1 points better in a fifth more time (LOG.md, 2026-11-22, later)."""


class Doubt(NamedTuple):
    """Another token, or the end, that the decoder nearly preferred at a place of a text."""

    place: int
    token: int


class Doubts:
    """The doubts about a text, strongest first, found when they are first asked for.

    Of the ten texts of a line, the doubts about one or two are followed; finding and sorting all of them took as long
    as scoring the texts.
    """

    def __init__(self, text: Tokens, path: Sequence[int], log_probabilities: Floats) -> None:
        """Keep a text of N tokens, its path (N + 1) through a tree, and log-probabilities (nodes, V) of the tree."""
        self._text, self._path, self._log_probabilities = text, path, log_probabilities

    @cached_property
    def found(self) -> tuple[Doubt, ...]:
        """All doubts: the tokens within `NEARLY` of the text's own."""
        places, written = np.arange(len(self._path)), [*self._text, EOS]
        lead = self._log_probabilities[self._path]
        lead -= lead[places, written][:, None]
        lead[places, written] = -np.inf
        found, tokens = np.nonzero(lead >= -NEARLY)
        order = np.argsort(-lead[found, tokens], kind="stable")
        return tuple(map(Doubt, found[order].tolist(), tokens[order].tolist()))

    def __iter__(self) -> Iterator[Doubt]:
        return iter(self.found)


class Judgment(NamedTuple):
    """The decoder's score of a text, with its doubts, strongest first.

    `language` is the log-probability without the image; None unless requested.
    """

    text: Hypothesis
    doubts: Iterable[Doubt]
    language: float | None = None


class Change(NamedTuple):
    """A replacement of some tokens of a text."""

    start: int
    end: int
    tokens: Tokens

    def touches(self, other: "Change") -> bool:
        """Whether both change the same place, or neighbors."""
        return self.start <= other.end and other.start <= self.end


class ScoredText(NamedTuple):
    """A text with its log-probabilities.

    decoder   by the decoder: of the text, and of its tokens
    ctc       by the CTC head, over all paths
    language  by the language models, plus a constant for each token
    """

    decoder: Hypothesis
    ctc: float
    doubts: Iterable[Doubt] = ()
    language: float = 0.0

    def quality(self, ctc_weight: float, language_weight: float = 0.0) -> float:
        """The weighted mean of CTC head and decoder, plus weighted language.

        Dividing by the length, adding a bonus for it, or choosing the text nearest to all others (minimum Bayes risk)
        ranks no better (LOG.md, 2026-11-21 and 2026-11-23, later).
        """
        decoder = self.decoder.log_probability
        parts = (ctc_weight, self.ctc), (1 - ctc_weight, decoder), (language_weight, self.language)
        return sum(weight * score for weight, score in parts if weight)  # 0 times -inf would be nan


class FirstPassScores(NamedTuple):
    """The scores of a text before the decoder scores it: by the CTC head, and by n-grams."""

    ctc: float
    language: float

    def quality(self, language_weight: float) -> float:
        """The score by the CTC head, plus weighted language."""
        return self.ctc + language_weight * self.language


@dataclass
class LineScores:
    """Texts of one line with their scores.

    rows             (S, V) log-probabilities of the CTC head, for each width of the line
    language_models  the n-grams
    known            texts that the decoder has scored
    waiting          texts that it will score next, with their first-pass scores
    """

    rows: Sequence[LogProbs]
    language_models: WeightedLanguages = field(default_factory=WeightedLanguages)
    known: dict[Tokens, ScoredText] = field(default_factory=dict)
    waiting: dict[Tokens, FirstPassScores] = field(default_factory=dict)

    @cached_property
    def ctc(self) -> list[TextScores]:
        """The CTC scores of any text, for each width."""
        return [TextScores(rows) for rows in self.rows]

    def propose(self, texts: Iterable[Tokens], base: Tokens | None = None) -> None:
        """Queue the texts that the decoder has not scored, and no others.

        Args:
            base: A text that most of them resemble; by default the first of them.
        """
        unknown = [text for text in dict.fromkeys(texts) if text not in self.known]
        self.waiting = {}
        if unknown:
            base = unknown[0] if base is None else base
            scores = ctc_scores(self.ctc, unknown, base)
            # The base goes first, since scoring texts that resemble the first one takes a fraction of its time.
            _, *language = self.language_models.unweighted_scores([base, *unknown])
            self.waiting = dict(zip(unknown, map(FirstPassScores, scores, language), strict=True))

    def keep(self, texts: Iterable[Tokens]) -> None:
        """Keep only these of the waiting texts, in this order."""
        self.waiting = {text: self.waiting[text] for text in texts}

    def add_scores(self, judgments: Iterable[Judgment]) -> None:
        """Add the decoder's scores of the waiting texts."""
        for (text, doubts, rescored), (ctc, counted) in zip(judgments, self.waiting.values(), strict=True):
            language = [counted] if self.language_models.active else []
            if rescored is not None:
                language.append(rescored + BONUS_PER_TOKEN * len(text.tokens))
            self.known[text.tokens] = ScoredText(text, ctc, doubts, sum(language) / max(len(language), 1))
        self.waiting = {}


@dataclass
class LineSearch:
    """The search for the best text of one line, by changes of the best one so far.

    scores   the texts that were proposed
    quality  the score by which texts are ranked
    base     the text whose changes are tried; None before the first
    tried    those of its changes that are waiting
    chosen   changes that improved it and do not touch each other, best first
    settled  doubts about it that were tried, on this base or an earlier one
    """

    scores: LineScores
    quality: Callable[[ScoredText], float]
    base: Tokens | None = None
    tried: tuple[Change, ...] = ()
    chosen: tuple[Change, ...] = ()
    settled: frozenset[Doubt] = frozenset()

    def advance(self) -> None:
        """Combine the changes that improved the base; once that text is scored, try changes of the best text.

        Called after each pass of the decoder. A line goes through three states:

        candidates scored  -> the best becomes the base, and single changes of it are queued
        changes scored     -> those that improved the base and do not touch are combined, and the result is queued
        combination scored -> the best of all texts becomes the base, and its next changes are queued

        When nothing is queued, the line is done. Single changes are scored apart from each other because whole texts
        differ in one place each, while a line is uncertain in several (LOG.md, 2026-11-22, later).
        """
        if self.base is not None and self.tried:
            self.chosen = self.improvements(self.base)
            self.tried = ()
        together = None if self.base is None else changed(self.base, self.chosen)
        known = self.scores.known
        best = max(known, key=lambda text: self.quality(known[text]))
        if together is not None and together not in known:
            self.scores.propose([together], self.base)
            return
        if best != self.base:
            # Changes that improve a text one by one may spoil it together: then the best single change is the new base.
            taken = self.chosen if best == together else self.chosen[:1]
            # A doubt that was followed once stays settled, unless the text around it has changed since.
            self.settled = frozenset(moved(self.settled, taken))
            self.base, self.chosen = best, ()
        self.try_doubts(best)

    def improvements(self, base: Tokens) -> tuple[Change, ...]:
        """The changes that improved the base, best first; of those that touch, the best."""
        known = self.scores.known
        before = self.quality(known[base])
        # Each was scored alone: its gain beside others is known only once they are combined.
        after = {change: self.quality(known[changed(base, [change])]) for change in self.tried}
        chosen: list[Change] = []
        for change in sorted(after, key=after.__getitem__, reverse=True):
            if after[change] > before and not any(map(change.touches, chosen)):
                chosen.append(change)
        return tuple(chosen)

    def try_doubts(self, base: Tokens) -> None:
        """Try the next doubts about the base: queue the changes that CTC head and n-grams do not rule out."""
        scores, weight = self.scores, self.scores.language_models.weight
        _, ctc, doubts, _ = scores.known[base]
        least = ctc + scores.language_models.score(base) - WORSE
        open_doubts = [doubt for doubt in doubts if doubt not in self.settled]
        # The strongest doubts may lead nowhere while later ones help, so go on until something is worth a pass of the
        # decoder (LOG.md, 2026-11-22, evening).
        while open_doubts and not scores.waiting:
            tried, open_doubts = open_doubts[:AT_ONCE], open_doubts[AT_ONCE:]
            self.settled |= frozenset(tried)
            changes = [change for doubt in tried for change in changes_at(doubt, base)]
            scores.propose((changed(base, [change]) for change in changes), base)
            scores.keep([text for text, first in scores.waiting.items() if first.quality(weight) > least])
            self.tried = tuple(change for change in changes if changed(base, [change]) in scores.waiting)


def changed(text: Tokens, changes: Iterable[Change]) -> Tokens:
    """A text with changes that do not touch."""
    for start, end, tokens in sorted(changes, reverse=True):
        text = text[:start] + tokens + text[end:]
    return text


def moved(doubts: Iterable[Doubt], changes: Sequence[Change]) -> Iterator[Doubt]:
    """The doubts about a text, moved to their places in the changed text; those about changed tokens are dropped."""
    for doubt in doubts:
        here = Change(doubt.place, doubt.place, ())
        if not any(map(here.touches, changes)):
            longer = sum(len(tokens) - (end - start) for start, end, tokens in changes if end < doubt.place)
            yield doubt._replace(place=doubt.place + longer)


def changes_at(doubt: Doubt, text: Tokens) -> list[Change]:
    """The changes that resolve a doubt: insert the token, replace the text's own, or delete that."""
    place, token = doubt
    if token == EOS:
        return [Change(place, len(text), ())]
    changes = [Change(place, place, (token,))]
    if place < len(text):
        changes.append(Change(place, place + 1, (token,)))
    if text[place + 1 : place + 2] == (token,):
        changes.append(Change(place, place + 1, ()))
    return changes


def joint_search(
    network: Network,
    views: Sequence[View],
    quality: Callable[[ScoredText], float],
    *,
    candidates: int,
    corrections: int,
    language_models: WeightedLanguages,
) -> list[list[ScoredText]]:
    """For each line the candidates of CTC head and n-grams, and the texts from `corrections` of the best one.

    `views` are the lines at different widths, each with at most `candidates`.
    """
    scorers = [NetworkScorer(network, view.memory) for view in views]
    language = language_scorer(network, language_models)
    lines = range(views[0].memory.lines)
    scores = [LineScores([view.scores.lines[line] for view in views], language_models) for line in lines]
    searches = [LineSearch(of_line, quality) for of_line in scores]
    for line, of_line in enumerate(scores):
        of_line.propose(
            text.tokens for view in views for text in proposed(view.scores, line, candidates, language_models)
        )
    for turn in range(1 + corrections):
        running = [line for line in lines if scores[line].waiting]
        if not running:
            break
        waiting = [list(scores[line].waiting) for line in running]
        kept = [some if len(running) == len(lines) else some.keep(np.array(running)) for some in scorers]
        for line, judgments in zip(running, rescore(kept, waiting, language), strict=True):
            scores[line].add_scores(judgments)
            if turn < corrections:
                searches[line].advance()
    return [list(of_line.known.values()) for of_line in scores]


def language_scorer(network: Network, language_models: WeightedLanguages) -> LanguageScorer | None:
    """The network as a language model of whole texts; None if language has no weight, or n-grams are better."""
    # The decoder without an image is a weaker language model than n-grams (1.99 against 1.69 nats per character;
    # LOG.md, 2026-11-23, night), so it is used only if there are none. A rescorer is stronger, and both together read
    # best.
    knows_more = network.dimensions.rescores or not language_models.languages
    return LanguageScorer(network) if language_models.weight and knows_more else None


def proposed(scores: CTCScores, line: int, number: int, language_models: WeightedLanguages) -> list[CTCText]:
    """At most `number` texts of a line; with n-grams the search is wider, as they add their scores late."""
    beams = max(number, BEAMS) if language_models.active else number
    rows, draft = scores.lines[line], scores.paths[line].tokens
    # Four tokens per step: the decoder itself proposes tokens that the CTC head ranks lower, where it is in doubt.
    return search_languages(rows, language_models, draft, beams=beams, tokens_per_step=4, margin=MARGIN)[:number]


def rescore(
    scorers: Sequence[NetworkScorer], texts: Sequence[Sequence[Tokens]], language: LanguageScorer | None = None
) -> list[list[Judgment]]:
    """The decoder's scores of some texts per line, averaged over its widths, which have a scorer each."""
    trees = [TextTree.of(some) for some in texts]
    seen = [scorer.score_trees(trees) for scorer in scorers]
    # The mean over one width would copy it.
    with_image = seen[0] if len(seen) == 1 else [np.mean(of_line, axis=0) for of_line in zip(*seen, strict=True)]
    without_image = [None] * len(trees) if language is None else language.score_trees(trees)
    return [
        [judge(text, path, values, alone) for text, path in zip(some, tree.paths, strict=True)]
        for some, tree, values, alone in zip(texts, trees, with_image, without_image, strict=True)
    ]


def judge(text: Tokens, path: Sequence[int], log_probabilities: Floats, language: Floats | None) -> Judgment:
    """The score of a text of N tokens, which is the path (N + 1) through a tree.

    `log_probabilities` (nodes, V) are those of the token after each node of the tree; `language` has those without the
    image, if requested.
    """
    written = [*text, EOS]
    gains = log_probabilities[path, written]
    alone = None if language is None else float(language[path, written].sum())
    own = Hypothesis(text, float(gains.sum()), tuple(gains.tolist()))
    return Judgment(own, Doubts(text, path, log_probabilities), alone)


def ctc_scores(widths: Sequence[TextScores], texts: Sequence[Tokens], base: Tokens) -> list[float]:
    """The CTC scores of some texts of one line, averaged over its widths; most of them resemble the base.

    A width with too few steps for a text is left out of its mean.
    """
    for scores in widths:
        scores.lean_on(base)
    means = []
    for text in texts:
        finite = [score for scores in widths if (score := scores(text)) > -inf]
        means.append(sum(finite) / len(finite) if finite else -inf)
    return means
