"""Simulate a loss of power at each moment of a command: python tests/soak/power.py [update edit index …].

strace records the system calls of a run, which are replayed on a disk that may lose whatever was not flushed. In every
case, results must be as before or as after the run, models, pages and databases must be readable, and in the end
everything reported as written must be there.
"""

import argparse
import shutil
import sys
import tempfile
from hashlib import sha256
from pathlib import Path, PurePosixPath

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS.parent / "src"), str(TESTS)]

from soak.disk import STRACE, Disk, replay  # noqa: E402
from soak.kills import broken, damaged, results, run  # noqa: E402
from soak.scenarios import SCENARIOS  # noqa: E402

USUAL = ("transcribe", "update", "edit", "index", "batch", "calibrate")
"""The default commands; the record of a training is too long."""


def lay_out(folder: Path, root: Path, files: dict[PurePosixPath, bytes]) -> None:
    """Replace the content of a folder by the files of a disk."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path, content in files.items():
        place = folder / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def lose_power(name: str, workshop: Path) -> list[str]:
    """Lose power at every moment of a command; returns all faults."""
    scenario = SCENARIOS[name]
    folder, left, log = workshop / "whole", workshop / "left", workshop / "calls"
    folder.mkdir()
    scenario.prepare(folder)
    before, disk = results(folder, scenario), Disk(folder)
    code, promises = run(folder, scenario, under=(*STRACE, "-o", str(log)))
    expected = results(folder, scenario)
    if code:
        return [f"{name}: a whole run ended with {code}: {(folder / 'log').read_text()[-1000:]}"]
    bad, known = [], set[bytes]()

    def look(moment: int, files: dict[PurePosixPath, bytes]) -> None:
        files = {path: content for path, content in files.items() if path.name not in ("log", ".drethtr.jsonl")}
        digest = sha256()
        for path, content in files.items():
            digest.update(f"{path} {len(content)} ".encode())
            digest.update(content)
        if digest.digest() in known:
            return
        known.add(digest.digest())
        lay_out(left, folder, files)
        found = damaged(left)
        there = results(left, scenario) if not found and scenario.whole else {}
        found += [f"{path}: half" for path, now in there.items() if now not in (before.get(path), expected.get(path))]
        found += [f"{path}: lost" for path in before if scenario.whole and not found and path not in there]
        bad.extend(f"call {moment}: {fault}" for fault in found)

    count = replay(disk, log, look)
    finally_there = next(disk.losses())
    lay_out(left, folder, finally_there)
    if results(left, scenario) != expected:
        bad.append("at the end: not all results are on the disk")
    bad += broken(left, promises)
    bad += [
        f"{path.name}: not followed"
        for path, file in disk.seen.items()
        if file is not None and path.name != "log" and file.with_changes(slice(None)) != Path(path).read_bytes()
    ]
    for fault in bad[:20]:
        print(f"{name}, {fault}", flush=True)  # noqa: T201
    print(f"{name}: {count} calls, {len(known)} disks, {len(bad)} faults", flush=True)  # noqa: T201
    return bad


def main() -> None:
    """Lose power in the named commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", default=USUAL, choices=[*SCENARIOS, USUAL], metavar="COMMAND")
    bad = []
    for name in parser.parse_args().commands:
        with tempfile.TemporaryDirectory() as folder:
            bad += lose_power(name, Path(folder).resolve())
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
