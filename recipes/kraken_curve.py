"""Train kraken from scratch on the same lines as recipes/finetune_curve.py, in a separate environment.

python -m venv kraken && kraken/bin/pip install kraken==7.1.1
python recipes/kraken_curve.py kraken/bin lines runs/curve hooker_en leopold_de cremma19_fr --lines 200 1000

Run it after finetune_curve.py, which leaves the training and validation lines in OUT. kraken's default network is
trained at its default learning rate on lines 64 pixels high, with batch size one, in bfloat16, on one thread, until it
has seen as many lines as fine-tuning would. The weights with the best validation result are evaluated on
FOLDER/SET.test.parquet. Finished runs are not repeated. The table is printed and written to OUT/kraken.md.
"""

import argparse
import os
import subprocess
import time
from collections.abc import Sequence
from functools import partial
from math import ceil
from pathlib import Path

from finetune_curve import Row, kept, row_of, table

from drethtr.base.errors import DataError
from drethtr.datasets.layouts.folder import store_folder
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample, clean_lines, page_of
from drethtr.evaluation.metrics import Rates, bootstrap, score
from drethtr.training.finetuning.run import samples_for

SPEC = (
    "[1,64,0,1 Cr3,13,32 Do0.1,2 Mp2,2 Cr3,13,32 Do0.1,2 Mp2,2 Cr3,9,64 Do0.1,2 Mp2,2 Cr3,9,64 Do0.1,2 "
    "S1(1x0)1,3 Lbx200 Do0.1,2 Lbx200 Do0.1,2 Lbx200 Do]"
)
"""kraken's default except for the height, 120."""


def listed(samples: Sequence[Sample], folder: Path) -> Path:
    """Write lines as images with text files; returns the file that lists them."""
    store_folder(samples, folder)
    names = folder.with_suffix(".txt")
    names.write_text("".join(f"{path}\n" for path in sorted(folder.glob("*.png"))), encoding="utf-8")
    return names


def trained(programs: Path, run: Path, work: Path) -> float:
    """Train in the folder `work` on the training and validation lines of a fine-tuning run; returns the minutes."""
    train = next(run.glob("*_lines.parquet"), None)
    if train is None:
        raise DataError("has no lines: run finetune_curve.py first; if nothing became better, leave this run out", run)
    learn, choose = clean_lines(open_all([str(train)])), clean_lines(open_all([str(run / "validation.parquet")]))
    files = "-t", listed(learn, work / "train"), "-e", listed(choose, work / "choose")
    rounds = "-q", "fixed", "-N", ceil(samples_for(len(learn)) / len(learn))
    (work / "log").mkdir(exist_ok=True)
    machine = "--threads", 1, "--workers", 0, "--precision", "bf16-mixed"
    how = "-s", SPEC, "-u", "NFC", *rounds, "--log-dir", work / "log", "-o", work / "model"
    started = time.monotonic()
    call(programs / "ketos", *machine, "train", "-f", "path", *files, *how)
    return (time.monotonic() - started) / 60


def measured(programs: Path, test: Sequence[Sample], work: Path) -> Rates:
    """Evaluate the best weights in `work` on the test lines."""
    models = sorted((work / "model").glob("best_*.safetensors"))
    if not models:
        raise DataError(f"{work}: kraken wrote no model")
    listed(test, work / "test")
    read = "-I", work / "test" / "*.png", "-o", ".txt", "ocr", "-s", "-m", models[-1]
    call(programs / "kraken", "--threads", 1, *read)
    texts = [(work / "test" / f"{number:06}.txt").read_text(encoding="utf-8").strip() for number in range(len(test))]
    return bootstrap(score([sample.text for sample in test], texts), list(map(page_of, test)))


def call(program: Path, *arguments: object) -> None:
    """Run a program on one thread; its output is shown if it fails."""
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    if done.returncode:
        raise DataError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def learned(programs: Path, folder: Path, out: Path, name: str, lines: int) -> Row:
    """Train kraken on the lines of a fine-tuning run, and evaluate it."""
    work = out / f"kraken_{name}_{lines}"
    work.mkdir(exist_ok=True)
    minutes = trained(programs, out / f"{name}_{lines}.run", work)
    rates = measured(programs, clean_lines(open_all([str(folder / f"{name}.test.parquet")])), work)
    return row_of(name, lines, "kraken", rates, minutes)


def main() -> None:
    """Measure all rows, writing the table after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path, help="folder of the programs kraken and ketos")
    parser.add_argument("folder", type=Path, help="folder with SET.test.parquet")
    parser.add_argument("out", type=Path, help="the folder of finetune_curve.py")
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--lines", type=int, nargs="+", default=[50, 200, 1000])
    wanted = parser.parse_args()
    found: list[Row] = []
    for name in wanted.sets:
        for lines in wanted.lines:
            train = partial(learned, wanted.programs, wanted.folder, wanted.out, name, lines)
            files = wanted.out / f"{name}_{lines}.parquet", wanted.folder / f"{name}.test.parquet"
            found.append(kept(wanted.out / f"kraken_{name}_{lines}.json", files, train))
            (wanted.out / "kraken.md").write_text(table(found), encoding="utf-8")
    print(table(found))  # noqa: T201


if __name__ == "__main__":
    main()
