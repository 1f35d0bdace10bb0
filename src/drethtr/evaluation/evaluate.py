"""Evaluate a recognizer on transcribed lines.

Validation and test use `evaluate` with the same `Recognizer` as users do. Its parts: `reading` selects and reads the
lines, `count_unknown` counts characters outside the alphabet, and `metrics` counts edits.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any, NamedTuple

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample, grouped, page_of, set_of
from drethtr.evaluation.confidence import MeasuredConfidence, measure_confidence, measure_sets, sets_to_json
from drethtr.evaluation.metrics import (
    CONVENTION,
    WORD_CONVENTION,
    WORD_CONVENTIONS,
    Counts,
    EditKinds,
    Rates,
    Words,
    bootstrap,
    compare,
)
from drethtr.evaluation.reading import Advance, ScoredLine, read_each, to_read
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.normalize import for_scoring, nfc
from drethtr.text.tokenizer import Tokenizer

CER = ("cer", "cer_low", "cer_high")
WER = ("wer", "wer_low", "wer_high")


class BySet(NamedTuple):
    """Rates of each set, sorted by name, and of all lines."""

    sets: Mapping[str, Rates]
    overall: Rates


@dataclass(frozen=True)
class Scores:
    """Error rates of each set, by name, and of all lines together.

    lines            every line that was read, with its errors
    conventions      rates under the other conventions of what a word is (`WORD_CONVENTIONS`), by name
    left_out         lines not read because of editorial marks or uncertain letters, by set
    unreadable       why the images of other lines could not be used
    empty            lines without text, by set: text read there counts as edits and adds no characters
    unknown          characters of the transcriptions outside the alphabet, most frequent first; each is an error
    confidence       how well confidences and flags indicate errors
    confidence_sets  the same for each set
    """

    sets: Mapping[str, Rates]
    overall: Rates
    lines: Sequence[ScoredLine]
    left_out: Mapping[str, int]
    unreadable: Sequence[DataError]
    empty: Mapping[str, int]
    unknown: Mapping[str, int]
    conventions: Mapping[str, BySet]
    confidence: MeasuredConfidence
    confidence_sets: Mapping[str, MeasuredConfidence]

    def to_json(self) -> dict[str, Any]:
        """The content of `drethtr evaluate --json`; rates are fractions."""
        return {
            "convention": CONVENTION,
            "sets": [
                {
                    "name": name,
                    **plain(rates),
                    **wer_of({c: found.sets[name] for c, found in self.conventions.items()}),
                    **sums_of([line.kinds for line in self.lines if line.sample.set == name]),
                }
                for name, rates in self.sets.items()
            ],
            "overall": {
                **plain(self.overall),
                **wer_of({c: found.overall for c, found in self.conventions.items()}),
                **sums_of([line.kinds for line in self.lines]),
            },
            "left_out": dict(self.left_out),
            "unreadable": len(self.unreadable),
            "empty": dict(self.empty),
            "unknown": dict(self.unknown),
            "word_conventions": WORD_CONVENTION,
            "trust": {**self.confidence.to_json(), "sets": sets_to_json(self.confidence_sets)},
        }


def evaluate(
    recognizer: Recognizer,
    samples: Sequence[Sample],
    *,
    limit: int | None = None,
    seed: int = 0,
    advance: Advance | None = None,
) -> Scores:
    """Read the clean lines and compare the readings with their texts; lines whose images cannot be used are left out.

    Args:
        limit: Read at most this many lines of each set, drawn with `seed`.
        advance: Called whenever lines have been read, with their number.

    Raises:
        DataError: if there is no clean line with a text, no character of the texts is in the model's alphabet, or no
            image can be used.
    """
    wanted = to_read(samples, limit, seed)
    unknown = count_unknown(recognizer.model.tokenizer, wanted)
    lines, unreadable = [], []
    for found in read_each(recognizer, wanted, advance):
        if isinstance(found, DataError):
            unreadable.append(found)
        else:
            lines.append(found)
    if not lines:
        raise unreadable[0]
    conventions = {name: by_set(lines, words_of) for name, words_of in WORD_CONVENTIONS.items()}
    usual = conventions.pop("wer")
    return Scores(
        sets=usual.sets,
        overall=usual.overall,
        lines=tuple(lines),
        unreadable=tuple(unreadable),
        left_out=dict(sorted(Counter(sample.set for sample in samples if not sample.clean).items())),
        empty=dict(sorted(Counter(line.sample.set for line in lines if not for_scoring(line.sample.text)).items())),
        unknown=dict(unknown.most_common()),
        conventions=conventions,
        confidence=measure_confidence([line.sample.text for line in lines], [line.reading for line in lines]),
        confidence_sets=measure_sets(lines),
    )


def by_set(lines: Sequence[ScoredLine], words_of: Words) -> BySet:
    """Rates of some lines under one convention of what a word is."""
    counted = [(line.sample, compare(line.sample.text, line.reading.text, words_of)) for line in lines]
    sets = grouped(counted, lambda line: set_of(line[0]))
    return BySet({name: rates_over(of_set) for name, of_set in sets.items()}, rates_over(counted))


def rates_over(lines: Sequence[tuple[Sample, Counts]]) -> Rates:
    """Rates of some lines together, given their errors."""
    return bootstrap([counts for _, counts in lines], [page_of(sample) for sample, _ in lines])


def sums_of(kinds: Sequence[EditKinds]) -> dict[str, int]:
    """The number of edits of each kind, for JSON."""
    return dict(zip(EditKinds._fields, map(sum, zip(*kinds, strict=True)), strict=True))


def wer_of(conventions: Mapping[str, Rates]) -> dict[str, float | None]:
    """Word error rates under several conventions, with their intervals, for JSON."""
    found = {name: plain(rates) for name, rates in conventions.items()}
    return {key.replace("wer", name, 1): rates[key] for name, rates in found.items() for key in WER}


def plain(rates: Rates) -> dict[str, Any]:
    """Rates for JSON, after the amounts of text; null without text, and null intervals for too few pages."""
    values = asdict(rates)
    for rate, *ends in (CER, WER):
        if isnan(values[rate]):
            values |= dict.fromkeys((rate, *ends))
        elif not rates.sure:
            values |= dict.fromkeys(ends)
    return {name: values.pop(name) for name in ("lines", "drawn", "characters")} | values


def count_unknown(tokenizer: Tokenizer, samples: Sequence[Sample]) -> Counter[str]:
    """Count the characters of the texts that a model with this alphabet cannot write.

    Raises:
        DataError: if it can write none of them, because the data are in another script.
    """
    texts = [nfc("".join(sample.text.split())) for sample in samples]
    unknown = tokenizer.count_unknown(texts)
    # All characters are unknown: figures on such lines would say nothing about the model.
    if unknown and unknown.keys() >= set("".join(texts)):
        shown = "".join(character for character, _ in unknown.most_common(10))
        raise DataError(
            f"none of the characters in the texts ({shown!r}) is in the model's alphabet; use another model"
        )
    return unknown
