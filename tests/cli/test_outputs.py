"""What commands write, and what they refuse to write over."""

import json

import pytest
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.cli.outputs import refuse_existing, refuse_others, write_json, write_markup, write_png
from drethtr.pictures.chart import Panel, curves


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
    refuse_others(json=place)
    place.write_text(content)
    with pytest.raises(DataError, match=r"a\.json exists and is not an earlier result"):
        refuse_others(json=place)
    write_json(place, {"rate": 0.5})
    refuse_others(json=place, html=None)


RESULTS = {
    "png": lambda path: write_png(path, Image.new("L", (9, 9))),
    "svg": lambda path: write_markup(path, curves("a", [Panel("b", "c", {"d": [(1, 2), (3, 4)]})])),
    "html": lambda path: write_markup(path, "<!doctype html>\n<title>a</title>"),
    "md": lambda path: write_markup(path, "# a\n"),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_only_results_of_a_kind_are_replaced_by_such(tmp_path, kind):
    place = tmp_path / f"a.{kind}"
    RESULTS[kind](place)
    refuse_others(**{kind: place})
    for other in RESULTS.keys() - {kind}:
        RESULTS[other](place)
        with pytest.raises(DataError, match=r"exists and is not an earlier result of this kind"):
            refuse_others(**{kind: place})


@pytest.mark.parametrize("kind", RESULTS)
def test_what_others_made_stays(tmp_path, kind):
    """Whatever its name says."""
    place = tmp_path / f"a.{kind}"
    foreign = {"svg": "<svg xmlns='http://www.w3.org/2000/svg'/>", "html": "<!doctype html><p>drethtr", "md": "# a"}
    if kind == "png":
        Image.new("L", (9, 9)).save(place)
    else:
        place.write_text(foreign[kind])
    with pytest.raises(DataError, match="choose another name"):
        refuse_others(**{kind: place})


def test_no_force_replaces_an_input(tmp_path):
    (tmp_path / "a.png").touch()
    with pytest.raises(DataError, match=r"a\.png is an input; it cannot be overwritten"):
        refuse_existing(tmp_path / "a.png", force=True, inputs=[str(tmp_path / "*.png")])
