"""What a person adds to a card: entries from TOML, and measured figures; refused if they do not belong there."""

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from drethtr.base.config import hint
from drethtr.base.errors import DataError
from drethtr.recognition.model_file import Model
from drethtr.sharing.card import DATA, is_own, maker_of, mappings


class Kind(NamedTuple):
    """What an entry has to be, and whether a value is that."""

    name: str
    fits: Callable[[Any], bool]


TEXT = Kind("a text in quotes", lambda value: isinstance(value, str))
TEXTS = Kind("a list of texts", lambda value: isinstance(value, list) and all(map(TEXT.fits, value)))
TABLE = Kind("a table", lambda value: isinstance(value, Mapping))
TABLES = Kind("tables, each under [[…]]", lambda value: isinstance(value, list) and all(map(TABLE.fits, value)))

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
"""What people put on a card and programs look for; anything else may stand there, too."""

MISSPELT = 0.8
"""So alike is a word to the one that it stands for; `date` is less like `data`."""


def read_additions(path: Path) -> Mapping[str, Any]:
    """Entries for a card: a TOML file of them, or what `drethtr evaluate --json` wrote as the one `evaluation`.

    Raises:
        DataError: if the file is neither.
    """
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise DataError(f"{path}: entries for a card are in a .toml file, measured figures in a .json file")
    try:
        return kind(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be used: {error}") from error


def evaluation_of(text: str) -> Mapping[str, Any]:
    """Figures of `drethtr evaluate` as an entry for a card."""
    found = json.loads(text)
    if not isinstance(found, Mapping) or not {"convention", "sets", "overall"} <= found.keys():
        raise ValueError("not what drethtr evaluate --json writes")
    return {"evaluation": dict(found)}


def refuse_foreign(evaluation: Any, model: Model) -> None:
    """Refuse figures that another model made, or nobody says which.

    Raises:
        DataError: naming both.
    """
    if not is_own(evaluation, model):
        maker = maker_of(evaluation) or "a model that is not named"
        raise DataError(f"figures of {maker} are not those of {model.identity}: measure it with drethtr evaluate")


def refuse_fewer(evaluation: Any, model: Model) -> None:
    """Refuse figures on fewer lines than those that the card has of this very model.

    Raises:
        DataError: naming both numbers.
    """
    earlier = model.card.get("evaluation")
    here, new = lines_of(earlier), lines_of(evaluation)
    if new < here and (maker_of(earlier) is None or is_own(earlier, model)):
        raise DataError(
            f"figures on {new:,} {'line' if new == 1 else 'lines'} would replace those on {here:,} that the card has; "
            "measure on more, or give --force"
        )


def lines_of(evaluation: Any) -> int:
    """How many lines figures rest on, as far as they say."""
    overall = evaluation.get("overall") if isinstance(evaluation, Mapping) else None
    lines = overall.get("lines") if isinstance(overall, Mapping) else None
    return lines if isinstance(lines, int) else 0


def entries_of(text: str) -> Mapping[str, Any]:
    """Entries in TOML; dates and times, which no card can hold, as text."""
    found: Mapping[str, Any] = json.loads(json.dumps(tomllib.loads(text), default=str))
    refuse_odd(found, ENTRIES)
    for entry in found.get("data", ()):
        refuse_odd(entry, dict.fromkeys(DATA, TEXT), f" of the data {entry.get('set', '')!r}")
    return found


def refuse_odd(entries: Mapping[str, Any], known: Mapping[str, Kind], where: str = "") -> None:
    """Refuse what nobody would look at: names that are nearly those of known entries, and known ones of another kind.

    Raises:
        ValueError: naming the entry, and what was meant.
    """
    for name, value in entries.items():
        if name not in known and (meant := hint(name, known, likeness=MISSPELT)):
            raise ValueError(f"an entry is called {name!r}{meant}")
        if name in known and not known[name].fits(value):
            shown = json.dumps(value, ensure_ascii=False)
            raise ValueError(f"the entry {name!r}{where} has to be {known[name].name}, not {shown:.60}")


KINDS: Mapping[str, Callable[[str], Mapping[str, Any]]] = {".toml": entries_of, ".json": evaluation_of}
"""How entries are read from a file, by its ending."""


def with_entries(card: Mapping[str, Any], additions: Mapping[str, Any]) -> dict[str, Any]:
    """A card with entries added or replaced; of the data, those of a set that is added go and the others stay."""
    if "data" not in additions:
        return {**card, **additions}
    added = mappings(additions["data"])
    named = [entry["set"] for entry in added if "set" in entry]
    kept = [entry for entry in mappings(card.get("data")) if entry.get("set") not in named]
    return {**card, **additions, "data": [*kept, *added]}
