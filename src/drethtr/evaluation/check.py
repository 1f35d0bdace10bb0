"""Measure how well errors in given texts are noticed: errors are made, and the check has to find them.

Right texts get an error each, of several kinds (`corruptions`). A check that finds 90 % of them at 2 % false alarms casts
doubt on one right word in fifty. The baseline is what anybody can do with a recognizer: doubt every word that it reads
otherwise.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.evaluation.corruptions import Corrupted, corrupt
from drethtr.evaluation.evaluate import Advance, open_sample
from drethtr.lines.sample import Sample
from drethtr.recognition.batching import in_groups
from drethtr.recognition.recognizer import READ_TOGETHER, Recognizer
from drethtr.recognition.support.evidence import ReadText, TextEvidence
from drethtr.text.normalize import for_scoring

ERRORS = 5
"""Errors of different kinds that each line gets, one at a time."""


class Case(NamedTuple):
    """The evidence for a text of a line: the right one, or with an error of some kind."""

    set: str
    page: str
    kind: str
    text: Corrupted
    evidence: TextEvidence


def weigh_cases(
    recognizer: Recognizer, samples: Sequence[Sample], seed: int = 0, advance: Advance | None = None
) -> list[Case]:
    """The evidence for the text of each line, and for as many corrupted texts, drawn by `seed`.

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
        for (number, _), some, weighed in zip(
            group, texts, recognizer.weigh_lines(images, given, read), strict=True
        ):
            sample = samples[number]
            cases += [
                Case(sample.set, sample.page or "", kind, text, one.evidence)
                for (kind, text), one in zip(some.items(), weighed, strict=True)
                if one.evidence is not None
            ]
        if advance is not None:
            advance(len(group))
    return cases


RIGHT = ""
"""The kind of a text without an error."""
