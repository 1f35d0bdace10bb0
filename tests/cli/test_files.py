"""What commands write, and what they refuse to write over."""

import json

import pytest

from drethtr.cli.files import refuse_existing, write_json
from drethtr.errors import DataError


def test_figures_are_utf8_as_people_write_it(tmp_path):
    write_json(tmp_path / "a.json", {"name": "Zürich", "rates": (0.5, None)})
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert "Zürich" in text and text.endswith("\n")
    assert json.loads(text) == {"name": "Zürich", "rates": [0.5, None]}


def test_what_is_there_stays_unless_forced(tmp_path):
    (tmp_path / "there").touch()
    refuse_existing(None, tmp_path / "gone", force=False)
    refuse_existing(tmp_path / "there", force=True)
    with pytest.raises(DataError, match="there exists; name another output or give --force"):
        refuse_existing(tmp_path / "gone", tmp_path / "there", force=False)
