import sys
from typing import NamedTuple

import numpy as np
import pytest
from conftest import written
from PIL import Image

from drethtr.cli.main import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def drethtr(monkeypatch, capsys):
    """The command line, run as a person's shell runs it."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["drethtr", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        return Outcome(code, *capsys.readouterr())

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
