"""Count lines of data sets that have a text but would be taken for blank paper.

    python docs/measure_blank.py lines/*.val.parquet

A blank line is read as "", so each of these is a lost text, or an image without its text.
"""

import argparse

from drethtr.datasets.open import open_all
from drethtr.recognition.confidence.ink import Ink


def main() -> None:
    """Print such lines, then their number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    lines = [sample for sample in open_all(parser.parse_args().data) if sample.text.strip()]
    blank = [sample for sample in lines if Ink.of(sample.line()).blank]
    for sample in blank:
        print(f"{sample.key}: {sample.text}")  # noqa: T201
    print(f"{len(lines):,} lines with text, {len(blank)} taken for blank paper")  # noqa: T201


if __name__ == "__main__":
    main()
