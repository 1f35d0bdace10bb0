"""What commands write, and what they refuse to write over."""

import json

import pytest

from drethtr.cli.outputs import refuse_existing, refuse_others, write_json
from drethtr.errors import DataError


def test_figures_are_utf8_as_people_write_it(tmp_path):
    write_json(tmp_path / "a.json", {"name": "Zürich", "rates": (0.5, None)})
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert "Zürich" in text and text.endswith("\n")
    assert json.loads(text) == {"format": "drethtr figures 1", "name": "Zürich", "rates": [0.5, None]}


def test_what_is_there_stays_unless_forced(tmp_path):
    (tmp_path / "there").touch()
    refuse_existing(None, tmp_path / "gone", force=False)
    refuse_existing(tmp_path / "there", force=True)
    with pytest.raises(DataError, match="there exists; name another output or give --force"):
        refuse_existing(tmp_path / "gone", tmp_path / "there", force=False)


@pytest.mark.parametrize(
    "content", ['{"file": "a.png", "text": "abc"}\n', "a line\n", "", '{"format": "drethtr page 1"}']
)
def test_only_figures_are_replaced_by_figures(tmp_path, content):
    place = tmp_path / "a.json"
    refuse_others([], json=place)
    place.write_text(content)
    with pytest.raises(DataError, match=r"a\.json exists and is not an earlier result"):
        refuse_others([], json=place)
    write_json(place, {"rate": 0.5})
    refuse_others([str(place)], json=place, html=None)


@pytest.mark.parametrize("given", ["lines", "lines/*", "lines/a.png"])
def test_other_results_are_known_by_their_names_and_inputs_are_none(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    lines = tmp_path / "lines"
    lines.mkdir()
    for name in ("a.png", "a.gt.txt"):
        (lines / name).touch()
    (tmp_path / "b.png").touch()
    refuse_others([given], png=tmp_path / "b.png", html=lines / "new.html")
    for result in ({"png": lines / "a.png"}, {"html": tmp_path / "b.png"}, {"html": lines / "a.gt.txt"}):
        with pytest.raises(DataError, match="choose another name"):
            refuse_others([given], **result)


def test_no_force_replaces_an_input(tmp_path):
    (tmp_path / "a.png").touch()
    with pytest.raises(DataError, match=r"a\.png is an input; it cannot be overwritten"):
        refuse_existing(tmp_path / "a.png", force=True, inputs=[str(tmp_path / "*.png")])
