"""`python -O` leaves out assertions: commands give the same answers without them."""

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
LINE = ROOT / "samples" / "000000.png"
COMMANDS = {
    "a line": ("transcribe", LINE),
    "odd pages": ("transcribe", *sorted(CORPUS.glob("*.xml")), *sorted(CORPUS.glob("*.pdf"))),
    "half a model": ("transcribe", LINE, "--model", "half.safetensors"),
    "no index": ("search", "half.safetensors", "word"),
    "a text to check": ("check", SAMPLES, "--model", "tiny.safetensors"),
    "an odd run": ("train", CORPUS / "toml-deep.toml", "--output", "out"),
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_commands_answer_as_with_assertions(arguments, tmp_path, tiny_path):
    (tmp_path / "half.safetensors").write_bytes(tiny_path.read_bytes()[:5000])

    def answer(*options):
        command = [sys.executable, *options, "-m", "drethtr.cli", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **source_first()}, capture_output=True, encoding="utf-8"
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, re.sub(r" in [\d.]+ s;", "", done.stderr)  # the time it took

    assert answer() == answer("-O")
