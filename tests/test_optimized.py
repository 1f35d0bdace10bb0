"""Commands give the same results under `python -O`, which removes assertions."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import source_first

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "fuzzing" / "corpus"
SAMPLES = ROOT / "samples"
LETTER = SAMPLES / "page" / "letter.jpg"
LINE = ROOT / "samples" / "000000.png"
TIMES = re.compile(r"\b[\d.]+ s\b|\d\d:\d\d|[\d.]+ ?(page|line)s?/s")
"""Durations in the output."""

COMMANDS = {
    "a line": ("transcribe", LINE),
    "odd pages": ("transcribe", *sorted(CORPUS.glob("*.xml")), *sorted(CORPUS.glob("*.pdf"))),
    "half a model": ("transcribe", LINE, "--model", "half.safetensors"),
    "no index": ("search", "half.safetensors", "word"),
    "a text to check": ("check", SAMPLES, "--model", "tiny.safetensors"),
    "an odd run": ("train", CORPUS / "toml-deep.toml", "--output", "out"),
    "a page": ("transcribe", LETTER, "--format", "page,alto,pdf,tei,docx", "--output", "out", "--decoder", "ctc"),
    "an index": ("index", LETTER, "--output", "a.sqlite", "--decoder", "ctc"),
    "an evaluation": ("evaluate", SAMPLES, "--model", "tiny.safetensors", "--decoder", "ctc"),
    "a calibration": ("calibrate", "tiny.safetensors", SAMPLES, "--output", "new.safetensors"),
    "lines to check": ("data", "check", SAMPLES),
    "a model": ("info", "--check", "tiny.safetensors"),
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_commands_answer_as_with_assertions(arguments, tmp_path, tiny_path):
    def answer(*options):
        place = tmp_path / f"place{len(options)}"
        place.mkdir()
        (place / "half.safetensors").write_bytes(tiny_path.read_bytes()[:5000])
        (place / "tiny.safetensors").write_bytes(tiny_path.read_bytes())
        command = [sys.executable, *options, "-m", "drethtr", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=place, env={**os.environ, **source_first()}, capture_output=True, encoding="utf-8"
        )
        assert "Traceback" not in done.stderr
        files = sorted(str(path.relative_to(place)) for path in place.rglob("*"))
        return done.returncode, done.stdout, TIMES.sub("", done.stderr), files

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
