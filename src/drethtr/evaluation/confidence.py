"""Measure calibration: whether confidences are probabilities of being correct.

A character that was read is correct if a minimal edit script between reading and transcription keeps it; the same
holds for words. Text that was not read has no confidence and is not counted here; error rates count it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from drethtr.base.arrays import Booleans, Floats
from drethtr.datasets.sample import set_of
from drethtr.evaluation.metrics import Counts, score
from drethtr.evaluation.reading import ScoredLine, by_name
from drethtr.recognition.confidence.evidence import in_both
from drethtr.recognition.reading import Reading
from drethtr.text.normalize import for_scoring

BINS = 10
CHANCE_DRAWS = 100  # each is a pass over all cases, and only their mean is needed
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)

CONVENTION = (
    "ECE: mean difference between confidence and accuracy over ten bins of equal width, weighted by size. AUROC: "
    "probability that an error has lower confidence than a correct item. Error at coverage c: error rate among the "
    "fraction c with the highest confidence. Lines: confidence against the share of correct characters."
)


@dataclass(frozen=True)
class Bin:
    """Items of similar confidence: their number, mean confidence, and accuracy."""

    cases: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Reliability:
    """How reliable confidences are; None if there are no cases.

    auroc     how well confidence separates errors; also None if everything is correct or everything wrong
    bins      from low to high confidence, empty ones omitted
    coverage  error rate among the most confident fraction, by fraction
    """

    cases: int
    right: float | None
    ece: float | None
    auroc: float | None
    bins: tuple[Bin, ...]
    coverage: Mapping[str, float | None]

    @property
    def confidence(self) -> float | None:
        """The mean confidence."""
        return sum(some.cases * some.confidence for some in self.bins) / self.cases if self.cases else None


@dataclass(frozen=True)
class MeasuredConfidence:
    """How well confidences and flags indicate errors.

    calibrated    whether the confidences of all lines are calibrated
    flagged       share of lines with each kind of flag, and with any
    cer_flagged   character error rate of the flagged lines, None if none of them has a text
    cer_unflagged character error rate of the other lines
    """

    characters: Reliability
    words: Reliability
    lines: Reliability
    calibrated: bool
    flagged: Mapping[str, float]
    cer_flagged: float | None
    cer_unflagged: float | None

    def to_json(self) -> dict[str, Any]:
        """The content of `drethtr evaluate --confidence --json`."""
        return {"convention": CONVENTION, **asdict(self)}


def measure_confidence(texts: Sequence[str], readings: Sequence[Reading]) -> MeasuredConfidence:
    """Compare confidences and flags with the transcriptions."""
    characters = [right_characters(text, reading) for text, reading in zip(texts, readings, strict=True)]
    words = [right_words(text, reading) for text, reading in zip(texts, readings, strict=True)]
    sure_characters = [character.confidence for reading in readings for character in reading.characters]
    sure_words = [word.confidence for reading in readings for word in reading.words()]
    read = [
        (reading.confidence, right.mean()) for reading, right in zip(readings, characters, strict=True) if len(right)
    ]
    sure_lines, shares = np.array(read, dtype=np.float64).reshape(-1, 2).T
    kinds = Counter(kind for reading in readings for kind in {flag.kind for flag in reading.flags})
    counts = score(texts, [reading.text for reading in readings])
    flagged = [bool(reading.flags) for reading in readings]
    return MeasuredConfidence(
        characters=reliability(np.array(sure_characters), np.concatenate(characters).astype(np.float64)),
        words=reliability(np.array(sure_words), np.concatenate(words).astype(np.float64)),
        lines=reliability(sure_lines, shares),
        calibrated=all(reading.calibrated for reading in readings),
        flagged={"any": sum(flagged) / len(readings)}
        | {kind: number / len(readings) for kind, number in sorted(kinds.items())},
        cer_flagged=cer_of([line for line, odd in zip(counts, flagged, strict=True) if odd]),
        cer_unflagged=cer_of([line for line, odd in zip(counts, flagged, strict=True) if not odd]),
    )


def measure_sets(lines: Iterable[ScoredLine]) -> dict[str, MeasuredConfidence]:
    """The measurements for each set of lines, sorted by name."""
    return {
        name: measure_confidence([line.sample.text for line in of_set], [line.reading for line in of_set])
        for name, of_set in by_name(lines, set_of).items()
    }


def sets_to_json(sets: Mapping[str, MeasuredConfidence]) -> list[dict[str, Any]]:
    """How reliable the confidences of each set are, in plain values."""
    return [
        {"name": name, "lines": found.lines.cases}
        | {
            level: {key: getattr(one, key) for key in ("cases", "right", "confidence", "ece", "auroc")}
            for level, one in (("characters", found.characters), ("words", found.words))
        }
        for name, found in sets.items()
    ]


def cer_of(counts: Sequence[Counts]) -> float | None:
    """The character error rate of some lines, None without text."""
    total = sum(counts, Counts())
    return total.cer if total.characters else None


def right_characters(text: str, reading: Reading) -> Booleans:
    """Whether each character of a reading is correct, (characters,); those that scoring merges are judged together."""
    kept = in_both(for_scoring(reading.text), for_scoring(text))
    # Appending a letter to each prefix keeps its white space: what scoring strips from the ends is not an error.
    beginnings = (for_scoring(reading.text[:end] + "x") for end in range(1, len(reading.text) + 1))
    places = [len(beginning) - 2 for beginning in beginnings]
    return np.append(kept, True)[np.array(places, dtype=np.int64)]


def right_words(text: str, reading: Reading) -> Booleans:
    """Whether each word of a reading is correct, (words,)."""
    return in_both(for_scoring(reading.text).split(), for_scoring(text).split())


def reliability(confidences: Floats, right: Floats) -> Reliability:
    """Compare confidences (N,) with the truth (N,): 0 or 1, or for lines the share that is correct."""
    bins = bins_of(confidences, right)
    return Reliability(
        cases=len(right),
        right=float(right.mean()) if len(right) else None,
        ece=ece_of(bins) if bins else None,
        auroc=auroc(confidences, right),
        bins=bins,
        coverage={f"{share:g}": error_at(share, confidences, right) for share in COVERAGES},
    )


def ece_of(bins: Sequence[Bin]) -> float:
    """The mean distance of confidence and truth over the cases of some bins."""
    apart = sum(group.cases * abs(group.confidence - group.right) for group in bins)
    return apart / sum(group.cases for group in bins)


def ece_by_chance(probabilities: Floats) -> float:
    """The mean ECE of draws in which each case (N,) is right as often as its probability says.

    With few cases, even perfect probabilities have this ECE.
    """
    rng = np.random.default_rng(0)
    drawn = (rng.random((CHANCE_DRAWS, len(probabilities))) < probabilities).astype(np.float64)
    return float(np.mean([ece_of(bins_of(probabilities, right)) for right in drawn]))


def bins_of(confidences: Floats, right: Floats) -> tuple[Bin, ...]:
    """Bins of similar confidence, each a tenth wide."""
    # A confidence of 1 belongs to the last bin.
    places = np.minimum((confidences * BINS).astype(int), BINS - 1)
    groups = [np.flatnonzero(places == place) for place in range(BINS)]
    return tuple(
        Bin(len(group), float(confidences[group].mean()), float(right[group].mean())) for group in groups if len(group)
    )


def auroc(confidences: Floats, right: Floats) -> float | None:
    """The probability that an error has lower confidence than a correct item, ties counting half.

    Lines count as correct from a share of 0.5 on.
    """
    good = right >= 0.5
    wrongs, rights = int((~good).sum()), int(good.sum())
    if not wrongs or not rights:
        return None
    _, places, sizes = np.unique(confidences, return_inverse=True, return_counts=True)
    # The mean rank of ties, so that equal confidences count half.
    ranks = (sizes.cumsum() - (sizes - 1) / 2)[places]
    return float((ranks[good].sum() - rights * (rights + 1) / 2) / (wrongs * rights))


def error_at(coverage: float, confidences: Floats, right: Floats) -> float | None:
    """The error rate among the most confident fraction, None if it is empty."""
    kept = np.argsort(-confidences, kind="stable")[: round(coverage * len(right))]
    return float(1 - right[kept].mean()) if len(kept) else None
