"""Measure fine-tuning on 50, 200 and 1,000 lines of held-out sets, or on some pages of a set by cross-validation.

drethtr model train recipes/finetune_base.toml --output runs/without_three
python recipes/finetune_curve.py runs/without_three/best.safetensors lines runs/curve hooker_en leopold_de cremma19_fr
python recipes/finetune_curve.py MODEL lines runs/pages read16_de --pages 1 4 16 30 --folds 6 --measured 2

For each set, training lines are drawn from FOLDER/SET.train.parquet as whole pages; fine-tuning holds out some of them
for validation, as usual. FOLDER/SET.test.parquet is evaluated. With --folds, the pages of FOLDER/SET.parquet are
divided into folds, each of which is evaluated after training on lines or pages of the others. Finished runs are not
repeated; interrupted ones start over, so that their minutes are those of a whole run. The table is printed and written
to OUT/curve.md.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.base.files import write_text
from drethtr.base.urls import digest_of
from drethtr.datasets.open import open_all
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample, clean_lines
from drethtr.evaluation.evaluate import evaluate
from drethtr.evaluation.metrics import Rates
from drethtr.recognition.recognizer import Recognizer
from drethtr.training.finetuning import Plan, finetune, gather, open_trainer
from drethtr.training.finetuning.material import joined, shuffled_pages


@dataclass(frozen=True)
class Row:
    """The result of one training run: error rates on test lines, and minutes of one processor.

    Few pages have no interval.
    """

    set: str
    lines: int
    method: str
    cer: float
    cer_low: float | None
    cer_high: float | None
    minutes: float


def row_of(name: str, lines: int, method: str, rates: Rates, minutes: float) -> Row:
    """The row of some error rates."""
    low, high = (rates.cer_low, rates.cer_high) if rates.sure else (None, None)
    return Row(name, lines, method, rates.cer, low, high, minutes)


@dataclass(frozen=True)
class Case:
    """Pages to learn from, in random order, and lines of other pages to measure on.

    files  that hold them
    whole  whether amounts to learn from are numbers of pages, not of lines
    """

    name: str
    files: tuple[Path, ...]
    pages: Sequence[Sequence[Sample]]
    test: Sequence[Sample]
    whole: bool

    def lines(self, amount: int) -> Sequence[Sample]:
        """The first lines, or those of the first pages.

        Raises:
            DataError: if there are too few.
        """
        given = joined(self.pages)
        if amount > len(self.pages if self.whole else given):
            unit = "pages" if self.whole else "lines"
            raise DataError(f"{self.name} has fewer than {amount:,} {unit} to train on; ask for fewer")
        return joined(self.pages[:amount]) if self.whole else given[:amount]


def split_case(folder: Path, name: str) -> Case:
    """The case of a set with splits."""
    files = tuple(folder / f"{name}.{part}.parquet" for part in ("train", "test"))
    train, test = (clean_lines(open_all([str(file)])) for file in files)
    return Case(name, files, shuffled_pages(train, seed=0), test, whole=False)


def folds_of(folder: Path, name: str, folds: int, *, whole: bool) -> Iterator[Case]:
    """The cases of a set whose pages are divided into folds."""
    file = folder / f"{name}.parquet"
    pages = shuffled_pages(clean_lines(open_all([str(file)])), seed=0)
    for fold in range(folds):
        others = [page for number, page in enumerate(pages) if number % folds != fold]
        yield Case(f"{name}_fold{fold + 1}", (file,), others, joined(pages[fold::folds]), whole)


WHOLE, ADAPTER = "whole model", "adapter"
ENDINGS = {WHOLE: "", ADAPTER: "_adapter"}


def measured(recognizer: Recognizer, case: Case, lines: int = 0, method: str = "before", minutes: float = 0.0) -> Row:
    """Evaluate a model on the test lines of a case."""
    return row_of(case.name, lines, method, evaluate(recognizer, case.test).overall, minutes)


def learned(model: Path, case: Case, result: Path, amount: int, method: str) -> Row:
    """Fine-tune on some lines of a case, write the model to `result`, and evaluate it."""
    adapter = method == ADAPTER
    lines = case.lines(amount)
    data = result.with_name(f"{case.name}_{amount}.parquet")
    store_parquet(lines, data)
    begun = time.process_time()
    plan = Plan(data=(str(data),), model=str(model), adapter=adapter)
    material = gather(plan)
    with open_trainer(material, result, force=True, workers=0) as trainer:
        better = finetune(material, result, trainer).better
    minutes = (time.process_time() - begun) / 60
    if not better:  # nothing was written
        recognizer = Recognizer.load(model)
    else:
        recognizer = Recognizer.load(model, adapter=result) if adapter else Recognizer.load(result)
    return measured(recognizer, case, len(lines), method, minutes)


def kept(path: Path, files: Sequence[Path], measure: Callable[[], Row]) -> Row:
    """Load a row from its file, or else measure and save it.

    Raises:
        DataError: if the file was measured with other models or lines.
    """
    of = [digest_of((file,)) for file in files]
    if not path.exists():
        write_text(path, json.dumps({"of": of} | asdict(measure())))
    found = json.loads(path.read_text(encoding="utf-8"))
    if found.pop("of", None) != of:
        names = ", ".join(map(str, files))
        raise DataError(f"{path}: measured with other versions of {names}; choose another OUT")
    return Row(**found)


def rows(
    model: Path, cases: Sequence[Case], out: Path, amounts: Sequence[int], methods: Sequence[str]
) -> Iterator[Row]:
    """The rows of the table: before fine-tuning, then each method."""
    for case in cases:
        place = out / f"{case.name}_0.json"
        yield kept(place, (model, *case.files), partial(measured, Recognizer.load(model), case))
    for method in methods:
        for case in cases:
            for amount in amounts:
                result = out / f"{case.name}_{amount}{ENDINGS[method]}.safetensors"
                learn = partial(learned, model, case, result, amount, method)
                yield kept(result.with_suffix(".json"), (model, *case.files), learn)


def table(found: Sequence[Row]) -> str:
    """Format the rows as a Markdown table."""
    lines = ["| set | lines | method | CER | 95% interval | minutes |", "|---|---|---|---|---|---|"]
    for row in found:
        interval = "" if row.cer_low is None or row.cer_high is None else f"{row.cer_low:.1%} to {row.cer_high:.1%}"
        lines.append(f"| {row.set} | {row.lines:,} | {row.method} | {row.cer:.1%} | {interval} | {row.minutes:.1f} |")
    return "\n".join(lines).replace("%", " %") + "\n"


def main() -> None:
    """Measure all rows, writing the table after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a model not trained on these sets")
    parser.add_argument("folder", type=Path, help="folder with SET.train.parquet and SET.test.parquet, or SET.parquet")
    parser.add_argument("out", type=Path, help="a folder for models and the table")
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--lines", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--pages", type=int, nargs="+", help="pages to learn from, instead of lines; with --folds")
    parser.add_argument("--folds", type=int, help="folds to divide the pages into, for cross-validation")
    parser.add_argument("--measured", type=int, help="measure so many folds only")
    wanted = parser.parse_args()
    if wanted.pages and not wanted.folds:
        parser.error("--pages needs --folds")
    wanted.out.mkdir(parents=True, exist_ok=True)
    if wanted.folds:
        whole = wanted.pages is not None
        folds = (
            list(folds_of(wanted.folder, name, wanted.folds, whole=whole))[: wanted.measured] for name in wanted.sets
        )
        cases = [case for of_set in folds for case in of_set]
    else:
        cases = [split_case(wanted.folder, name) for name in wanted.sets]
    methods = (WHOLE,) if wanted.folds else (WHOLE, ADAPTER)
    found: list[Row] = []
    for row in rows(wanted.model, cases, wanted.out, wanted.pages or wanted.lines, methods):
        found.append(row)
        (wanted.out / "curve.md").write_text(table(found), encoding="utf-8")
    print(table(found))  # noqa: T201


if __name__ == "__main__":
    main()
