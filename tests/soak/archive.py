"""Read a folder of many pages, open it in the editor, and measure memory: python tests/soak/archive.py [5000].

`transcribe` reads small pages with a small model into PAGE files; then `edit` reads the same scans anew while a client
opens each page with its line. Memory is that of all processes of a command together. The exit code is 1 if it grows by
more than a tenth between the first fifth of the pages and the last.
"""

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]

import numpy as np  # noqa: E402
from conftest import varied_model, written  # noqa: E402
from PIL import Image  # noqa: E402
from programs import source_first  # noqa: E402

from drethtr.recognition.model.file import save_model  # noqa: E402
from soak.client import address_of, ask  # noqa: E402
from soak.measures import MORE_MEMORY, held  # noqa: E402

SHARES = (0.02, 0.2, 0.5, 1.0)
"""Shares of the pages after which memory is measured."""

MORE = 20
"""Scans beyond those that are measured, so that the command still runs at the end."""

PATIENCE = 600.0
"""Seconds to wait for the next page."""


def scans(folder: Path, number: int) -> None:
    """Write small scans, each of one line."""
    folder.mkdir()
    for page in range(number):
        Image.fromarray(np.asarray(written(f"page {page}"))).save(folder / f"{page:05}.png")


@contextmanager
def running(place: Path, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command with the small model; what it says is in `log`."""
    command = [sys.executable, "-m", "drethtr", *arguments, "--lines", "whole", "--model", "tiny.safetensors"]
    options = ["--device", "cpu", "--threads", "1"]
    with (
        (place / "log").open("wb") as log,
        subprocess.Popen([*command, *options], cwd=place, env=source_first(), stdout=log, stderr=log) as program,
    ):
        try:
            yield program
        finally:
            program.send_signal(signal.SIGINT)


def pages_read(program: "subprocess.Popen[bytes]", folder: Path, number: int) -> Iterator[Path]:
    """The PAGE files of the scans in order, each as soon as it is there.

    Raises:
        TimeoutError: if one does not come.
    """
    for page in range(number):
        file, end = folder / f"{page:05}.page.xml", time.monotonic() + PATIENCE
        while not file.exists():
            if time.monotonic() > end:
                raise TimeoutError(f"{file.name} was not read; {program.args!r} may have ended")
            time.sleep(0.05)
        yield file


def measure(name: str, number: int, program: "subprocess.Popen[bytes]", steps: Iterator[object]) -> bool:
    """Print the memory of a program after some shares of its steps, and return whether it is flat."""
    moments = {round(share * number) for share in SHARES}
    found = []
    for step, _ in enumerate(steps, start=1):
        if step in moments:
            found.append(held(program.pid, Path("/nowhere")))
            print(f"{name} {step:,} pages: {found[-1].megabytes} MB, {found[-1].descriptors} descriptors", flush=True)  # noqa: T201
    return found[-1].megabytes <= MORE_MEMORY * found[1].megabytes


def opened(program: "subprocess.Popen[bytes]", place: Path, number: int) -> Iterator[None]:
    """Open each page in an editor, with the image of its line, as soon as it is read."""
    address = address_of(place / "log", program)
    ids = {page["name"]: page["id"] for page in ask(f"{address}/api/pages")}
    for file in pages_read(program, place / "edited", number):
        page = ask(f"{address}/api/pages/{ids[file.name.replace('.page.xml', '.png')]}")
        [line] = page["lines"]
        urlopen(f"{address}{line['strip']}", timeout=60).read()
        yield


def main() -> None:
    """Measure both commands."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        save_model(varied_model(), place / "tiny.safetensors")
        scans(place / "scans", number + MORE)
        shutil.copytree(place / "scans", place / "edited")
        with running(place, "transcribe", "scans", "--format", "page", "--output", "out") as program:
            is_flat = measure("transcribe", number, program, pages_read(program, place / "out", number))
        with running(place, "edit", "edited", "--no-browser", "--no-token", "--port", "0") as program:
            is_flat &= measure("edit", number, program, opened(program, place, number))
    sys.exit(not is_flat)


if __name__ == "__main__":
    main()
