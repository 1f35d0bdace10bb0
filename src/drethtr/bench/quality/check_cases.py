"""Measure how well the check finds errors in given texts: insert errors, and look for them.

Correct texts get one error at a time, of several kinds (`corruptions`). A check that finds 90 % of them at 2 % false
alarms doubts one correct word in fifty. The baseline needs only a recognizer: doubt every word that it reads
differently.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from drethtr.bench.quality.corruptions import Corrupted, corrupt
from drethtr.datasets.sample import Sample
from drethtr.evaluation.confidence import Booleans
from drethtr.evaluation.evaluate import Advance, open_sample
from drethtr.proofreading.check import weigh_lines
from drethtr.proofreading.evidence import ReadText, TextEvidence
from drethtr.proofreading.fit import WRONG_LINES, WRONG_WORDS, SupportFit, line_features, with_squares
from drethtr.recognition.batching import in_groups
from drethtr.recognition.confidence.logistic import Floats, Logistic, fit_logistic
from drethtr.recognition.confidence.record import SupportWeights
from drethtr.recognition.recognizer import READ_TOGETHER, Recognizer
from drethtr.text.normalize import for_scoring

DIGITS = 4

ERRORS = 5
"""Errors per line, each of another kind, inserted one at a time."""


class SupportCase(NamedTuple):
    """The evidence for a text of a line: the correct text, or one with an error of some kind."""

    set: str
    page: str
    kind: str
    text: Corrupted
    evidence: TextEvidence


def weigh_cases(
    recognizer: Recognizer, samples: Sequence[Sample], seed: int = 0, advance: Advance | None = None
) -> list[SupportCase]:
    """The evidence for the text of each line, and for corrupted texts, drawn with `seed`.

    Raises:
        DataError: naming the sample, if an image cannot be used.
    """
    errors = corrupt(samples, seed, ERRORS)
    lines = ((number, open_sample(recognizer, sample)) for number, sample in enumerate(samples))
    cases = []
    for group in in_groups(lines, READ_TOGETHER):
        texts = [{RIGHT: Corrupted(tuple(for_scoring(samples[n].text).split())), **errors[n]} for n, _ in group]
        images = [line for _, line in group]
        read = list(map(ReadText.of, recognizer.read_lines(images)))
        given = [[" ".join(text.words) for text in some.values()] for some in texts]
        for (number, _), some, weighed in zip(group, texts, weigh_lines(recognizer, images, given, read), strict=True):
            sample = samples[number]
            cases += [
                SupportCase(sample.set, sample.page or "", kind, text, one.evidence)
                for (kind, text), one in zip(some.items(), weighed, strict=True)
                if one.evidence is not None
            ]
        if advance is not None:
            advance(len(group))
    return cases


RIGHT = ""
"""The kind of a text without an error."""


def fit_support(cases: Sequence[SupportCase]) -> SupportFit:
    """Fit the logistic models for evidence to correct and corrupted texts.

    Raises:
        DataError: if there are too few kinds of errors to learn from.
    """
    words = fit_at(WRONG_WORDS, *together((with_squares(case.evidence.words), *compared_words(case)) for case in cases))
    gaps = fit_at(WRONG_WORDS, *together((with_squares(case.evidence.gaps), *compared_gaps(case)) for case in cases))
    judged = ((words(with_squares(case.evidence.words)), gaps(with_squares(case.evidence.gaps))) for case in cases)
    features = np.array([line_features(*probabilities) for probabilities in judged])
    lines = fit_at(WRONG_LINES, features, np.array([case.kind == RIGHT for case in cases]))
    return SupportFit(SupportWeights(words, gaps, lines))


def fit_at(wrong: float, features: Floats, right: Booleans) -> Logistic:
    """A logistic model of correctness, with the share of wrong cases shifted to `wrong`."""
    fitted = fit_logistic(features, right, digits=DIGITS)
    shift = np.log((1 - wrong) / wrong) - np.log(right.sum() / max((~right).sum(), 1))
    return Logistic(float(f"{fitted.bias + shift:.{DIGITS}g}"), fitted.weights)


def compared_words(case: SupportCase) -> tuple[Booleans, Booleans]:
    """Which words of a case are compared, and which of those are correct.

    All words of a correct text; else a single wrong word, from the middle, so that all kinds of errors weigh the same.
    """
    wrong = np.isin(np.arange(len(case.text.words)), case.text.wrong[len(case.text.wrong) // 2 :][:1])
    kept = np.ones_like(wrong) if case.kind == RIGHT else wrong
    return kept, ~wrong[kept]


def compared_gaps(case: SupportCase) -> tuple[Booleans, Booleans]:
    """Which gaps of a case are compared, and which of those are correct: all of a correct text, else the wrong ones."""
    missing = np.isin(np.arange(len(case.text.words) + 1), case.text.missing)
    kept = np.ones_like(missing) if case.kind == RIGHT else missing
    return kept, ~missing[kept]


def together(parts: Iterable[tuple[Floats, Booleans, Booleans]]) -> tuple[Floats, Booleans]:
    """The compared features of all cases, (N, F), and which of them are correct, (N,)."""
    every = [(features[kept], right) for features, kept, right in parts]
    return np.concatenate([features for features, _ in every]), np.concatenate([right for _, right in every])
