"""Measure the gain from new collections on held-out hands: train on all of them but one, and evaluate on that one.

python recipes/leave_one_out.py START runs/one_out loc_en dhsd_de cremma17_fr bronod_fr tq_mul \
    --also chavigny_fr berlioz_fr --never jls_en

START was not trained on any of the new sets. It gets the alphabet of the shipped model, and keeps its own n-grams in
every row. recipes/leave_one_out.toml is trained from it on old sets only, then on all sets without each of the new
ones; interrupted runs are resumed. There is no model selection: the last weights are evaluated, with CTC. A table is
printed row by row: the held-out set, and the CER in % of sets that were not trained on.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from drethtr.base import config
from drethtr.datasets.open import open_all
from drethtr.evaluation.evaluate import evaluate
from drethtr.recognition.decoding.strategies import CTC
from drethtr.recognition.model.file import SHIPPED, Model, load_model
from drethtr.recognition.recognizer import Recognizer
from drethtr.training.feed.supply import LineSource, Real, SetFactor
from drethtr.training.finetuning.interpolation import weights_at_start
from drethtr.training.loop import LATEST, train
from drethtr.training.run import RunConfig
from drethtr.training.start import FromModel

LINES = 100
"""Maximum test lines of each set."""


def without(run: RunConfig, names: Sequence[str]) -> RunConfig:
    """The run without some sets; the others are sampled more often."""

    def of(source: LineSource) -> LineSource:
        if not isinstance(source, Real):
            return source
        kept = [factor for factor in source.factors if factor.set not in names]
        return replace(source, factors=(*kept, *(SetFactor(set=name, factor=0.0) for name in names)))

    return replace(run, train=tuple(map(of, run.train)))


def rows(
    run: RunConfig, path: Path, out: Path, sets: Sequence[str], also: Sequence[str], never: Sequence[str]
) -> Iterator[str]:
    """Train, and yield the rows of the table, for a run that starts from the model in the file `path`."""
    model, columns = load_model(path), [*sets, *never]
    out_of_all = [name for name in never if Path(f"lines/{name}.train.parquet").exists()]
    start = FromModel(str(path), load_model(SHIPPED).tokenizer.alphabet)
    network = replace(model.network, dropout=0.0, embedding_dropout=0.0)
    run = replace(run, network=network, preparation=model.preparation, start=start)

    def row(name: str, learned: Model, unseen: Sequence[str]) -> str:
        recognizer = Recognizer(replace(learned, record=model.record), CTC())
        found = evaluate(recognizer, open_all([f"lines/{one}.test.parquet" for one in unseen]), limit=LINES)
        rates = [f"{100 * found.sets[one].cer:.1f}" if one in unseen else "" for one in columns]
        return " | ".join([f"| {name}", *rates]) + " |"

    yield " | ".join(["| left out", *columns]) + " |"
    yield "|" + (1 + len(columns)) * "---|"
    train(without(run, [*sets, *also, *out_of_all]), out / "old", resume=True)
    learned = load_model(out / "old" / LATEST)
    yield row("no training", replace(learned, weights=weights_at_start(start, learned)), columns)
    yield row("all new sets", learned, columns)
    for name in sets:
        train(without(run, [name, *out_of_all]), out / name, resume=True)
        yield row(name, load_model(out / name / LATEST), [name, *never])


def main() -> None:
    """Train, measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("start", type=Path, help="a model not trained on the new sets")
    parser.add_argument("out", type=Path, help="a folder for the runs")
    parser.add_argument("sets", nargs="+", help="new sets, each held out once")
    parser.add_argument("--also", nargs="+", default=[], help="new sets to leave out of the training on old sets only")
    parser.add_argument("--never", nargs="+", default=[], help="sets held out from all runs, evaluated after each")
    wanted = parser.parse_args()
    run = config.load(RunConfig, Path(__file__).with_suffix(".toml"))
    for row in rows(run, wanted.start, wanted.out, wanted.sets, wanted.also, wanted.never):
        print(row, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
