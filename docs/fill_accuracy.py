"""Fill the rows of sets in docs/model.md and docs/comparison.md with the results of `drethtr evaluate`.

drethtr evaluate 'lines/*.test.parquet' --json joint.json
drethtr evaluate 'lines/*.test.parquet' --decoder careful --json careful.json
python docs/fill_accuracy.py joint.json careful.json

Prints the CER of groups of sets, for the last row of each table and for the text beside them, which stay as they are.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

DOCS = Path(__file__).parent
TABLES = (DOCS / "model.md", DOCS / "comparison.md")
SET = re.compile(r"\b[a-z]\w*_(?:de|en|fr|mul)\b")
SINCE_0_2_0 = r"bundesrat|senat|read17|tna_|htromance17|htrogene16"
GROUPS = {
    "all": r".",
    "newer sets": SINCE_0_2_0,
    "older sets": rf"(?!{SINCE_0_2_0})",
    "English": r".*_en$",
    "French": r".*_fr$",
    "German": r".*_de$",
    "Italian and Spanish": r"htrogene16_mul$",
}

Rates: TypeAlias = Mapping[str, Any]
Column: TypeAlias = Callable[[Rates, Rates], str]
"""A cell from the rates of a set with `joint` and with `careful`."""


def with_interval(rates: Rates, rate: str, bold: str = "") -> str:
    """A rate in %, with its interval where the set has enough pages."""
    low, high = rates[f"{rate}_low"], rates[f"{rate}_high"]
    text = f"{bold}{100 * rates[rate]:.1f}{bold}"
    return text if low is None else f"{text} [{100 * low:.1f}, {100 * high:.1f}]"


COLUMNS: Mapping[str, Column] = {
    "CER": lambda joint, careful: with_interval(joint, "cer"),
    "WER": lambda joint, careful: with_interval(joint, "wer"),
    "with `careful`": lambda joint, careful: f"{100 * careful['cer']:.1f}",
    "CER with `careful`": lambda joint, careful: f"{100 * careful['cer']:.1f}",
    "drethtr": lambda joint, careful: with_interval(joint, "cer", bold="**"),
}


def filled(text: str, joint: Mapping[str, Rates], careful: Mapping[str, Rates]) -> str:
    """A page whose tables have new figures: in rows that name one set, in columns of these names."""
    lines, header = text.split("\n"), list[str]()
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            header = []
            continue
        cells = line.split("|")
        if not header:
            header = [cell.strip() for cell in cells]
        elif len(named := set(SET.findall(line)) & joint.keys()) == 1:
            (name,) = named
            for place, column in enumerate(header):
                if column in COLUMNS:
                    cells[place] = f" {COLUMNS[column](joint[name], careful[name])} "
            lines[number] = "|".join(cells)
    return "\n".join(lines)


def overall(sets: Mapping[str, Rates], pattern: str) -> float:
    """CER of the sets with such names together, in %."""
    chosen = [rates for name, rates in sets.items() if re.match(pattern, name)]
    edits = sum(rates["cer"] * rates["characters"] for rates in chosen)
    return float(100 * edits / sum(rates["characters"] for rates in chosen))


def by_name(path: Path) -> dict[str, Rates]:
    return {rates["name"]: rates for rates in json.loads(path.read_text(encoding="utf-8"))["sets"]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("joint", type=Path)
    parser.add_argument("careful", type=Path)
    arguments = parser.parse_args()
    joint, careful = by_name(arguments.joint), by_name(arguments.careful)
    if missing := joint.keys() - set(SET.findall(TABLES[0].read_text(encoding="utf-8"))):
        sys.exit(f"{TABLES[0]} has no row for {', '.join(sorted(missing))}; add it")
    for page in TABLES:
        page.write_text(filled(page.read_text(encoding="utf-8"), joint, careful), encoding="utf-8")
    for group, pattern in GROUPS.items():
        if not any(re.match(pattern, name) for name in joint):
            continue
        print(f"{group:20} {overall(joint, pattern):5.1f}   careful {overall(careful, pattern):5.1f}")  # noqa: T201
