"""Measure fine-tuning on 50, 200 and 1,000 lines of held-out sets.

drethtr model train recipes/finetune_base.toml --output runs/without_three
python recipes/finetune_curve.py runs/without_three/best.safetensors lines runs/curve hooker_en leopold_de cremma19_fr

For each set, training lines are drawn from FOLDER/SET.train.parquet as whole pages; fine-tuning holds out some of them
for validation, as usual. FOLDER/SET.test.parquet is evaluated. Finished runs are not repeated, and interrupted ones are
resumed. The table is printed and written to OUT/curve.md.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.base.files import atomic_write
from drethtr.base.urls import digest_of
from drethtr.datasets.open import open_all
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import clean_lines
from drethtr.evaluation.evaluate import evaluate
from drethtr.recognition.recognizer import Recognizer
from drethtr.training.finetuning import Plan, finetune, gather
from drethtr.training.finetuning.material import joined, shuffled_pages


@dataclass(frozen=True)
class Row:
    """The result of one training run: error rates on test lines, and minutes of training."""

    set: str
    lines: int
    method: str
    cer: float
    cer_low: float
    cer_high: float
    minutes: float


WHOLE, ADAPTER = "whole model", "adapter"


def measured(recognizer: Recognizer, folder: Path, name: str, lines: int = 0, method: str = "before") -> Row:
    """Evaluate a model on the test lines of a set."""
    rates = evaluate(recognizer, open_all([str(folder / f"{name}.test.parquet")])).overall
    minutes = recognizer.model.card["fine_tuned"]["minutes"] if lines else 0.0
    return Row(name, lines, method, rates.cer, rates.cer_low, rates.cer_high, minutes)


def learned(model: Path, folder: Path, result: Path, name: str, lines: int, method: str) -> Row:
    """Fine-tune on `lines` lines of a set, write the model to `result`, and evaluate it."""
    adapter = method == ADAPTER
    if not result.exists():
        data = result.with_name(f"{name}_{lines}.parquet")
        samples = clean_lines(open_all([str(folder / f"{name}.train.parquet")]))
        if len(samples) < lines:
            raise DataError(f"{name} has only {len(samples):,} lines to train on, not {lines:,}")
        store_parquet(joined(shuffled_pages(samples, seed=0))[:lines], data)
        finetune(gather(Plan(data=(str(data),), model=str(model), adapter=adapter)), result, resume=True)
    recognizer = Recognizer.load(model, adapter=result) if adapter else Recognizer.load(result)
    return measured(recognizer, folder, name, lines, method)


def kept(path: Path, files: Sequence[Path], measure: Callable[[], Row]) -> Row:
    """Load a row from its file, or else measure and save it.

    Raises:
        DataError: if the file was measured with other models or lines.
    """
    of = [digest_of((file,)) for file in files]
    if not path.exists():
        text = json.dumps({"of": of} | asdict(measure()))
        with atomic_write(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    found = json.loads(path.read_text(encoding="utf-8"))
    if found.pop("of", None) != of:
        names = ", ".join(map(str, files))
        raise DataError(f"{path}: measured with other versions of {names}; choose another OUT")
    return Row(**found)


def rows(model: Path, folder: Path, out: Path, names: Sequence[str], amounts: Sequence[int]) -> Iterator[Row]:
    """The rows of the table: before fine-tuning, then whole models, then adapters."""
    files = {name: [model, *(folder / f"{name}.{part}.parquet" for part in ("train", "test"))] for name in names}
    for name in names:
        yield kept(out / f"{name}_0.json", files[name], partial(measured, Recognizer.load(model), folder, name))
    for method, ending in ((WHOLE, ""), (ADAPTER, "_adapter")):
        for name in names:
            for lines in amounts:
                result = out / f"{name}_{lines}{ending}.safetensors"
                learn = partial(learned, model, folder, result, name, lines, method)
                yield kept(result.with_suffix(".json"), files[name], learn)


def table(found: Sequence[Row]) -> str:
    """Format the rows as a Markdown table."""
    lines = ["| set | lines | method | CER % | 95 % interval | minutes |", "|---|---|---|---|---|---|"]
    for row in found:
        interval = f"{100 * row.cer_low:.1f} to {100 * row.cer_high:.1f}"
        lines.append(
            f"| {row.set} | {row.lines:,} | {row.method} | {100 * row.cer:.1f} | {interval} | {row.minutes:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure all rows, writing the table after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a model not trained on these sets")
    parser.add_argument("folder", type=Path, help="folder with SET.train.parquet and SET.test.parquet")
    parser.add_argument("out", type=Path, help="a folder for models and the table")
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--lines", type=int, nargs="+", default=[50, 200, 1000])
    wanted = parser.parse_args()
    wanted.out.mkdir(parents=True, exist_ok=True)
    found: list[Row] = []
    for row in rows(wanted.model, wanted.folder, wanted.out, wanted.sets, wanted.lines):
        found.append(row)
        (wanted.out / "curve.md").write_text(table(found), encoding="utf-8")
    print(table(found))  # noqa: T201


if __name__ == "__main__":
    main()
