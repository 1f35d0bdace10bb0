"""What the card of a shared model must tell, and what of that is missing.

A card is free JSON that came with the weights, perhaps from a stranger: nothing is taken for granted about its shape.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from drethtr.recognition.model_file import Model

NOT_STATED = "not stated"
"""What `drethtr finetune` writes where only a person can know."""

DATA = ("set", "license", "source")
"""What is to be told of each set of lines that a model learned from; the source names those to thank."""

ENOUGH = {"lines": 100, "drawn": 6}
"""Lines and pages without which an error rate says little of others; of fewer pages no interval is told."""


class Term(NamedTuple):
    """What the license of data may ask of that of the weights, and the names of licenses that ask for it."""

    asked: str
    names: re.Pattern[str]

    def within(self, license: object) -> bool:
        """Whether a license has it."""
        return self.names.search(str(license)) is not None


TERMS = (
    Term(
        "a share-alike license of the weights",
        re.compile(r"by[-_ ]?(nc[-_ ]?)?sa(?![a-z])|share[-_ ]?alike", re.IGNORECASE),
    ),
    Term(
        "a license of the weights that forbids commercial use",
        re.compile(r"by[-_ ]?nc|no[nt]?[-_ ]?(for[-_ ])?commercial", re.IGNORECASE),
    ),
    Term(
        "a license of the weights that forbids derivatives",
        re.compile(r"by[-_ ]?(nc[-_ ]?)?nd(?![a-z])|no[-_ ]?derivative", re.IGNORECASE),
    ),
)

RATE = ("cer_low", "cer", "cer_high")
WER = ("wer_low", "wer", "wer_high")


@dataclass(frozen=True)
class Gap:
    """Something that a card does not tell, and how to add it."""

    what: str
    remedy: str


def gaps(model: Model) -> list[Gap]:
    """What is missing on the card of a model before it should be shared; nothing, if all is there."""
    return [gap for find in (of_data, of_license, of_texts, of_rates, of_confidences) for gap in find(model)]


def of_data(model: Model) -> Iterator[Gap]:
    """Sets of lines without a name, license or source."""
    entries = mappings(model.card.get("data"))
    if not entries:
        yield Gap("the data it learned from", "add a table [[data]] with set, license and source for each set")
    for number, entry in enumerate(entries, 1):
        name = str(entry.get("set") or f"number {number}")
        if lacking := [key for key in DATA if not is_stated(entry.get(key))]:
            yield Gap(
                f"{' and '.join(lacking)} of the data {name!r}",
                f"add a table [[data]] with set = {json.dumps(name, ensure_ascii=False)}, license and source",
            )


def of_license(model: Model) -> Iterator[Gap]:
    """What others may do with the weights: no more than the data allow."""
    own, data = model.card.get("license"), mappings(model.card.get("data"))
    if not is_stated(own):
        remedy = (
            'add license = "CC BY-SA 4.0", which the model in the package asks for, or what those of the data allow'
        )
        yield Gap("the license of the weights", remedy)
        return
    for term in TERMS:
        asking = [entry for entry in data if term.within(entry.get("license"))]
        if asking and not term.within(own):
            names = ", ".join(repr(str(entry.get("set"))) for entry in asking)
            strictest = max(asking, key=lambda entry: sum(term.within(entry["license"]) for term in TERMS))
            asked = json.dumps(str(strictest["license"]), ensure_ascii=False)
            yield Gap(f"{term.asked}, which {names} asks for", f"add license = {asked}, not {own!r}")


def of_texts(model: Model) -> Iterator[Gap]:
    """What the model writes, and how texts were spelled that it learned from."""
    if not alphabet(model).strip():
        yield Gap("an alphabet", "train again on lines with text: this model can write nothing")
    if not is_stated(model.card.get("normalization")):
        yield Gap(
            "the normalization of its texts",
            'add normalization = "NFC; …", and what became of long s, abbreviations and hyphens',
        )


def of_rates(model: Model) -> Iterator[Gap]:
    """An error rate that says something of other lines; whether the model learned from these, nobody can see."""
    evaluation = model.card.get("evaluation")
    overall = evaluation.get("overall") if isinstance(evaluation, Mapping) else None
    remedy = "measure it with drethtr evaluate TEST… --model MODEL --json evaluation.json, and add evaluation.json"
    if isinstance(overall, Mapping) and too_few(overall):
        least = f"{ENOUGH['lines']} lines of {ENOUGH['drawn']} pages"
        yield Gap(f"a character error rate on at least {least}", remedy)
    elif not isinstance(overall, Mapping) or rate_of(overall) is None:
        yield Gap("a character error rate with its interval", remedy)
    elif maker_of(evaluation) is not None and not is_own(evaluation, model):
        yield Gap(f"its own error rate: the figures are of {maker_of(evaluation)}, not of {model.identity}", remedy)


def of_confidences(model: Model) -> Iterator[Gap]:
    """Whether confidences are probabilities."""
    if not model.trust.calibrations:
        yield Gap("a calibration of its confidences", "run drethtr calibrate MODEL VALIDATION…; then measure again")


def is_stated(value: Any) -> bool:
    """Whether an entry says something."""
    return isinstance(value, str) and value.strip() not in ("", NOT_STATED)


def alphabet(model: Model) -> str:
    """Everything that the model writes, token after token."""
    return model.tokenizer.decode(range(model.tokenizer.size))


def mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    """Those items of a list that are tables."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def rate_of(row: Mapping[str, Any], names: Sequence[str] = RATE) -> tuple[float, float, float] | None:
    """The lower end, middle and upper end of a rate; None if they are not all there, or in another order."""
    found = [row.get(name) for name in names]
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
        return None
    try:
        low, middle, high = map(float, found)  # type: ignore[arg-type]
    except OverflowError:  # a whole number of any length is JSON
        return None
    return (low, middle, high) if low <= middle <= high else None


def too_few(row: Mapping[str, Any]) -> bool:
    """Whether a row says that it rests on too few lines or pages."""
    return any(isinstance(row.get(name), int) and row[name] < least for name, least in ENOUGH.items())


def has_rate(row: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Whether a row tells a rate, with its interval or, as of too few pages, without."""
    low, middle, high = names
    if row.get(low) is None and row.get(high) is None:
        row = {**row, low: row.get(middle), high: row.get(middle)}
    return rate_of(row, names) is not None


def figures_of(card: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What `drethtr evaluate` measured, if a card has all of it that a table shows."""
    found = card.get("evaluation")
    if not isinstance(found, Mapping) or not isinstance(found.get("convention"), str):
        return None
    sets, overall = found.get("sets"), found.get("overall")
    if not isinstance(sets, list) or not all(is_row(row) and isinstance(row.get("name"), str) for row in sets):
        return None
    return found if is_row(overall) else None


def is_row(value: Any) -> bool:
    """Whether a value has the figures of a row of a table."""
    if not isinstance(value, Mapping):
        return False
    if not all(has_rate(value, names) or value.get(names[1], "") is None for names in (RATE, WER)):  # none without text
        return False
    return all(isinstance(value.get(name), int) for name in ("lines", "characters"))


def maker_of(evaluation: Any) -> str | None:
    """The name and hash of the model that was measured, if they are told."""
    made_by = evaluation.get("made_by") if isinstance(evaluation, Mapping) else None
    return str(made_by.get("model")) if isinstance(made_by, Mapping) else None


def is_own(evaluation: Any, model: Model) -> bool:
    """Whether figures say that this very model made them."""
    return (maker_of(evaluation) or "").endswith(model.hash[:12])
