import json
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.cli.model.compare import system
from drethtr.cli.reports import NOT_CALIBRATED
from drethtr.recognition.model.file import load_model

SAMPLES = Path(__file__).parents[3] / "samples"


class Page(HTMLParser):
    """Sources of pictures, what is opened and closed, and every address outside the file."""

    def __init__(self, text):
        super().__init__()
        self.pictures, self.open, self.outside = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.pictures += [found["src"]] if tag == "img" else []
        self.outside += [value for value in found.values() if value and value.startswith(("http", "//"))]
        if tag not in ("img", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_two_decoders_of_a_model(drethtr, lines, tiny_path, tmp_path):
    page, figures = tmp_path / "c.html", tmp_path / "c.json"
    outcome = drethtr("compare", f"{tiny_path}:ctc", f"{tiny_path}:beam:2", lines, "--html", page, "--json", figures)
    assert outcome.code == 0 and "CER by length" in outcome.out and "paired bootstrap" in outcome.out
    assert "[" not in outcome.out.partition("CER by length")[0].partition("all lines")[2]  # two lines have no interval
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["cer"]["lines"] == 2 and found["verdict"] == "too few pages to tell"
    for row in (found["cer"], found["wer"], *found["sets"], *found["lengths"]):
        assert row["low"] is row["high"] is row["better"] is None and isinstance(row["difference"], float)
    assert [found["made_by"][side]["model"] for side in "ab"] == [load_model(tiny_path).identity] * 2
    assert found["a"].endswith(":ctc") and found["sets"][0]["name"] == "lines"
    assert [outcome.err.count(f"{side}: {NOT_CALIBRATED}\n") for side in "AB"] == [1, 1]
    drawn = Page(page.read_text(encoding="utf-8"))
    assert drawn.open == [] and drawn.outside == []
    assert drawn.pictures and all(source.startswith("data:image/jpeg;base64,") for source in drawn.pictures)


def test_images_that_cannot_be_used_are_named_once_and_left_out(drethtr, lines, tiny_path, tmp_path):
    (lines / "one.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    Image.new("L", (20_000, 2), 255).save(lines / "long.png")
    (lines / "long.gt.txt").write_text("abc", encoding="utf-8")
    outcome = drethtr("compare", tiny_path, tiny_path, lines, "--json", tmp_path / "c.json")
    assert outcome.code == 1 and outcome.err.count("one.png") == outcome.err.count("long.png") == 1
    assert "too long" in outcome.err
    assert json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["cer"]["lines"] == 1


def test_a_model_against_itself_differs_nowhere(drethtr, lines, tiny_path, tmp_path):
    page = tmp_path / "c.html"
    assert drethtr("compare", tiny_path, tiny_path, lines, "--html", page).code == 0
    assert Page(page.read_text(encoding="utf-8")).pictures == []


def test_without_confusions_there_is_no_table_of_them(drethtr, tmp_path):
    for name in ("000003.png", "000003.gt.txt"):
        shutil.copy(SAMPLES / name, tmp_path)
    outcome = drethtr("compare", ":ctc", ":ctc", tmp_path)
    assert outcome.code == 0 and "over 0.95" in outcome.out and "written" not in outcome.out


def test_both_read_in_the_precision_that_is_asked_for(drethtr, lines, tiny_path, tmp_path):
    figures = tmp_path / "c.json"
    said = drethtr("compare", tiny_path, tiny_path, lines, "--precision", "bfloat16", "--json", figures).out
    made_by = json.loads(figures.read_text(encoding="utf-8"))["made_by"]
    assert [made_by[side]["precision"] for side in "ab"] == ["bfloat16"] * 2 and said.count(", bfloat16)") == 2


def test_how_many_lines_a_report_shows_is_for_reports(drethtr, lines, tiny_path, tmp_path):
    outcome = drethtr("compare", tiny_path, tiny_path, lines, "--shown", 3)
    assert outcome.code == 2 and "needs --html" in outcome.err and outcome.out == ""
    options = ("--html", tmp_path / "c.html", "--shown", 1)
    assert drethtr("compare", f"{tiny_path}:ctc", f"{tiny_path}:beam:2", lines, *options).code == 0
    assert len(Page((tmp_path / "c.html").read_text(encoding="utf-8")).pictures) <= 1


def test_texts_are_escaped(drethtr, lines, tiny_path, tmp_path):
    (lines / "one.gt.txt").write_text("<script>a</script>", encoding="utf-8")
    drethtr("compare", f"{tiny_path}:ctc", f"{tiny_path}:greedy", lines, "--html", tmp_path / "c.html")
    assert "<script>" not in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_lines_without_text_are_counted(drethtr, lines, tiny_path, tmp_path):
    (lines / "one.gt.txt").write_text("", encoding="utf-8")
    page, figures = tmp_path / "c.html", tmp_path / "c.json"
    outcome = drethtr("compare", tiny_path, tiny_path, lines, "--html", page, "--json", figures)
    said = "Without text, so anything read there counts as an error: 1 of 2 lines."
    assert said in outcome.out and said in page.read_text(encoding="utf-8")
    assert json.loads(figures.read_text(encoding="utf-8"))["empty"] == 1


def test_names_of_systems(tmp_path):
    model = tmp_path / "a:b.safetensors"
    model.touch()
    assert system(str(model))[1:] == (model, None)
    assert system(f"{model}:beam:3")[1:] == (model, "beam:3")
    assert system(":ctc")[1:] == (None, "ctc")
    assert system(":") == ("the included model", None, None)
    with pytest.raises(CheckpointError, match="no such model file"):
        system(str(tmp_path / "gone"))
    with pytest.raises(ConfigError, match="did you mean 'beam'"):
        system(f"{model}:bem")
