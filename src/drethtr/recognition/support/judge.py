"""Turn probabilities into verdicts: each word of a text, with its place and the reason if it is doubtful."""

from collections.abc import Iterator

import numpy as np

from drethtr.recognition.posteriors import UNKNOWN
from drethtr.recognition.support.checker import WeighedText
from drethtr.recognition.support.evidence import Edges, TextEvidence
from drethtr.recognition.support.fit import SupportFit
from drethtr.recognition.support.verdict import DOUBTED, CheckedWord, Kind, TextCheck


def judge_text(weighed: WeighedText, fit: SupportFit, least: float = DOUBTED) -> TextCheck:
    """The verdict on each word of a text, and on missing words.

    Args:
        least: Words less probable than this are doubtful.
    """
    if weighed.evidence is None:
        return TextCheck(weighed.given.text, tuple(unjudged(weighed)), 0.0, weighed.read.text)
    words, probability = judged(weighed, weighed.evidence, fit, least), fit.of_line(weighed.evidence)
    return TextCheck(weighed.given.text, tuple(words), probability, weighed.read.text)


def unjudged(weighed: WeighedText) -> Iterator[CheckedWord]:
    """The words of a text that cannot be checked against its line: none is supported."""
    for word in weighed.given.words:
        yield CheckedWord(word, 0.0, Kind.UNSUPPORTED, "", 0.0, float(weighed.width), weighed.reason)


def judged(weighed: WeighedText, evidence: TextEvidence, fit: SupportFit, least: float) -> Iterator[CheckedWord]:
    """The words of a text, and the gaps where words are missing, in order."""
    supported, complete = fit.of_words(evidence), fit.of_gaps(evidence)
    doubted = np.concatenate(([False], supported < least, [False]))
    read = np.array([bool(part) for part in evidence.pairing.gaps])
    # Ink beside a doubtful word is probably its own, and beside an omission the same; unless it was read apart.
    explained = doubted[:-1] | doubted[1:] | np.append(False, read[:-1]) | np.append(read[1:], False)
    missing = (complete < least) & (read | ~explained)
    for number in range(len(evidence.given.words) + 1):
        if missing[number]:
            yield omission(weighed, evidence, number, float(complete[number]))
        if number < len(evidence.given.words):
            yield verdict(weighed, evidence, number, float(supported[number]), least)


def omission(weighed: WeighedText, evidence: TextEvidence, gap: int, probability: float) -> CheckedWord:
    """The verdict on a gap where words are missing."""
    read = evidence.pairing.gaps[gap]
    reason = f"the image reads {read!r} here" if read else "there is writing here that the text does not account for"
    return CheckedWord("", probability, Kind.OMITTED, read, *in_pixels(weighed, evidence.gap_edges[gap]), reason)


def verdict(weighed: WeighedText, evidence: TextEvidence, word: int, probability: float, least: float) -> CheckedWord:
    """The verdict on a word."""
    text, read = evidence.given.words[word], evidence.pairing.words[word]
    places = in_pixels(weighed, evidence.word_edges[word])
    if probability >= least:
        return CheckedWord(text, probability, Kind.SUPPORTED, "", *places)
    if UNKNOWN in evidence.given.written[word]:
        reason = "it has characters that the model cannot read" + (f"; the image reads {read!r}" if read else "")
        return CheckedWord(text, probability, Kind.UNSUPPORTED, read, *places, reason)
    if not read:
        return CheckedWord(text, probability, Kind.INVENTED, "", *places, "there is no writing left for it")
    if read == evidence.given.written[word]:
        return CheckedWord(
            text, probability, Kind.UNSUPPORTED, "", *places, "it can be read here, but the ink is unclear"
        )
    return CheckedWord(text, probability, Kind.UNSUPPORTED, read, *places, f"the image reads {read!r}")


def in_pixels(weighed: WeighedText, edges: Edges) -> tuple[float, float]:
    """Edges in pixels of the image of a text."""
    left, right = (min(edge * weighed.scale, float(weighed.width)) for edge in edges)
    return left, right
