"""Evaluate a recognizer on transcribed lines.

Validation and test use `evaluate` with the same `Recognizer` as users do. Its parts: `to_read` selects the lines,
`read_each` reads them, `count_unknown` counts characters outside the alphabet, and `metrics.score` counts edits.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any, NamedTuple, TypeAlias

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample, choose, clean_lines, line_or_error, open_sample, page_of, set_of
from drethtr.evaluation.confidence import Trustworthiness, measure_sets, measure_trust, sets_to_json
from drethtr.evaluation.metrics import (
    CONVENTION,
    WORD_CONVENTION,
    WORD_CONVENTIONS,
    EditKinds,
    Rates,
    Words,
    bootstrap,
    compare,
)
from drethtr.evaluation.reading import ScoredLine, by_name
from drethtr.images.line import Line
from drethtr.recognition.batching import in_groups
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import READ_TOGETHER, Recognizer
from drethtr.text.normalize import for_scoring

CER = ("cer", "cer_low", "cer_high")
WER = ("wer", "wer_low", "wer_high")

Advance: TypeAlias = Callable[[int], object]
"""Called whenever lines have been read, with their number."""


class BySet(NamedTuple):
    """Rates of each set, sorted by name, and of all lines."""

    sets: Mapping[str, Rates]
    overall: Rates


@dataclass(frozen=True)
class Scores:
    """Error rates of each set, by name, and of all lines together.

    lines       every line that was read, with its errors
    conventions rates under the other conventions of what a word is (`WORD_CONVENTIONS`), by name
    left_out    lines not read because of editorial marks or uncertain letters, by set
    unreadable  why the images of other lines could not be used
    empty       lines without text, by set: text read there counts as edits and adds no characters
    unknown     characters of the transcriptions outside the alphabet, most frequent first; each is an error
    trust       how well confidences and flags indicate errors
    trust_sets  the same for each set
    """

    sets: Mapping[str, Rates]
    overall: Rates
    lines: Sequence[ScoredLine]
    left_out: Mapping[str, int]
    unreadable: Sequence[DataError]
    empty: Mapping[str, int]
    unknown: Mapping[str, int]
    conventions: Mapping[str, BySet]
    trust: Trustworthiness
    trust_sets: Mapping[str, Trustworthiness]

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
            "trust": {**self.trust.to_json(), "sets": sets_to_json(self.trust_sets)},
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
    unknown = count_unknown(recognizer, wanted)
    lines, unreadable = [], []
    for sample, found in read_each(recognizer, wanted, advance):
        if isinstance(found, DataError):
            unreadable.append(found)
        else:
            lines.append(ScoredLine(sample, found))
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
        trust=measure_trust([line.sample.text for line in lines], [line.reading for line in lines]),
        trust_sets=measure_sets(lines),
    )


def by_set(lines: Sequence[ScoredLine], words_of: Words) -> BySet:
    """Rates of some lines under one convention of what a word is."""
    sets = {name: rates_over(of_set, words_of) for name, of_set in by_name(lines, set_of).items()}
    return BySet(sets, rates_over(lines, words_of))


def rates_over(lines: Sequence[ScoredLine], words_of: Words) -> Rates:
    """Rates of some lines together."""
    counts = [compare(line.sample.text, line.reading.text, words_of) for line in lines]
    return bootstrap(counts, [page_of(line.sample) for line in lines])


def sums_of(kinds: Sequence[EditKinds]) -> dict[str, int]:
    """The number of edits of each kind, for JSON."""
    return dict(zip(EditKinds._fields, map(sum, zip(*kinds, strict=True)), strict=True))


def wer_of(conventions: Mapping[str, Rates]) -> dict[str, float | None]:
    """Word error rates under several conventions, with their intervals, for JSON."""
    ends = ("", "_low", "_high")
    return {f"{name}{end}": plain(rates)[f"wer{end}"] for name, rates in conventions.items() for end in ends}


def plain(rates: Rates) -> dict[str, Any]:
    """Rates for JSON, after the amounts of text; null without text, and null intervals for too few pages."""
    values = asdict(rates)
    for rate, *ends in (CER, WER):
        if isnan(values[rate]):
            values |= dict.fromkeys((rate, *ends))
        elif not rates.sure:
            values |= dict.fromkeys(ends)
    return {name: values.pop(name) for name in ("lines", "drawn", "characters")} | values


def to_read(samples: Sequence[Sample], limit: int | None = None, seed: int = 0) -> list[Sample]:
    """The lines to evaluate: clean ones, and at most `limit` of each set.

    Raises:
        DataError: if there are none, or none of them has a text.
    """
    clean = clean_lines(samples)
    if not clean:
        raise DataError(f"no lines to evaluate: none of {len(samples)} lines has a text without uncertain letters")
    chosen = choose(clean, len(clean) if limit is None else limit, seed)
    if not any(for_scoring(sample.text) for sample in chosen):
        raise DataError(f"no lines to evaluate: all {len(chosen)} texts are empty; add transcribed lines")
    return chosen


def count_unknown(recognizer: Recognizer, samples: Sequence[Sample]) -> Counter[str]:
    """Count the characters of the texts that the model cannot write.

    Raises:
        DataError: if it can write none of them, because the data are in another script.
    """
    texts = ["".join(sample.text.split()) for sample in samples]
    unknown = recognizer.model.tokenizer.count_unknown(texts)
    # All characters unknown: figures of such lines would say nothing about the model.
    if unknown and unknown.keys() >= set("".join(texts)):
        shown = "".join(character for character, _ in unknown.most_common(10))
        raise DataError(
            f"none of the characters in the texts ({shown!r}) is in the model's alphabet; use another model"
        )
    return unknown


def read_lines(recognizer: Recognizer, samples: Sequence[Sample], advance: Advance | None = None) -> list[Reading]:
    """Read each line.

    Raises:
        DataError: naming the sample, if an image cannot be used.
    """
    readings: list[Reading] = []
    for some in portions(recognizer, samples, advance):
        readings += recognizer.read_lines([line for _, line in some])
    return readings


def read_each(
    recognizer: Recognizer, samples: Sequence[Sample], advance: Advance | None = None
) -> Iterator[tuple[Sample, Reading | DataError]]:
    """Yield each sample with its reading, or with the error if its image cannot be used."""
    lines = ((sample, line_or_error(recognizer, sample)) for sample in samples)
    for found in recognizer.read_opened(lines):
        yield found
        if advance is not None:
            advance(1)


def portions(
    recognizer: Recognizer, samples: Sequence[Sample], advance: Advance | None = None
) -> Iterator[list[tuple[Sample, Line]]]:
    """Yield the samples with their images, in groups to read together.

    A group counts as read when the next one is requested.
    """
    for some in in_groups(((sample, open_sample(recognizer, sample)) for sample in samples), READ_TOGETHER):
        yield some
        if advance is not None:
            advance(len(some))
