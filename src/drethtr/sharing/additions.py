"""Validate entries for a model card, from TOML or `drethtr evaluate`, and add them."""

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from drethtr.base.config import hint
from drethtr.base.errors import DataError
from drethtr.recognition.model.file import Model
from drethtr.sharing.card import DATA, is_own, maker_of, mappings


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
"""Known entries of a card; others are allowed as well."""

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
        return kind(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be used: {error}", path) from error


def evaluation_of(text: str) -> Mapping[str, Any]:
    """The metrics from `drethtr evaluate` as a card entry."""
    found = json.loads(text)
    if not isinstance(found, Mapping) or not {"convention", "sets", "overall"} <= found.keys():
        raise ValueError("not written by drethtr evaluate --json")
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
