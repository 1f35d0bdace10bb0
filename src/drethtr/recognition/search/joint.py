"""Texts that a line may have, and what CTC head and decoder say of each.

The CTC head proposes texts by prefix search; the decoder reads them all back in one parallel pass, as a tree in which
they share their beginnings. A list of whole texts is short where a line has doubts in many places. So the best text is
then changed, one place at a time, wherever the decoder was nearly of another mind; what of this is better is put
together, and the new text is changed in turn.

Language has a third vote. N-grams propose texts together with the CTC head; the rescorer, a retentive language model,
scores whole texts. A model may have either or both, whose mean then counts. In a model without them the decoder votes,
if it was trained to say how likely a text is without its image.

Lines may be seen at several widths. A log-probability is then the mean over all of them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np

from drethtr.language.voice import PER_TOKEN, Voices
from drethtr.recognition.network import Network
from drethtr.recognition.search.ctc_paths import TextScores
from drethtr.recognition.search.ctc_search import CTCText, search_languages
from drethtr.recognition.search.decoded import CTCScores, LogProbs
from drethtr.recognition.search.scorer import LanguageScorer, NetworkScorer
from drethtr.recognition.search.stepwise import Floats, Hypothesis
from drethtr.recognition.search.strategy import View
from drethtr.recognition.search.tree import TextTree
from drethtr.text.tokenizer import EOS, PAD

Tokens = tuple[int, ...]

MARGIN = 8.0
"""Texts that the CTC head holds for e^8 times less likely than its best are not proposed."""

NEARLY = 2.0
"""The decoder was nearly of another mind where it holds another token for at most e^2 times less likely."""

BEAMS = 10
"""Texts that the CTC head and n-grams follow."""

WORSE = 3.0
"""Changes that CTC head and n-grams hold for e^3 times less likely than the text before are not tried."""

AT_ONCE = 8
"""Doubts about a text that are followed together."""


class Doubt(NamedTuple):
    """Another token that the decoder might have written at a place of a text, or the end."""

    place: int
    token: int


class Judgment(NamedTuple):
    """What the decoder says of a text, and all places where it was nearly of another mind, most so first.

    `language` is the log-probability by language alone, None if that is not asked for.
    """

    text: Hypothesis
    doubts: tuple[Doubt, ...]
    language: float | None = None


class Change(NamedTuple):
    """Other tokens for some of a text."""

    start: int
    end: int
    tokens: Tokens

    def touches(self, other: "Change") -> bool:
        """Whether both change the same place, or neighbors."""
        return self.start <= other.end and other.start <= self.end


class Scored(NamedTuple):
    """A text with its log-probabilities.

    decoder   of the text and of its tokens
    ctc       of the head, over all paths
    language  of the language models, a constant more for each token
    """

    decoder: Hypothesis
    ctc: float
    doubts: tuple[Doubt, ...] = ()
    language: float = 0.0

    def quality(self, ctc_weight: float, language_weight: float = 0.0) -> float:
        """The mean of head and decoder, weighted, and language on top."""
        decoder = self.decoder.log_probability
        parts = (ctc_weight, self.ctc), (1 - ctc_weight, decoder), (language_weight, self.language)
        return sum(weight * score for weight, score in parts if weight)  # 0 times -inf would be no number


class Heard(NamedTuple):
    """What is known of a text before the decoder reads it: what the CTC head says of it, and n-grams."""

    ctc: float
    language: float


@dataclass
class Race:
    """The texts of one line that are known, and what is tried next.

    rows     (S, V) log-probabilities of the CTC head, for each width at which the line is seen
    quality  what texts are compared by
    voices   what n-grams have to say
    known    texts that were read back
    waiting  texts to be read back, with what others than the decoder say of them
    base     the best text when changes were last looked for; None before
    tried    the changes of it that were waiting
    chosen   those that made it better and do not touch, best first
    settled  doubts about it that were followed, or were when it was another text
    """

    rows: Sequence[LogProbs]
    quality: Callable[[Scored], float]
    voices: Voices = field(default_factory=Voices)
    known: dict[Tokens, Scored] = field(default_factory=dict)
    waiting: dict[Tokens, Heard] = field(default_factory=dict)
    base: Tokens | None = None
    tried: tuple[Change, ...] = ()
    chosen: tuple[Change, ...] = ()
    settled: frozenset[Doubt] = frozenset()

    @cached_property
    def heads(self) -> list[TextScores]:
        """What the CTC head says of any text, for each width."""
        return [TextScores(rows, PAD) for rows in self.rows]

    def propose(self, texts: Iterable[Tokens]) -> None:
        """Let texts wait that are not known yet."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self.known]
        self.waiting = {}
        if unknown:
            said = ctc_scores(self.heads, unknown, unknown[0] if self.base is None else self.base)
            self.waiting = dict(zip(unknown, map(Heard, said, map(self.voices.say, unknown)), strict=True))

    def enter(self, judgments: Iterable[Judgment]) -> None:
        """Take in what the decoder says of the texts that waited."""
        for (text, doubts, rescored), (ctc, counted) in zip(judgments, self.waiting.values(), strict=True):
            said = [counted] if self.voices.speak else []
            if rescored is not None:
                said.append(rescored + PER_TOKEN * len(text.tokens))
            self.known[text.tokens] = Scored(text, ctc, doubts, sum(said) / max(len(said), 1))
        self.waiting = {}

    def go_on(self) -> None:
        """Put together the changes that made the base better; when that is known, look for changes of the best text."""
        if self.base is not None and self.tried:
            self.chosen = self.improvements(self.base)
            self.tried = ()
        together = None if self.base is None else changed(self.base, self.chosen)
        best = max(self.known, key=lambda text: self.quality(self.known[text]))
        if together is not None and together not in self.known:
            self.propose([together])
            return
        if best != self.base:
            taken = self.chosen if best == together else self.chosen[:1]
            self.settled = frozenset(moved(self.settled, taken))
            self.base, self.chosen = best, ()
        self.change(best)

    def improvements(self, base: Tokens) -> tuple[Change, ...]:
        """The changes that made the base better, best first; of those that touch, the best."""
        before = self.quality(self.known[base])
        after = {change: self.quality(self.known[changed(base, [change])]) for change in self.tried}
        chosen: list[Change] = []
        for change in sorted(after, key=after.__getitem__, reverse=True):
            if after[change] > before and not any(map(change.touches, chosen)):
                chosen.append(change)
        return tuple(chosen)

    def change(self, base: Tokens) -> None:
        """Follow the next doubts about the base: let those changes wait that CTC head and n-grams do not refuse."""
        _, ctc, doubts, _ = self.known[base]
        before = ctc + self.voices.vote(base)
        open_doubts = [doubt for doubt in doubts if doubt not in self.settled]
        while open_doubts and not self.waiting:
            followed, open_doubts = open_doubts[:AT_ONCE], open_doubts[AT_ONCE:]
            self.settled |= frozenset(followed)
            changes = [change for doubt in followed for change in changes_at(doubt, base)]
            self.propose(changed(base, [change]) for change in changes)
            self.waiting = {
                text: heard
                for text, heard in self.waiting.items()
                if heard.ctc + self.voices.weight * heard.language > before - WORSE
            }
            self.tried = tuple(change for change in changes if changed(base, [change]) in self.waiting)


def changed(text: Tokens, changes: Iterable[Change]) -> Tokens:
    """A text with changes that do not touch."""
    for start, end, tokens in sorted(changes, reverse=True):
        text = text[:start] + tokens + text[end:]
    return text


def moved(doubts: Iterable[Doubt], changes: Sequence[Change]) -> Iterator[Doubt]:
    """The doubts about a text where they are when it is changed; those about what changes are gone."""
    for doubt in doubts:
        here = Change(doubt.place, doubt.place, ())
        if not any(map(here.touches, changes)):
            longer = sum(len(tokens) - (end - start) for start, end, tokens in changes if end < doubt.place)
            yield doubt._replace(place=doubt.place + longer)


def changes_at(doubt: Doubt, text: Tokens) -> list[Change]:
    """The ways in which a text may have another token at a place: instead, in between, or its own left out."""
    place, token = doubt
    if token == EOS:
        return [Change(place, len(text), ())]
    changes = [Change(place, place, (token,))]
    if place < len(text):
        changes.append(Change(place, place + 1, (token,)))
    if text[place + 1 : place + 2] == (token,):
        changes.append(Change(place, place + 1, ()))
    return changes


def compete(
    network: Network,
    views: Sequence[View],
    quality: Callable[[Scored], float],
    *,
    candidates: int,
    corrections: int,
    voices: Voices,
) -> list[list[Scored]]:
    """For each line the texts that CTC head and n-grams propose, and what `corrections` of the best one led to.

    `views` are the lines at different widths; each of them proposes at most so many `candidates`. If `voices` have
    a weight, the network is the language model for whole texts, unless it has no rescorer and there are n-grams.
    """
    scorers = [NetworkScorer(network, view.memory) for view in views]
    asked = voices.weight and (network.dimensions.rescores or not voices.languages)
    language = LanguageScorer(network) if asked else None
    lines = range(views[0].memory.lines)
    races = [Race([view.scores.lines[line] for view in views], quality, voices) for line in lines]
    for line, race in enumerate(races):
        race.propose(text.tokens for view in views for text in proposed(view.scores, line, candidates, voices))
    for turn in range(1 + corrections):
        running = [line for line in lines if races[line].waiting]
        if not running:
            break
        waiting = [list(races[line].waiting) for line in running]
        kept = [some if len(running) == len(races) else some.keep(np.array(running)) for some in scorers]
        for line, judgments in zip(running, read_back(kept, waiting, language), strict=True):
            races[line].enter(judgments)
            if turn < corrections:
                races[line].go_on()
    return [list(race.known.values()) for race in races]


def proposed(scores: CTCScores, line: int, number: int, voices: Voices) -> list[CTCText]:
    """At most so many texts of a line; with n-grams the search is wider, as their vote comes late."""
    beams = max(number, BEAMS) if voices.speak else number
    rows, draft = scores.lines[line], scores.paths[line].tokens
    return search_languages(rows, PAD, voices, draft, beams=beams, tokens_per_step=4, margin=MARGIN)[:number]


def read_back(
    views: Sequence[NetworkScorer], texts: Sequence[Sequence[Tokens]], language: LanguageScorer | None = None
) -> list[list[Judgment]]:
    """Some texts per line, with the log-probabilities that the decoder gives to their tokens and ends."""
    trees = [TextTree.of(some) for some in texts]
    seen = [np.mean(of_line, axis=0) for of_line in zip(*(view.score_trees(trees) for view in views), strict=True)]
    unseen = [None] * len(trees) if language is None else language.score_trees(trees)
    judgments = []
    for some, tree, values, alone in zip(texts, trees, seen, unseen, strict=True):
        paths = zip(some, tree.paths, strict=True)
        judgments.append([judged(text, values[path], None if alone is None else alone[path]) for text, path in paths])
    return judgments


def judged(text: Tokens, log_probabilities: Floats, language: Floats | None) -> Judgment:
    """A text of N tokens as the decoder sees it, by log-probabilities (N + 1, V) of what follows each prefix.

    `language` has those without the image, if they are asked for.
    """
    places, written = np.arange(len(text) + 1), [*text, EOS]
    gains = log_probabilities[places, written]
    lead = log_probabilities - gains[:, None]
    lead[places, written] = -np.inf
    found, tokens = np.nonzero(lead >= -NEARLY)
    order = np.argsort(-lead[found, tokens], kind="stable")
    doubts = map(Doubt, found[order].tolist(), tokens[order].tolist())
    alone = None if language is None else float(language[places, written].sum())
    return Judgment(Hypothesis(text, float(gains.sum()), tuple(gains.tolist())), tuple(doubts), alone)


def ctc_scores(views: Sequence[TextScores], texts: Sequence[Tokens], base: Tokens) -> list[float]:
    """What the CTC head says of some texts of one line, in the mean over its views; most of them are like the base.

    A text too long for some of them is left to the others.
    """
    for view in views:
        view.lean_on(base)
    return [mean_of_finite([view(text) for view in views]) for text in texts]


def mean_of_finite(scores: Sequence[float]) -> float:
    """The mean of those that are finite; -inf if none is."""
    finite = [score for score in scores if score > -inf]
    return sum(finite) / len(finite) if finite else -inf
