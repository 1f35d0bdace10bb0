"""Kill commands just before a change of the file system, repeat them, and compare the results with a whole run.

python tests/soak/kills.py --kills 100 [transcribe update batch train finetune calibrate]
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]

import numpy as np  # noqa: E402
from bulk_runs import write_shard  # noqa: E402
from conftest import varied_model, written  # noqa: E402
from PIL import Image  # noqa: E402
from training_runs import RUN, write_lines  # noqa: E402

from drethtr.base.errors import DrethtrError  # noqa: E402
from drethtr.documents import read_page  # noqa: E402
from drethtr.recognition.model_file import save_model  # noqa: E402
from drethtr.recognition.recognizer import Recognizer  # noqa: E402
from drethtr.recognition.weights import read_tensors  # noqa: E402

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
 <Page imageFilename="{}.png" imageWidth="125" imageHeight="40">
  <TextRegion id="r"><Coords points="0,0 124,0 124,39 0,39"/>
   <TextLine id="l"><Coords points="2,2 122,2 122,38 2,38"/><Baseline points="8,25 120,25"/></TextLine>
  </TextRegion>
 </Page>
</PcGts>
"""

TIMES = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
STRAY = re.compile(r"\.unfinished$|^\.tmp|\.lock$|\.pages$")
ON_CPU = ("--device", "cpu")


class Scenario(NamedTuple):
    """A command in a folder with its inputs.

    again     what is added when it is repeated after a kill
    results   patterns of the files that must be as after a whole run; all others must at least be readable
    """

    prepare: Callable[[Path], None]
    command: tuple[str, ...]
    again: tuple[str, ...]
    results: tuple[str, ...]


def model(folder: Path) -> None:
    """A small model with random weights."""
    save_model(varied_model(), folder / "tiny.safetensors")


def scans(folder: Path) -> None:
    """Two images of a line, and a book of two."""
    model(folder)
    (folder / "scans").mkdir()
    images = [Image.fromarray(np.asarray(written(text))) for text in ("abc def", "a cabbage", "fed")]
    images[0].save(folder / "scans" / "a.png")
    images[1].save(folder / "scans" / "book.tif", save_all=True, append_images=images[2:])


def pages(folder: Path) -> None:
    """Two scans with their PAGE files."""
    model(folder)
    (folder / "scans").mkdir()
    for name in "ab":
        Image.fromarray(np.asarray(written(f"{name} line of words"))).save(folder / "scans" / f"{name}.png")
        (folder / "scans" / f"{name}.xml").write_text(PAGE.format(name), encoding="utf-8")


def rows(folder: Path) -> None:
    """Lines in a Parquet file."""
    model(folder)
    write_shard(folder / "lines.parquet", range(8))


def lines(folder: Path) -> None:
    """Lines to learn from and to choose by."""
    model(folder)
    write_lines(folder / "train.parquet", 0, 60)
    write_lines(folder / "val.parquet", 100, 26)
    (folder / "run.toml").write_text(RUN.replace("samples = 96", "samples = 24").replace("every = 32", "every = 12"))


def readings(folder: Path) -> None:
    """Lines of which the model reads every other one right."""
    model(folder)
    (folder / "few").mkdir()
    images = [folder / "few" / f"{number:02}.png" for number in range(26)]
    for number, image in enumerate(images):
        Image.fromarray(np.asarray(written("abc " * (1 + number % 3)))).save(image)
    reader = Recognizer.load(folder / "tiny.safetensors", device="cpu", threads=1)
    for number, (image, reading) in enumerate(zip(images, reader.read(images), strict=True)):
        text = reading.text if number % 2 else reading.text[: len(reading.text) // 2] + "x"
        image.with_suffix(".gt.txt").write_text(text, encoding="utf-8")


BRIEF = ("--samples", "24", "--workers", "0")
MODEL = ("--model", "tiny.safetensors", *ON_CPU)
SCENARIOS = {
    "transcribe": Scenario(
        scans,
        ("transcribe", "scans", "--lines", "whole", "--format", "txt,alto,json,pdf", "--output", "out", *MODEL),
        (),
        ("out/*",),
    ),
    "update": Scenario(pages, ("transcribe", "scans/a.xml", "scans/b.xml", "--update", *MODEL), (), ("scans/*.xml",)),
    "batch": Scenario(
        rows,
        ("batch", "lines.parquet", "--output", "out", "--workers", "1", "--rows-per-part", "4", *MODEL),
        (),
        ("out/*.parquet",),
    ),
    "train": Scenario(
        lines,
        ("train", "run.toml", "--output", "out", "--workers", "0", *ON_CPU),
        ("--resume",),
        ("out/best.safetensors", "out/latest.safetensors"),
    ),
    "finetune": Scenario(
        lines,
        ("finetune", "train.parquet", "--validation", "val.parquet", "--output", "mine.safetensors", *BRIEF, *MODEL),
        ("--resume",),
        ("mine.safetensors",),
    ),
    "calibrate": Scenario(
        readings,
        ("calibrate", "tiny.safetensors", "few", "--decoder", "ctc", "--force", *ON_CPU),
        (),
        ("tiny.safetensors",),
    ),
}


def run(folder: Path, command: tuple[str, ...], **variables: str) -> int:
    """The exit code of a command, below 0 if it was killed."""
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **variables}
    with (folder / "log").open("ab") as log:
        return subprocess.run(
            [sys.executable, "-m", "drethtr.cli", *command], cwd=folder, env=environment, stdout=log, stderr=log
        ).returncode


def content(path: Path) -> str:
    """A digest of what matters in a file: of models the weights, of others all but times."""
    if path.suffix == ".safetensors":
        tensors = sorted(read_tensors(path).items())
        return " ".join(f"{name} {sha256(value.tobytes()).hexdigest()}" for name, value in tensors)
    return sha256(TIMES.sub(b"", path.read_bytes())).hexdigest()


def results(folder: Path, scenario: Scenario) -> dict[str, str]:
    """The contents of the results, by name."""
    paths = {path for pattern in scenario.results for path in folder.glob(pattern) if path.is_file()}
    found = sorted(path for path in paths if not path.name.startswith("."))  # the record of results has times
    return {str(path.relative_to(folder)): content(path) for path in found}


def damaged(folder: Path) -> list[str]:
    """The files of models and pages that cannot be read."""
    bad = []
    for path in folder.rglob("*"):
        if path.suffix not in (".safetensors", ".xml") or STRAY.search(path.parent.name):
            continue
        try:
            (read_tensors if path.suffix == ".safetensors" else read_page)(path)
        except DrethtrError as error:
            bad.append(str(error))
    return bad


def strays(folder: Path) -> list[str]:
    """The temporary files that are left."""
    return [str(path.relative_to(folder)) for path in folder.rglob(".*") if STRAY.search(path.name)]


def soak(name: str, kills: int, workshop: Path, random_numbers: random.Random) -> list[str]:
    """What went wrong when a command was killed so often."""
    scenario = SCENARIOS[name]
    fresh, whole = workshop / "fresh", workshop / "whole"
    fresh.mkdir()
    scenario.prepare(fresh)
    before = results(fresh, scenario)
    shutil.copytree(fresh, whole)
    count = workshop / "count"
    if code := run(whole, scenario.command, KILL_FOLDER=str(whole), KILL_COUNT=str(count)):
        return [f"a whole run ended with {code}: {(whole / 'log').read_text()}"]
    expected, changes = results(whole, scenario), int(count.read_text())
    bad, killed = [], 0
    places = list(range(1, changes + 1))
    points = [random_numbers.choice(places) for _ in range(kills)] if kills < changes else places
    for point in points:
        folder = workshop / "killed"
        shutil.copytree(fresh, folder)
        code = run(folder, scenario.command, KILL_FOLDER=str(folder), KILL_AT=str(point))
        killed += code == -signal.SIGKILL
        bad += [f"change {point}: {fault}" for fault in damaged(folder)]
        final = scenario.results != SCENARIOS["train"].results  # a run that is trained on has other weights
        for path, found in results(folder, scenario).items() if final else ():
            if found not in (expected.get(path), before.get(path)):
                bad.append(f"change {point}: {path} is neither as before nor as after a whole run")
        again = scenario.again if any(folder.glob("*.run/plan.json")) or name == "train" else ()
        if code and run(folder, (*scenario.command, *again)):
            bad.append(f"change {point}: the repeated command failed: {(folder / 'log').read_text()[-1500:]}")
        elif results(folder, scenario) != expected:
            bad.append(f"change {point}: other results than those of a whole run")
        elif left := strays(folder):
            bad.append(f"change {point}: left behind: {', '.join(left)}")
        shutil.rmtree(folder)
    print(f"{name}: {changes} changes, {len(points)} runs, {killed} killed, {len(bad)} faults", flush=True)  # noqa: T201
    return bad


def main() -> None:
    """Soak the named commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", default=list(SCENARIOS), choices=[*SCENARIOS, []], metavar="COMMAND")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    bad = []
    for name in options.commands:
        with tempfile.TemporaryDirectory() as folder:
            bad += soak(name, options.kills, Path(folder).resolve(), random.Random(options.seed))
    for fault in bad:
        print(fault)  # noqa: T201
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
