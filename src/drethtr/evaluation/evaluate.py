"""How well a recognizer reads lines whose text is known: the one place that measures.

Validation and test come through here, and both read with the very `Recognizer` that users run.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from drethtr.data.sample import Sample
from drethtr.data.selection import choose, clean_lines
from drethtr.errors import DataError
from drethtr.evaluation.metrics import CONVENTION, Counts, Rates, bootstrap, score
from drethtr.recognizer import Recognizer

READ_TOGETHER = 256
"""Lines decoded at a time: enough for batches of like width, few enough for memory."""


@dataclass(frozen=True)
class Scores:
    """Error rates of each set, by name, and of all lines together.

    left_out    lines not read because their text has editorial signs or uncertain letters, by set
    unknown     characters of the transcriptions that the model cannot write, most frequent first; each is an error
    """

    sets: Mapping[str, Rates]
    overall: Rates
    left_out: Mapping[str, int]
    unknown: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """What `drethtr evaluate --json` writes; rates are fractions."""
        return {
            "convention": CONVENTION,
            "sets": [{"name": name, **plain(rates)} for name, rates in self.sets.items()],
            "overall": plain(self.overall),
            "left_out": dict(self.left_out),
            "unknown": dict(self.unknown),
        }


def evaluate(
    recognizer: Recognizer,
    samples: Sequence[Sample],
    *,
    limit: int | None = None,
    seed: int = 0,
    advance: Callable[[int], object] | None = None,
) -> Scores:
    """Read the clean lines and compare with their texts.

    Args:
        limit: Read only so many lines of each set, drawn by `seed`.
        advance: Told how many lines were read, after each of many steps.

    Raises:
        DataError: naming the sample, if an image cannot be used; or if there is no clean line, or no character of
            the texts is in the model's alphabet.
    """
    chosen = to_read(samples, limit, seed)
    unknown = count_unknown(recognizer, chosen)
    readings = read_texts(recognizer, chosen, advance)
    counts = score([sample.text for sample in chosen], readings)
    pages = [f"{sample.set}/{sample.page}" if sample.page else "" for sample in chosen]
    of_set: dict[str, list[int]] = defaultdict(list)
    for place, sample in enumerate(chosen):
        of_set[sample.set].append(place)
    return Scores(
        sets={name: rates(counts, pages, places) for name, places in sorted(of_set.items())},
        overall=rates(counts, pages, range(len(counts))),
        left_out=dict(sorted(Counter(sample.set for sample in samples if not sample.clean).items())),
        unknown=dict(unknown.most_common()),
    )


def plain(rates: Rates) -> dict[str, Any]:
    """Rates as JSON has them, what they rest on first."""
    values = asdict(rates)
    return {name: values.pop(name) for name in ("lines", "characters")} | values


def to_read(samples: Sequence[Sample], limit: int | None = None, seed: int = 0) -> list[Sample]:
    """The lines that count: clean ones, and at most `limit` of each set.

    Raises:
        DataError: if there are none.
    """
    clean = clean_lines(samples)
    if not clean:
        raise DataError(f"no line to evaluate: none of {len(samples)} has a text without uncertain letters")
    return choose(clean, len(clean) if limit is None else limit, seed)


def count_unknown(recognizer: Recognizer, samples: Sequence[Sample]) -> Counter[str]:
    """How often the texts have each character that the model cannot write.

    Raises:
        DataError: if it can write none of them: the data are of another script.
    """
    texts = ["".join(sample.text.split()) for sample in samples]
    unknown = recognizer.model.tokenizer.count_unknown(texts)
    if unknown and unknown.keys() >= set("".join(texts)):
        shown = "".join(character for character, _ in unknown.most_common(10))
        raise DataError(
            f"no character of the texts is in the model's alphabet (they have {shown!r}); use another model"
        )
    return unknown


def read_texts(
    recognizer: Recognizer, samples: Sequence[Sample], advance: Callable[[int], object] | None = None
) -> list[str]:
    """What the recognizer reads on each line."""
    texts: list[str] = []
    for start in range(0, len(samples), READ_TOGETHER):
        some = samples[start : start + READ_TOGETHER]
        texts.extend(reading.text for reading in recognizer.read([sample.line() for sample in some]))
        if advance is not None:
            advance(len(some))
    return texts


def rates(counts: Sequence[Counts], pages: Sequence[str], places: Sequence[int]) -> Rates:
    """Rates and intervals of the lines at some places."""
    return bootstrap([counts[place] for place in places], [pages[place] for place in places])
