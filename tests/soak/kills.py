"""Kill commands, repeat them, and compare the results with those of an uninterrupted run.

Half of the kills come just before a file-system change or SQL statement, at most once each; the others at random
moments. Runs that end before they are killed are not counted.

python tests/soak/kills.py --kills 100 [transcribe update edit index batch train finetune calibrate]
"""

import argparse
import lzma
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS.parent / "src"), str(TESTS)]

from drethtr.base.errors import DrethtrError  # noqa: E402
from drethtr.documents import read_page  # noqa: E402
from drethtr.recognition.model.weights import read_file  # noqa: E402
from soak.client import Promises  # noqa: E402
from soak.scenarios import SCENARIOS, Scenario  # noqa: E402

TIMES = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
STRAY = re.compile(r"\.unfinished$|^\.tmp|\.lock$|\.pages$")


def run(
    folder: Path, scenario: Scenario, *more: str, under: tuple[str, ...] = (), log_name: str = "log", **variables: str
) -> tuple[int, Promises]:
    """Run a command, optionally `under` another; returns its exit code, negative if killed, and what it promised."""
    log_file = folder / log_name
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **variables}
    command = [*under, sys.executable, "-m", "drethtr", *scenario.command, *more]
    with log_file.open("wb") as log:
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as program:
            promises = [] if scenario.client is None else scenario.client(log_file, program)
        return program.returncode, promises


def content(path: Path) -> str:
    """A digest of the relevant content of a file: weights of models, rows of databases, otherwise all but times."""
    if path.suffix == ".safetensors":
        tensors = sorted(read_file(path)[0].items())
        return " ".join(f"{name} {sha256(value.tobytes()).hexdigest()}" for name, value in tensors)
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
            database.create_function("plain", 1, lambda packed: TIMES.sub(b"", lzma.decompress(packed)))
            database.execute("CREATE TEMP VIEW plain_readings AS SELECT page, plain(content) FROM readings")
            names = ["plain_readings" if name == "readings" else name for (name,) in tables]
            rows = [database.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in names]
        return sha256(repr(rows).encode()).hexdigest()
    return sha256(TIMES.sub(b"", path.read_bytes())).hexdigest()


def results(folder: Path, scenario: Scenario) -> dict[str, str]:
    """Digests of the result files, by name."""
    paths = {path for pattern in scenario.results for path in folder.glob(pattern) if path.is_file()}
    found = sorted(path for path in paths if not path.name.startswith("."))  # the record of results contains times
    return {str(path.relative_to(folder)): content(path) for path in found}


def damaged(folder: Path) -> list[str]:
    """Models, pages and databases that cannot be read."""
    readers = {".safetensors": read_file, ".xml": read_page, ".sqlite": check_database}
    bad = []
    for path in folder.rglob("*"):
        if path.suffix not in readers or STRAY.search(path.parent.name):
            continue
        try:
            readers[path.suffix](path)
        except (DrethtrError, sqlite3.Error) as error:
            bad.append(f"{path.name}: {error}")
    return bad


def check_database(path: Path) -> None:
    """Check the integrity of a database, after SQLite has rolled back unfinished changes.

    Raises:
        sqlite3.Error: if it is damaged.
    """
    with closing(sqlite3.connect(path)) as database:
        found = database.execute("PRAGMA integrity_check").fetchall()
    if found != [("ok",)]:
        raise sqlite3.DatabaseError(str(found))


def broken(folder: Path, promises: Promises) -> list[str]:
    """Texts that were confirmed as saved but are not there."""
    bad = []
    for promise in promises:
        [path] = folder.rglob(f"{Path(promise.page).stem}.*.xml")
        text = next(line.text for line in read_page(path).lines if line.id == promise.line)
        if text not in (promise.saved, promise.sent):
            bad.append(f"{path.name} {promise.line}: {promise.saved!r} was saved, {text!r} is there")
    return bad


def strays(folder: Path) -> list[str]:
    """Temporary files left behind."""
    return [str(path.relative_to(folder)) for path in folder.rglob(".*") if STRAY.search(path.name)]


def faults(
    folder: Path,
    scenario: Scenario,
    code: int,
    promises: Promises,
    before: dict[str, str],
    expected: dict[str, str],
) -> list[str]:
    """Find faults after a run that ended with `code`, and after the command was repeated.

    Args:
        before: The results before the run.
        expected: The results of an uninterrupted run.
    """
    found = damaged(folder) or broken(folder, promises)
    for path, now in results(folder, scenario).items() if scenario.whole and not found else ():
        if now not in (expected.get(path), before.get(path)):
            found.append(f"{path} is neither as before nor as after a whole run")
    again = scenario.again if any(folder.glob("*.run/plan.json")) or scenario.command[0] == "train" else ()
    if code and run(folder, scenario, *again)[0]:
        found.append(f"the repeated command failed: {(folder / 'log').read_text()[-1500:]}")
    elif results(folder, scenario) != expected:
        found.append("other results than those of a whole run")
    elif left := strays(folder):
        found.append(f"left behind: {', '.join(left)}")
    return found


def soak(name: str, kills: int, workshop: Path, random_numbers: random.Random) -> list[str]:
    """Kill a command `kills` times; returns all faults."""
    scenario = SCENARIOS[name]
    fresh, whole = workshop / "fresh", workshop / "whole"
    fresh.mkdir()
    scenario.prepare(fresh)
    before = results(fresh, scenario)
    shutil.copytree(fresh, whole)
    count = workshop / "count"
    code, promises = run(whole, scenario, KILL_FOLDER=str(whole), KILL_COUNT=str(count))
    if code or (scenario.client is not None and not promises):
        print(f"{name}: a whole run ended with {code}: {(whole / 'log').read_text()}")  # noqa: T201
        return [f"{name}: a whole run failed"]
    expected, (changes, seconds) = results(whole, scenario), map(float, count.read_text().split())
    bad, killed, runs, confirmed = [], 0, 0, 0
    places = range(1, int(changes) + 1)
    before_changes = sorted(random_numbers.sample(places, min((kills + 1) // 2, len(places))), reverse=True)
    while (killed < kills or is_early(scenario, confirmed)) and runs < 3 * kills + 9:
        runs += 1
        if before_changes or killed >= kills:
            moment, place = 0.0, before_changes.pop() if before_changes else random_numbers.choice(places)
            point, variables = f"change {place}", {"KILL_AT": str(place)}
        else:
            moment = random_numbers.uniform(0, seconds)
            point, variables = f"after {moment:.3f} s", {"KILL_AFTER": str(moment)}
        folder = workshop / "killed"
        shutil.copytree(fresh, folder)
        code, promises = run(folder, scenario, KILL_FOLDER=str(folder), **variables)
        if code == -signal.SIGKILL:
            killed += 1
            confirmed += len(promises)
        elif moment:
            seconds = (seconds + moment) / 2  # it was faster than the timed run
        for fault in faults(folder, scenario, code, promises, before, expected):
            bad.append(f"{point}: {fault}")
            print(f"{name}, {bad[-1]}", flush=True)  # noqa: T201
        shutil.rmtree(folder)
    if is_early(scenario, confirmed):
        bad.append("nothing was confirmed before any kill")
    print(f"{name}: {len(places)} changes, {runs} runs, {killed} killed, {len(bad)} faults", flush=True)  # noqa: T201
    return bad


def is_early(scenario: Scenario, confirmed: int) -> bool:
    """Whether all kills came before the first text that was confirmed: none could be lost."""
    return scenario.client is not None and not confirmed


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
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
