"""Fixtures for tests of commands: the command line, and lines to read."""

import re
import sys
from typing import NamedTuple

import numpy as np
import pytest
from conftest import written
from PIL import Image

from drethtr.cli.main import main
from drethtr.cli.reports import NOT_CALIBRATED

DOUBTS = re.compile(
    r"^(\d[\d,]* files?( \(\S+ \w+\))? read in .*|"
    r"[\d,]+ of [\d,]+ words? doubtful( by uncalibrated confidences)?, [\d,]+ of [\d,]+ lines? flagged.*|"
    rf"no line was read.*|{re.escape(NOT_CALIBRATED)})\n",
    re.M,
)


class Outcome(NamedTuple):
    """Exit code and output of a command, without the closing summary and the calibration note on stderr."""

    code: int
    out: str
    err: str


@pytest.fixture
def drethtr(monkeypatch, capsys):
    """Run the command line as from a shell."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["drethtr", *map(str, arguments)])
        monkeypatch.setenv("PYTHONSAFEPATH", "1")  # as `main` does for all that follows
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        out, err = capsys.readouterr()
        return Outcome(code, out, DOUBTS.sub("", err))

    return run


@pytest.fixture
def lines(tmp_path):
    """A folder of two line images with their texts."""
    folder = tmp_path / "lines"
    folder.mkdir()
    for name, text in (("one", "abc def"), ("two", "a cabbage")):
        Image.fromarray(np.asarray(written(text))).save(folder / f"{name}.png")
        (folder / f"{name}.gt.txt").write_text(text + "\n", encoding="utf-8")
    return folder
