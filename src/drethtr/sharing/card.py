"""Model cards: check that a card has all that others need to know, and add entries to it.

A card is free-form JSON stored with the weights, possibly by a stranger, so nothing is assumed about its structure.
Entries come from TOML, or from `drethtr evaluate`, and are checked.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from drethtr.base.config import hint
from drethtr.base.encoding import decoded, json_in
from drethtr.base.errors import DataError
from drethtr.recognition.model.file import Model

NOT_STATED = "not stated"
"""The value that `drethtr model finetune` writes for facts that only the user knows."""

DATA = ("set", "license", "source")
"""Required entries for each training set; the source credits its authors."""

ENOUGH = {"lines": 100, "drawn": 6}
"""Minimum lines and pages for a meaningful error rate; with fewer pages there is no interval."""


class LicenseTerm(NamedTuple):
    """A condition that a data license may impose on the license of the weights, and its pattern in license names."""

    asked: str
    names: re.Pattern[str]

    def within(self, license: object) -> bool:
        """Whether a license has this condition."""
        return self.names.search(str(license)) is not None


TERMS = (
    LicenseTerm(
        "a share-alike license of the weights",
        re.compile(r"by[-_ ]?(nc[-_ ]?)?sa(?![a-z])|share[-_ ]?alike", re.IGNORECASE),
    ),
    LicenseTerm(
        "a license of the weights that forbids commercial use",
        re.compile(r"by[-_ ]?nc|no[nt]?[-_ ]?(for[-_ ])?commercial", re.IGNORECASE),
    ),
    LicenseTerm(
        "a license of the weights that forbids derivatives",
        re.compile(r"by[-_ ]?(nc[-_ ]?)?nd(?![a-z])|no[-_ ]?derivative", re.IGNORECASE),
    ),
)

RATE = ("cer_low", "cer", "cer_high")

WER = ("wer_low", "wer", "wer_high")


@dataclass(frozen=True)
class MissingEntry:
    """Something missing from a card, and how to add it."""

    what: str
    remedy: str


def missing_entries(model: Model, *, is_adapter: bool = False) -> list[MissingEntry]:
    """What is missing from the card of a model before it should be shared; empty if it is complete.

    Args:
        is_adapter: Whether its file is an adapter, which only fine-tuning calibrates.
    """
    gaps = [gap for find in (of_data, of_license, of_texts, of_rates) for gap in find(model)]
    if not model.record.calibrations:
        learn = "run drethtr model finetune --adapter again, on this base model and with more --validation lines"
        remedy = learn if is_adapter else "run drethtr model calibrate MODEL LINES, then evaluate again"
        gaps.append(MissingEntry("calibrated confidences", remedy))
    return gaps


def of_data(model: Model) -> Iterator[MissingEntry]:
    """Training sets without a name, license or source."""
    entries = mappings(model.card.get("data"))
    if not entries:
        yield MissingEntry("the training data", "add a table [[data]] with set, license and source for each set")
    for number, entry in enumerate(entries, 1):
        name = str(entry.get("set") or f"number {number}")
        if lacking := [key for key in DATA if not is_stated(entry.get(key))]:
            yield MissingEntry(
                f"{' and '.join(lacking)} of the data {name!r}",
                f"add a table [[data]] with set = {json.dumps(name, ensure_ascii=False)}, license and source",
            )


def of_license(model: Model) -> Iterator[MissingEntry]:
    """A license of the weights that conflicts with those of the data, or is missing."""
    own, data = model.card.get("license"), mappings(model.card.get("data"))
    if not is_stated(own):
        remedy = 'add license = "CC BY-SA 4.0", which the included model requires, or another one that the data allows'
        yield MissingEntry("the license of the weights", remedy)
        return
    for term in TERMS:
        asking = [entry for entry in data if term.within(entry.get("license"))]
        if asking and not term.within(own):
            names = ", ".join(repr(str(entry.get("set"))) for entry in asking)
            strictest = max(asking, key=lambda entry: sum(term.within(entry["license"]) for term in TERMS))
            asked = json.dumps(str(strictest["license"]), ensure_ascii=False)
            yield MissingEntry(f"{term.asked}, as required by {names}", f"add license = {asked}, not {own!r}")


def of_texts(model: Model) -> Iterator[MissingEntry]:
    """A missing alphabet or text normalization."""
    if not alphabet(model).strip():
        yield MissingEntry("an alphabet", "retrain on lines with text, since this model cannot write anything")
    if not is_stated(model.card.get("normalization")):
        yield MissingEntry(
            "the text normalization",
            'add normalization = "NFC; …", with the treatment of long s, abbreviations and hyphens',
        )


def of_rates(model: Model) -> Iterator[MissingEntry]:
    """A missing or unreliable error rate; whether its lines were used in training cannot be checked."""
    evaluation = model.card.get("evaluation")
    overall = evaluation.get("overall") if isinstance(evaluation, Mapping) else None
    remedy = "run drethtr evaluate TEST… --model MODEL --json evaluation.json, and add evaluation.json"
    if isinstance(overall, Mapping) and too_few(overall):
        least = f"{ENOUGH['lines']} lines of {ENOUGH['drawn']} pages"
        yield MissingEntry(f"a character error rate on at least {least}", remedy)
    elif not isinstance(overall, Mapping) or rate_of(overall) is None:
        yield MissingEntry("a character error rate with its interval", remedy)
    elif maker_of(evaluation) is not None and not is_own(evaluation, model):
        yield MissingEntry(
            f"its own error rate: the metrics are of {maker_of(evaluation)}, not of {model.identity}", remedy
        )


def is_stated(value: Any) -> bool:
    """Whether an entry has content."""
    return isinstance(value, str) and value.strip() not in ("", NOT_STATED)


def alphabet(model: Model) -> str:
    """All characters that the model writes."""
    return model.tokenizer.decode(range(model.tokenizer.size))


def mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    """The items of a list that are tables."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def rate_of(row: Mapping[str, Any], names: Sequence[str] = RATE) -> tuple[float, float, float] | None:
    """A rate with its limits: lower, value, upper; None if incomplete or out of order."""
    found = [row.get(name) for name in names]
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
        return None
    try:
        low, middle, high = map(float, found)  # type: ignore[arg-type]
    except OverflowError:  # JSON allows integers of any length
        return None
    return (low, middle, high) if low <= middle <= high else None


def too_few(row: Mapping[str, Any]) -> bool:
    """Whether the row says that it is based on too few lines or pages."""
    return any(isinstance(row.get(name), int) and row[name] < least for name, least in ENOUGH.items())


def has_rate(row: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Whether a row has a rate, with an interval unless there are too few pages."""
    low, middle, high = names
    if row.get(low) is None and row.get(high) is None:
        row = {**row, low: row.get(middle), high: row.get(middle)}
    return rate_of(row, names) is not None


def figures_of(card: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The metrics from `drethtr evaluate`, if a card has all that a table needs."""
    found = card.get("evaluation")
    if not isinstance(found, Mapping) or not isinstance(found.get("convention"), str):
        return None
    sets, overall = found.get("sets"), found.get("overall")
    if not isinstance(sets, list) or not all(is_row(row) and isinstance(row.get("name"), str) for row in sets):
        return None
    return found if is_row(overall) else None


def is_row(value: Any) -> bool:
    """Whether a value has the metrics of a table row."""
    if not isinstance(value, Mapping):
        return False
    if not all(has_rate(value, names) or value.get(names[1], "") is None for names in (RATE, WER)):  # no text
        return False
    return all(isinstance(value.get(name), int) for name in ("lines", "characters"))


def maker_of(evaluation: Any) -> str | None:
    """The name and hash of the evaluated model, if given."""
    made_by = evaluation.get("made_by") if isinstance(evaluation, Mapping) else None
    return str(made_by.get("model")) if isinstance(made_by, Mapping) else None


def is_own(evaluation: Any, model: Model) -> bool:
    """Whether metrics were measured with this exact model."""
    return (maker_of(evaluation) or "").endswith(model.hash[:12])


class EntryType(NamedTuple):
    """The type of an entry: its name in messages, and a check."""

    name: str
    fits: Callable[[Any], bool]


TEXT = EntryType("a string in quotes", lambda value: isinstance(value, str))

TEXTS = EntryType("a list of strings", lambda value: isinstance(value, list) and all(map(TEXT.fits, value)))

TABLE = EntryType("a table", lambda value: isinstance(value, Mapping))

TABLES = EntryType("tables, each under [[…]]", lambda value: isinstance(value, list) and all(map(TABLE.fits, value)))

ENTRIES = {
    "name": TEXT,
    "description": TEXT,
    "license": TEXT,
    "languages": TEXTS,
    "normalization": TEXT,
    "command": TEXT,
    "history": TEXT,
    "weaknesses": TEXTS,
    "data": TABLES,
    "evaluation": TABLE,
}
"""Known entries of a card; other entries are also allowed."""

MISSPELLED = 0.8
"""Minimum similarity of a misspelled name to a known one; that of `date` to `data` is lower."""


def read_additions(path: Path) -> Mapping[str, Any]:
    """Read entries for a card from a TOML file, or the entry `evaluation` from `drethtr evaluate --json`.

    Raises:
        DataError: if the file is neither.
    """
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise DataError("expected a .toml file with card entries, or a .json file from drethtr evaluate", path)
    try:
        return kind(decoded(path.read_bytes(), path))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be used: {error}", path) from error


def evaluation_of(text: str) -> Mapping[str, Any]:
    """The metrics from `drethtr evaluate` as a card entry."""
    found = json_in(text)
    if not isinstance(found, Mapping) or not {"convention", "sets", "overall"} <= found.keys():
        raise ValueError("not written by drethtr evaluate --json")
    if not isinstance(found["overall"], Mapping) or "cer" not in found["overall"]:  # results of --layout have none
        raise ValueError("has no error rate of lines; evaluate without --layout")
    return {"evaluation": dict(found)}


def refuse_foreign(evaluation: Any, model: Model) -> None:
    """Refuse metrics of another or an unknown model.

    Raises:
        DataError: naming both models.
    """
    if not is_own(evaluation, model):
        maker = maker_of(evaluation) or "an unnamed model"
        raise DataError(f"the metrics are of {maker}, not of {model.identity}; run drethtr evaluate with this model")


def refuse_fewer(evaluation: Any, model: Model) -> None:
    """Refuse metrics on fewer lines than those in the card of this model.

    Raises:
        DataError: naming both numbers.
    """
    earlier = model.card.get("evaluation")
    here, new = lines_of(earlier), lines_of(evaluation)
    if new < here and (maker_of(earlier) is None or is_own(earlier, model)):
        raise DataError(
            f"metrics on {new:,} {'line' if new == 1 else 'lines'} would replace those on {here:,} in the card; "
            "evaluate on more lines, or use --force"
        )


def lines_of(evaluation: Any) -> int:
    """The number of lines behind metrics, 0 if unknown."""
    overall = evaluation.get("overall") if isinstance(evaluation, Mapping) else None
    lines = overall.get("lines") if isinstance(overall, Mapping) else None
    return lines if isinstance(lines, int) else 0


def entries_of(text: str) -> Mapping[str, Any]:
    """Parse entries in TOML; dates and times become strings."""
    found: Mapping[str, Any] = json.loads(json.dumps(tomllib.loads(text), default=str))
    refuse_odd(found, ENTRIES)
    for entry in found.get("data", ()):
        refuse_odd(entry, dict.fromkeys(DATA, TEXT), f" of the data {entry.get('set', '')!r}")
    return found


def refuse_odd(entries: Mapping[str, Any], known: Mapping[str, EntryType], where: str = "") -> None:
    """Refuse entries that would be ignored: names similar to known ones, and known ones of another type.

    Raises:
        ValueError: naming the entry, and the expected name or type.
    """
    for name, value in entries.items():
        if name not in known and (meant := hint(name, known, likeness=MISSPELLED)):
            raise ValueError(f"unknown entry {name!r}{meant}")
        if name in known and not known[name].fits(value):
            shown = json.dumps(value, ensure_ascii=False)
            raise ValueError(f"the entry {name!r}{where} must be {known[name].name}, not {shown:.60}")


KINDS: Mapping[str, Callable[[str], Mapping[str, Any]]] = {".toml": entries_of, ".json": evaluation_of}
"""Readers by file extension."""


def with_entries(card: Mapping[str, Any], additions: Mapping[str, Any]) -> dict[str, Any]:
    """A card with entries added or replaced; training sets are replaced one by one."""
    if "data" not in additions:
        return {**card, **additions}
    added = mappings(additions["data"])
    named = [entry["set"] for entry in added if "set" in entry]
    kept = [entry for entry in mappings(card.get("data")) if entry.get("set") not in named]
    return {**card, **additions, "data": [*kept, *added]}
