"""Lines for bulk reading, an engine without processes, and `drethtr batch` in a separate process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from conftest import written
from PIL import Image
from waiting import until

from drethtr import Reading, Recognizer
from drethtr.bulk.inputs import Part
from drethtr.bulk.worker import Engine, PartOutcome, Work
from drethtr.images.line import Line

IMAGES = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


class Here(Engine):
    """Does the same work in this process."""

    def run(self, parts: Sequence[Part], work: Work) -> Iterator[PartOutcome]:
        reader = work.begin()
        return (reader.read(part) for part in parts)


def line(number: int) -> bytes:
    """An encoded line, with another width and text for every number."""
    file = BytesIO()
    text = f"{'abcdefghij'[number % 10] * (1 + number % 7)} {number:03}"
    Image.fromarray(np.asarray(written(text))).save(file, "PNG")
    return file.getvalue()


def write_shard(
    path: Path, numbers: Iterable[int], cells: Mapping[int, Any] | None = None, group: int = 7, **columns: Any
) -> str:
    """Write lines to a Parquet file in Hugging Face's format; `cells` replace some of them."""
    numbers = list(numbers)
    cells = {number: {"bytes": line(number), "path": None} for number in numbers} | dict(cells or {})
    images = pa.array([cells[number] for number in numbers], IMAGES)
    pq.write_table(pa.table({"image": images, "number": numbers, **columns}), path, row_group_size=group)
    return str(path)


def table(folder: Path) -> list[dict[str, Any]]:
    """The rows of an output folder, read as one table."""
    rows: list[dict[str, Any]] = pq.read_table(folder).to_pylist()
    return rows


def quarantine(folder: Path) -> list[dict[str, Any]]:
    """The rows in quarantine."""
    files = sorted((folder / "_quarantine").glob("*"))
    return [json.loads(row) for file in files for row in file.read_text(encoding="utf-8").splitlines()]


def start(*arguments: object, **variables: str) -> subprocess.Popen[str]:
    """Start `drethtr batch` in its own process group, with these environment variables."""
    command = [sys.executable, "-m", "drethtr", "batch", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "CUDA_VISIBLE_DEVICES": ""} | variables
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_for_parts(run: subprocess.Popen[str], folder: Path, number: int) -> None:
    """Wait for a number of parts, before the run has ended."""
    until(lambda: len(list(folder.glob("*.parquet"))) >= number or run.poll() is not None, 300)
    assert run.poll() is None, run.communicate()


def workers(run: subprocess.Popen[str], mark: str) -> list[int]:
    """The descendants of a run that have `mark` in their command lines."""
    commands, parents = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            commands[int(folder.name)] = (folder / "cmdline").read_bytes().decode(errors="replace")
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    below = {run.pid}
    while grown := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= grown
    return sorted(pid for pid in below - {run.pid} if mark in commands[pid])


def kill(pid: int) -> None:
    """Kill a process."""
    os.kill(pid, signal.SIGKILL)


def load_fragile(model: Path) -> Recognizer:
    """A recognizer whose process is killed by blank lines, as by an image that exhausts the memory."""
    recognizer = Recognizer.load(model)
    read = recognizer.read_lines

    def read_or_die(lines: Sequence[Line]) -> list[Reading]:
        if any(np.ptp(line) == 0 for line in lines):
            kill(os.getpid())
        return read(lines)

    recognizer.read_lines = read_or_die  # type: ignore[method-assign]
    return recognizer


def load_noted(model: Path, notes: Path, device: str) -> Recognizer:
    """A recognizer on the CPU that notes the device it was asked for; the first on cuda:0 is killed, others wait."""
    with notes.open("a") as file:
        file.write(f"{device}\n")
    if notes.read_text().count("cuda:0") == 1 and device == "cuda:0":
        kill(os.getpid())
    until(lambda: notes.read_text().count("cuda:0") == 2, 60)
    return Recognizer.load(model, device="cpu")


def die() -> Recognizer:
    """Get killed while loading a recognizer, as without enough memory."""
    kill(os.getpid())
    raise AssertionError
