"""Every code block in the documentation is parsed, and run if it needs only the repository."""

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from documented import PAGES, ROOT, blocks, name_of

from drethtr.cli.main import main

PARSED = {"toml": tomllib.loads, "json": json.loads}
LANGUAGES = {"sh", "console", "text", "python", "toml", "json", "xml", "markdown"}

WAITS = {"edit", "demo", "serve", "train", "finetune"}
"""Commands that are interactive or take minutes."""

FILES = ("mkdir", "cp", "ls", "echo")
ZIP = ["python", "-m", "zipfile"]
DRETHTR = [sys.executable, "-m", "drethtr"]
READERS = ("pdftotext",)
"""Other programs that read our files, if installed."""

IN_SHELL = 'drethtr() { "$0" -m drethtr "$@"; }; '
"""A shell function that makes `drethtr` in pipes the version under test."""

PACKAGED = ("samples", "tests/fonts", "tests/texts", "LICENSE")

NEEDS = re.compile(r"push_to_hub|WEIGHTS\.pt")
"""What Python blocks need but tests lack: an account, the authors' weights."""


def parts(kinds):
    return [
        pytest.param(page, block, id=f"{name_of(page)}-{number}")
        for page in PAGES
        for number, block in enumerate(blocks(page))
        if block.language in kinds
    ]


def packaged(folder):
    """Copy the files of a clone that examples use into a folder."""
    for name in PACKAGED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)


def to_run(command):
    """The words of a command, if it can be run as shown: on existing files, and in less than minutes."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return None
    if words and words[0] in FILES:
        return ["bash", "-c", command]
    if words[:3] == ZIP:
        return [sys.executable, *words[1:]]
    if set(words) & {"&&", ">", "<", ";"}:
        return None
    if words and words[0] in READERS:
        return words if shutil.which(words[0]) and Path(words[-2]).exists() else None
    if words[:1] != ["drethtr"] or WAITS & set(words[1:3]) or not any(Path(word).exists() for word in words[2:]):
        return None
    if any(word.endswith(".safetensors") and not Path(word).exists() for word in words):
        return None  # a model that was not trained here
    if "kraken" in words and find_spec("kraken") is None:
        return None  # --lines kraken
    if "|" in words:
        return ["bash", "-c", IN_SHELL + command, sys.executable]
    return [*DRETHTR, *words[1:]]


NUMBER = re.compile(r"\d+(?:\.\d+)?")
TIME = re.compile(
    r"\d+(?:\.\d+)?(?= ?s\b| minutes?\b)|(?<=\"seconds\": )\d+(?:\.\d+)?"
    r"|\d{4}-\d\d-\d\d(?:T[\d:.]+(?:\+[\d:]+)?)?"
)


def unsaid(shown, heard):
    """The lines shown that were not heard: they differ in a word, or in a number by more than machines do."""
    lines = {}
    for line in heard.splitlines():
        template, numbers = split_numbers(line)
        lines.setdefault(template, []).append(numbers)
    parted = [(line, *split_numbers(line)) for line in shown.splitlines() if " read in " not in line]
    return [
        line
        for line, template, numbers in parted
        if not any(all(map(close, numbers, others)) for others in lines.get(template, []))
    ]


def split_numbers(line):
    """A line without its numbers, and these; durations and dates are left out."""
    line = TIME.sub("", line.strip())
    return NUMBER.sub("0", line), [float(number) for number in NUMBER.findall(line)]


def close(one, other):
    """Whether two numbers may come from two machines."""
    return abs(one - other) <= max(0.05, 0.05 * max(one, other))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_name_their_language(page):
    assert {block.language for block in blocks(page)} <= LANGUAGES


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_are_shell(page):
    code = "\n".join(command for block in blocks(page) for command in block.commands)
    run = subprocess.run(["bash", "-n"], input=code, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(("page", "block"), parts(PARSED))
def test_settings_and_data_can_be_read(page, block):
    PARSED[block.language](block.code)


RUNS = {}
"""Cached runs of commands that write no files, since pages repeat them."""


def run(words):
    """Run a command in the current folder."""
    key = tuple(words)
    if key in RUNS and "--output" not in words and words[0] != "bash":
        return RUNS[key]
    if words[:3] == DRETHTR:
        RUNS[key] = run_here(words[3:])
    else:
        RUNS[key] = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
    return RUNS[key]


def run_here(arguments):
    """Run `drethtr` in this process: to start another takes longer than most commands."""
    code, said = 0, [TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said[0]), redirect_stderr(said[1]):
        patch.setattr(sys, "argv", ["drethtr", *arguments])
        patch.setenv("PYTHONSAFEPATH", "1")  # as `main` does for all that follows
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    out, err = (stream.buffer.getvalue().decode() for stream in said)
    return subprocess.CompletedProcess(arguments, code, out, err)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_on_packaged_files_say_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    packaged(tmp_path)
    for block in blocks(page):
        heard, left_out = "", False
        codes = (0, 1, 2) if "drethtr: " in block.printed else (0, 1)
        for command in block.commands:
            words = to_run(command)
            if words is None:
                left_out = left_out or bool(command.strip())
                continue
            ended = run(words)
            heard += ended.stdout + "\n" + ended.stderr
            assert ended.returncode in codes and "Traceback" not in ended.stderr, (command, ended.stderr)
        if heard and not left_out:
            assert not unsaid(block.printed, heard), heard


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with the files used in Python examples: lines, a letter, its PAGE file and an index."""
    folder = tmp_path_factory.mktemp("desk")
    packaged(folder)
    for name in ("a.png", "b.png"):
        shutil.copy(folder / "samples" / "000003.png", folder / name)
    (folder / "scans").mkdir()
    for name in ("letter.jpg", "scans/letter.jpg"):
        shutil.copy(folder / "samples" / "page" / "letter.jpg", folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in (
            "transcribe scans --format page --output scans",
            "index letter.jpg --output archive.drethtr.sqlite",
        ):
            ended = run_here(command.split())
            assert ended.returncode == 0, ended.stderr
    shutil.copy(folder / "scans" / "letter.page.xml", folder / "0001.xml")
    return folder


@pytest.mark.parametrize(("page", "block"), parts({"python"}))
def test_python_runs(page, block, desk, tmp_path, monkeypatch, capsys):
    """Of blocks that need more than the repository, only the imports."""
    code = ast.parse(block.code)
    if NEEDS.search(block.code):
        code.body = [statement for statement in code.body if isinstance(statement, ast.Import | ast.ImportFrom)]
    shutil.copytree(desk, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, page.name, "exec"), {})
    if block.printed:
        assert not unsaid(block.printed, capsys.readouterr().out)
