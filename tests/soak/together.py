"""Run two programs on the same files at the same time: python tests/soak/together.py --rounds 25 [batches index adopt].

batches  two `batch` into one folder: both end well, with the results of one
index    `index` while `edit` corrects the pages and indexes them too: no text is lost, the index is whole
adopt    `finetune` into the model of a folder whose editor adopts another one: the model is one of the two, and whoever
         comes second is refused
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]

from drethtr.base.errors import NOTHING_BETTER  # noqa: E402
from drethtr.editing.learner import MODEL as ADOPTED  # noqa: E402
from drethtr.recognition.model.weights import read_file  # noqa: E402
from soak.client import Promises, address_of, correct  # noqa: E402
from soak.kills import broken, content, damaged, results, run, strays  # noqa: E402
from soak.scenarios import MODEL, SCENARIOS  # noqa: E402

ADOPTING = """
import sys, time
from functools import partial
from pathlib import Path
from drethtr import Recognizer
from drethtr.base.errors import DataError
from drethtr.editing import Session, Workspace
from drethtr.editing.jobs import State
from drethtr.pages.segmentation import segmentation_named
folder, model = map(Path, sys.argv[1:])
load = partial(Recognizer.load, decoder="greedy", device="cpu", threads=1)
lines = segmentation_named("projection")
with Workspace.open(folder) as scans, Session(scans, load(model), lines, model, load) as session:
    while True:
        job = session.jobs.new("learn", 1)
        session.jobs.update(job, state=State.DONE, result={})
        session.learner.models[job.id] = model
        try:
            session.learner.adopt(job)
            break
        except DataError as error:
            print(error, flush=True)
            time.sleep(0.2)
"""


def batches(folder: Path, delay: float) -> list[str]:
    """Two `batch` into one folder."""
    scenario = SCENARIOS["batch"]
    scenario.prepare(folder)
    whole = folder / "whole"
    shutil.copytree(folder, whole)
    if run(whole, scenario)[0]:
        return ["a run alone failed"]
    with ThreadPoolExecutor() as threads:
        first = threads.submit(run, folder, scenario)
        time.sleep(delay)
        codes = [run(folder, scenario, log_name="log2")[0], first.result()[0]]
    found = [f"exit codes {codes}: {(folder / 'log2').read_text()[-500:]}"] if any(codes) else []
    if results(folder, scenario) != results(whole, scenario):
        found.append("other results than those of a run alone")
    return found + strays(folder)


def indexed_and_corrected(log: Path, server: "subprocess.Popen[bytes]") -> Promises:
    """Let the editor index the folder while its lines are corrected."""
    with urlopen(Request(f"{address_of(log, server)}/api/index", b"", method="POST"), timeout=60):
        return correct(log, server)


def index(folder: Path, delay: float) -> list[str]:
    """`index` beside `edit`, on one index."""
    editing = SCENARIOS["edit"]._replace(client=indexed_and_corrected)
    editing.prepare(folder)
    indexing = SCENARIOS["index"]._replace(
        command=("index", "scans", "--output", "scans/archive.drethtr.sqlite", *MODEL)
    )
    with ThreadPoolExecutor() as threads:
        edited = threads.submit(run, folder, editing)
        time.sleep(delay)
        code, _ = run(folder, indexing, log_name="log2")
        _, promises = edited.result()
    said = (folder / "log2").read_text()
    found = [] if not code or "another process" in said else [f"index ended with {code}: {said[-500:]}"]
    found += ["nothing was saved"] if not promises else broken(folder, promises)
    if run(folder, indexing, log_name="log2")[0]:
        found.append(f"index failed when repeated: {(folder / 'log2').read_text()[-500:]}")
    return found + damaged(folder) + strays(folder)


def adopt(folder: Path, delay: float) -> list[str]:
    """`finetune` into the model of a folder beside an editor that adopts another one."""
    SCENARIOS["edit"].prepare(folder)
    tuning = SCENARIOS["finetune"]
    tuning.prepare(folder)
    model = folder / "scans" / ADOPTED
    tuning = tuning._replace(
        command=tuple(str(model) if part == "mine.safetensors" else part for part in tuning.command)
    )
    learned = folder / ADOPTED
    shutil.copy(folder / "tiny.safetensors", learned)
    adopting = [sys.executable, "-c", ADOPTING, str(model.parent), str(learned)]
    with ThreadPoolExecutor() as threads:
        tuned = threads.submit(run, folder, tuning)
        time.sleep(delay)
        with subprocess.Popen(adopting, stdout=subprocess.PIPE, text=True) as other:
            while other.poll() is None:
                time.sleep(0.02)
                if model.exists():
                    read_file(model)
            assert other.stdout is not None
            refused = other.stdout.read()
        code, _ = tuned.result()
    said = (folder / "log").read_text()
    found = strays(folder)
    if other.returncode:
        found.append(f"adopting ended with {other.returncode}")
    if code not in (0, NOTHING_BETTER) and "exists" not in said and "being written" not in said:
        found.append(f"finetune ended with {code}: {said[-500:]}")
    if content(model) != content(learned):
        found.append(f"the adopted model was replaced; refused: {refused!r}")
    return found


PAIRS: dict[str, Callable[[Path, float], list[str]]] = {"batches": batches, "index": index, "adopt": adopt}


def main() -> None:
    """Run the named pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="*", default=list(PAIRS), choices=[*PAIRS, []], metavar="PAIR")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--longest", type=float, default=20, help="most seconds by which the second program is later")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chances, bad = random.Random(options.seed), 0
    for name in options.pairs:
        found = []
        for _ in range(options.rounds):
            delay = chances.uniform(0, options.longest)
            with tempfile.TemporaryDirectory() as folder:
                faults = PAIRS[name](Path(folder).resolve(), delay)
            found += faults
            for fault in faults:
                print(f"{name}, {delay:.1f} s later: {fault}", flush=True)  # noqa: T201
        print(f"{name}: {options.rounds} rounds, {len(found)} faults", flush=True)  # noqa: T201
        bad += len(found)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
