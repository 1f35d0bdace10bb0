"""Commands give the same results under `python -O`, which removes assertions."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import source_first
from soak.kills import content
from soak.scenarios import model

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samples"
LETTER = SAMPLES / "page" / "letter.jpg"
LINE = SAMPLES / "000000.png"
TIMES = re.compile(r"\b[\d.]+ s\b|\d\d:\d\d|[\d.]+ ?(page|line)s?/s")
"""Durations in the output."""

AT_NOON = """
import datetime
import drethtr.documents.document as document
from drethtr.cli.main import main

class Noon(datetime.datetime):
    @classmethod
    def now(cls, zone=None):
        return cls(2026, 1, 1, 12, tzinfo=zone)

document.datetime = Noon
main()
"""
"""Documents say when they were written: always at the same time."""

COMMANDS = {
    "half a model": (2, "transcribe", LINE, "--model", "half.safetensors"),
    "no index": (2, "search", "half.safetensors", "word"),
    "a page": (0, "transcribe", LETTER, "--format", "page,alto,pdf,tei,docx", "--output", "out", "--decoder", "ctc"),
    "a text to check": (1, "check", SAMPLES, "--model", "tiny.safetensors"),
}
"""The exit code of each, and its words."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A model, and half a model."""
    folder = tmp_path_factory.mktemp("inputs")
    model(folder)
    (folder / "half.safetensors").write_bytes((folder / "tiny.safetensors").read_bytes()[:5000])
    return folder


@pytest.mark.parametrize(("code", "arguments"), [(code, words) for code, *words in COMMANDS.values()], ids=COMMANDS)
def test_commands_answer_and_write_as_with_assertions(code, arguments, inputs, tmp_path):
    def answer(*options):
        place = tmp_path / f"place{len(options)}"
        shutil.copytree(inputs, place)
        command = [sys.executable, *options, "-c", AT_NOON, *map(str, arguments)]
        done = subprocess.run(
            command, cwd=place, env={**os.environ, **source_first()}, capture_output=True, encoding="utf-8"
        )
        assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
        names = {path.relative_to(place) for path in place.rglob("*") if path.is_file()}
        written = names - {path.relative_to(inputs) for path in inputs.rglob("*")}
        return done.stdout, TIMES.sub("", done.stderr), {str(name): content(place / name) for name in written}

    assert answer() == answer("-O")


def test_assertions_do_nothing_but_look():
    """They only narrow types: what they call has no side effects, so removing them is safe."""
    harmless, found = {"isinstance", "callable", "current_thread"}, 0
    for path in (ROOT / "src").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not any(isinstance(node, ast.Name) and node.id == "__debug__" for node in ast.walk(tree)), path
        for statement in (node for node in ast.walk(tree) if isinstance(node, ast.Assert)):
            found += 1
            inside = [*ast.walk(statement.test)]
            called = {ast.unparse(node.func) for node in inside if isinstance(node, ast.Call)}
            assert called <= harmless and not any(isinstance(node, ast.NamedExpr) for node in inside), path
    assert found > 10
