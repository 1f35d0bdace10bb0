"""Measure how large the package is, and how much of it a reader of the code meets: `make walks`.

A walk is what one job enters: distinct files and functions of the package, in all threads, counted by a profile
function. Each job runs once before it is measured, so that neither imports nor caches count. Child processes, which
open foreign images with limits, are not seen.

Another version of the package is measured with `PYTHONPATH=OTHER/src python docs/measure_walks.py`.
"""

import ast
import os
import shutil
import sys
import threading
import tokenize
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from inspect import CO_NEWLOCALS
from io import BytesIO, TextIOWrapper
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

import drethtr
from drethtr.cli.main import main
from drethtr.documents.read import parse_page
from drethtr.editing.changes import LineEdit
from drethtr.editing.workspace import Workspace

ROOT = Path(__file__).parents[1]
LINE = ROOT / "samples" / "000000.png"
SCAN = ROOT / "samples" / "page" / "letter.jpg"
PACKAGE = Path(drethtr.__file__).parent
READING = ("--decoder", "ctc", "--threads", "1")


def command(*arguments: object) -> None:
    """Run a command of `drethtr` and drop what it prints.

    Raises:
        RuntimeError: with what it printed, if it fails.
    """
    said = TextIOWrapper(BytesIO(), encoding="utf-8")
    sys.argv = ["drethtr", *map(str, arguments)]
    try:
        with redirect_stdout(said), redirect_stderr(said):
            main()
    except SystemExit as end:
        if end.code:
            said.seek(0)
            raise RuntimeError(f"{' '.join(sys.argv)}: {said.read()}") from end


def walk(job: Callable[[], object]) -> tuple[int, int]:
    """The number of files and functions of the package that a job enters; comprehensions and lambdas do not count."""
    entered: set[CodeType] = set()

    def see(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            entered.add(frame.f_code)

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        job()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    ours = [code for code in entered if Path(code.co_filename).is_relative_to(PACKAGE)]
    functions = [code for code in ours if code.co_flags & CO_NEWLOCALS and not code.co_name.startswith("<")]
    return len({code.co_filename for code in functions}), len(functions)


opened: list[str] = []
"""The paths of all files opened by this process, while `opens` runs."""


def opens(path: Path, job: Callable[[], object]) -> int:
    """How often a job opens a file."""
    opened.clear()
    job()
    return sum(name == str(path) for name in opened)


def parses(job: Callable[[], object]) -> int:
    """How often a job parses the description of a page."""
    count = 0

    def see(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is parse_page.__code__

    sys.setprofile(see)
    try:
        job()
    finally:
        sys.setprofile(None)
    return count


def note(event: str, arguments: tuple[Any, ...]) -> None:
    """Note an opened file; an audit hook."""
    if event == "open" and isinstance(arguments[0], str | os.PathLike):
        name, mode, _ = os.fspath(arguments[0]), *arguments[1:]
        if mode is not None or opened[-1:] != [name]:  # `open` with an opener tells twice
            opened.append(name)


def lines_below_values(code: str) -> int:
    """The lines of texts that stand below an assignment, and say what its value means and why it is what it is."""
    bodies = (getattr(node, "body", None) for node in ast.walk(ast.parse(code)))
    count = 0
    for body in bodies:
        for before, after in pairwise(body if isinstance(body, list) else ()):
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if is_text and isinstance(before, ast.Assign | ast.AnnAssign):
                count += (after.end_lineno or after.lineno) - after.lineno + 1
    return count


def size_rows() -> list[tuple[str, str]]:
    """The size of the package: its Python files, their lines, and how many of the lines explain code or values."""
    lines, comments, below = {}, 0, 0
    for path in sorted(PACKAGE.rglob("*.py")):
        with tokenize.open(path) as file:
            tokens = list(tokenize.generate_tokens(file.readline))
        code = path.read_text(encoding="utf-8")
        lines[path.relative_to(PACKAGE).as_posix()] = len(code.splitlines())
        comments += sum(token.type == tokenize.COMMENT for token in tokens)
        below += lines_below_values(code)
    largest, total = max(lines, key=lambda name: lines[name]), sum(lines.values())
    return [
        ("Python files in the wheel", f"{len(lines):,}"),
        ("their lines", f"{total:,}"),
        ("largest file", f"{lines[largest]:,} lines, `{largest}`"),
        ("median file", f"{median(lines.values()):.0f} lines"),
        ("lines with a comment", f"{comments / total:.1%}"),
        ("lines of docstrings below values", f"{below / total:.1%}"),
    ]


def correction(workspace: Workspace, text: str) -> Callable[[], object]:
    """The job that corrects the first line of the only page of a folder."""
    [page] = workspace.folder_pages
    line = workspace.opened(page).lines[0]
    return lambda: workspace.edit_line(page, line.id, line.revision, LineEdit(text=text))


def job_rows(folder: Path) -> list[tuple[str, str]]:
    """What the jobs enter, and how often they open the description of a page."""
    scans = folder / "scans"
    scans.mkdir()
    shutil.copy(SCAN, scans)

    def entered(job: Callable[[], object]) -> str:
        files, functions = walk(job)
        return f"{files} files, {functions} functions"

    def read_line() -> None:
        command("transcribe", LINE, *READING)

    def read_page(output: str) -> None:
        command("transcribe", scans / SCAN.name, "--format", "page", "--output", folder / output, *READING)

    read_line()
    read_page("scans")
    rows = [
        ("run by `drethtr transcribe` of a line", entered(read_line)),
        ("run by `drethtr transcribe --format page` of a page", entered(lambda: read_page("again"))),
    ]
    [page] = scans.glob("*.xml")

    def search() -> None:
        command("search", folder / "index.sqlite", "letter", "--threads", 1)

    command("index", scans / SCAN.name, "--output", folder / "index.sqlite", *READING)
    search()
    rows.append(("run by `drethtr search` of a word", entered(search)))

    def convert() -> None:
        command("transcribe", scans, "--format", "page,alto,txt", "--output", folder / "formats", *READING)

    opened_first, opened_again = opens(page, convert), opens(page, convert)
    with Workspace.open(scans) as workspace:
        correction(workspace, "first")()
        rows.append(("run by `Workspace.edit_line`", entered(correction(workspace, "second"))))
        opened_by_edit = opens(page, correction(workspace, "third"))
        parsed_by_edit = parses(correction(workspace, "fourth"))
    return [
        *rows,
        ("times that `transcribe` of a PAGE file to page, alto and txt opens it", f"{opened_first}"),
        ("the same again, when all results exist", f"{opened_again}"),
        ("times that `Workspace.edit_line` opens the PAGE file", f"{opened_by_edit}"),
        ("times that `Workspace.edit_line` parses it", f"{parsed_by_edit}"),
    ]


if __name__ == "__main__":
    sys.addaudithook(note)
    with TemporaryDirectory() as place:
        table = [*size_rows(), *job_rows(Path(place).resolve())]
    for what, figure in table:
        print(f"| {what} | {figure} |")  # noqa: T201
