"""Measure forgetting: fine-tune on one hand, and evaluate interpolated weights and mixed n-grams on other hands.

python recipes/forgetting.py START MINE.parquet OUT --samples 400 --test MINE.test.parquet KNOWN.parquet OTHERS.parquet

Trains once, like `drethtr model finetune` but without early stopping, then evaluates interpolated weights on each of
the test files, with CTC in int8. An interrupted run is resumed. The table is printed.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from drethtr.datasets.open import open_all
from drethtr.datasets.parquet import store_parquet
from drethtr.evaluation.evaluate import evaluate
from drethtr.recognition.backends import CPU
from drethtr.recognition.decoding.strategies import CTC
from drethtr.recognition.model.file import load_model
from drethtr.recognition.protocol import Precision
from drethtr.recognition.recognizer import Recognizer
from drethtr.training.finetuning import Plan, gather
from drethtr.training.finetuning.interpolation import interpolate, weights_at_start, with_language
from drethtr.training.finetuning.run import run_of
from drethtr.training.loop import LATEST, train

SHARES = ((0.0, 1.0), (1.0, 1.0), (1.0, 0.5), (0.75, 0.8), (0.5, 0.8))
"""Shares of the change of the weights, each with the weight of the old n-grams."""


def rows(start: Path, data: str, out: Path, samples: int, old: Sequence[str], tests: Sequence[str]) -> Iterator[str]:
    """Train, then yield the rows of the table."""
    material = gather(Plan(data=(data,), model=str(start), samples=samples, old_data=tuple(old)))
    train_lines, validation = out / "train.parquet", out / "validation.parquet"
    old_lines = out / "old.parquet" if old else None
    out.mkdir(parents=True, exist_ok=True)
    store_parquet(material.parts.train, train_lines)
    store_parquet(material.parts.validation, validation)
    if old_lines is not None:
        store_parquet(material.old, old_lines)
    run = run_of(material, len(material.parts.train), train_lines, validation, old_lines)
    train(replace(run, patience=None), out / "run", resume=True)
    learned = load_model(out / "run" / LATEST)
    before, record = weights_at_start(run.start, learned), material.start.record
    texts = [sample.text for sample in material.parts.train]
    yield " | ".join(["| share of the change", "old n-grams", *(f"{Path(test).stem} CER %" for test in tests)]) + " |"
    yield "|" + (2 + len(tests)) * "---|"
    for share, kept in SHARES:
        model = replace(with_language(interpolate(before, learned, share), texts, kept), record=record)
        recognizer = Recognizer(model, CTC(), precision=Precision.INT8, device=CPU)
        rates = [f"{100 * evaluate(recognizer, open_all([test])).overall.cer:.1f}" for test in tests]
        yield " | ".join([f"| {share:g}", f"{kept:g}", *rates]) + " |"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("start", type=Path, help="a model not trained on this hand")
    parser.add_argument("data", help="lines of one hand")
    parser.add_argument("out", type=Path, help="a folder for the run")
    parser.add_argument("--samples", type=int, default=400, help="lines to train on, with repetitions")
    parser.add_argument("--old-data", nargs="*", default=(), help="files of lines to mix in")
    parser.add_argument("--test", nargs="+", required=True, help="test files")
    wanted = parser.parse_args()
    for row in rows(wanted.start, wanted.data, wanted.out, wanted.samples, wanted.old_data, wanted.test):
        print(row, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
