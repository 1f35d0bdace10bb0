"""How often pages are flagged as a hand that the model does not know, by set and number of lines on the page.

python recipes/unknown_hands.py 'lines/*.val.parquet' others.parquet

Reads some lines of each set with the shipped model in 8 bits, draws pages from them, with repetition, and prints the
percentage of pages whose expected error rate is at least that of an unknown hand.
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
import typer

from drethtr.datasets.open import open_all
from drethtr.evaluation.evaluate import evaluate
from drethtr.recognition.confidence.error_rate import UNKNOWN_HAND, ErrorRate, doubt_of
from drethtr.recognition.protocol import Precision
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

DRAWS = 200
PAGES = (5, 10, 24)
"""Lines on a page."""


def rows(data: Sequence[str], limit: int) -> Iterator[tuple[float, str]]:
    """CER and table row of each set."""
    recognizer = Recognizer.load(precision=Precision.INT8)
    rate = recognizer.model.record.error_rate(recognizer.strategy)
    if rate is None:
        raise SystemExit("the model has no error rate for its decoder: run drethtr model calibrate")
    scores = evaluate(recognizer, open_all(data), limit=limit)
    for name, rates in scores.sets.items():
        readings = [line.reading for line in scores.lines if line.sample.set == name]
        rng = np.random.default_rng(0)
        shares = [share_flagged(rate, readings, lines, rng) for lines in PAGES]
        figures = " | ".join(f"{100 * share:.0f}" for share in shares)
        yield rates.cer, f"| {name} | {100 * rates.cer:.1f} | {100 * rate(doubt_of(readings)).cer:.1f} | {figures} |"


def share_flagged(rate: ErrorRate, readings: Sequence[Reading], lines: int, rng: np.random.Generator) -> float:
    """The share of drawn pages of so many lines that reach the rate of an unknown hand."""
    drawn = (doubt_of(readings[line] for line in rng.integers(len(readings), size=lines)) for _ in range(DRAWS))
    return sum(rate(page).cer >= UNKNOWN_HAND for page in drawn) / DRAWS


def main() -> None:
    """Measure and print the table, the worst set first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help="transcribed lines")
    parser.add_argument("--limit", type=int, default=24, help="lines read of each set")
    arguments = parser.parse_args()
    heading = "| set | CER % | expected CER % |" + "".join(f" {lines} lines |" for lines in PAGES)
    typer.echo(f"{heading}\n|---|" + (2 + len(PAGES)) * "---:|")
    for _, row in sorted(rows(arguments.data, arguments.limit), reverse=True):
        typer.echo(row)


if __name__ == "__main__":
    main()
