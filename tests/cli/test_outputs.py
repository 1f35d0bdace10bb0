"""What commands write, and what they refuse to write over."""

import json
import re
from errno import ENOSPC
from pathlib import Path

import pytest
from PIL import Image

from drethtr import Recognizer
from drethtr.base.errors import ConfigError, DataError
from drethtr.cli.outputs import refuse_existing, refuse_results, write_json, write_png


def no_space(path, *content):
    raise OSError(ENOSPC, "No space left on device", str(path))


def test_figures_are_utf8_as_people_write_it(tmp_path):
    write_json(tmp_path / "a.json", {"name": "Zürich", "rates": (0.5, None)})
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert "Zürich" in text and text.endswith("\n")
    assert json.loads(text) == {"format": "drethtr figures 1", "name": "Zürich", "rates": [0.5, None]}


def test_a_picture_is_written(tmp_path):
    write_png(tmp_path / "a.png", Image.new("L", (9, 9)))
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (9, 9)


def test_what_is_there_stays_unless_forced(tmp_path):
    (tmp_path / "there").touch()
    refuse_existing(None, tmp_path / "gone", force=False)
    refuse_existing(tmp_path / "there", force=True)
    with pytest.raises(DataError, match="there exists; choose another output or use --force"):
        refuse_existing(tmp_path / "gone", tmp_path / "there", force=False)


@pytest.mark.parametrize("name", ["a.png", "one.gt.txt", "page.xml", "table.jsonl"])
@pytest.mark.parametrize("given", ["", "*"])
def test_no_force_replaces_an_input(tmp_path, name, given):
    """Neither one that is named nor one in a folder that is read."""
    (tmp_path / name).touch()
    with pytest.raises(DataError, match=r"is an input, which is never overwritten"):
        refuse_results(tmp_path / name, force=True, inputs=[str(tmp_path / given)])


COMMANDS = [
    "evaluate lines.tsv --json a.json",
    "evaluate lines.tsv --per-line a.jsonl",
    "check lines.tsv --json a.json",
    "check lines.tsv --html a.html",
    "data check lines.tsv --json a.json",
    "data check lines.tsv --picture a.png",
    "data gaps lines.tsv --output a.parquet",
    "data synth a.parquet --fonts fonts --text novel.txt",
    "model compare : : lines.tsv --html a.html",
    "model explain one.png --output a.svg",
    "model calibrate m.safetensors lines.tsv --output a.safetensors",
    "model language m.safetensors lines.tsv --output a.safetensors",
    "model rescorer m.safetensors lines.tsv --output a.safetensors",
    "model predict-cer one.png --json a.json",
    "convert weights.pt a.safetensors --preset base",
]


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """A current folder with a line, a table of it and a text."""
    monkeypatch.chdir(tmp_path)
    Image.new("L", (90, 40), 200).save("one.png")
    for name in ("lines.tsv", "lines.train.tsv"):
        Path(name).write_text("one.png\tabc", encoding="utf-8")
    Path("novel.txt").write_text("abc", encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_place_for_results_is_refused_before_anything_is_read(drethtr, inputs, monkeypatch, command):
    """A folder that is not there, and a file that is there without --force."""
    monkeypatch.setattr(Recognizer, "load", None)
    [name] = re.findall(r"\ba\.\w+", command)
    outcome = drethtr(*command.replace(name, f"gone/{name}").split())
    assert outcome.code == 2 and "there is no folder gone" in outcome.err and outcome.out == ""
    Path(name).write_text("precious")
    outcome = drethtr(*command.split())
    assert outcome.code == 2 and f"{name} exists; choose another output or use --force" in outcome.err
    assert Path(name).read_text() == "precious"


@pytest.mark.parametrize(
    "command",
    [
        "evaluate lines.tsv --json lines.tsv",
        "evaluate lines.train.tsv#train --json lines.train.tsv",
        "data check lines.tsv --json lines.tsv",
        "data check one.png --picture one.png",
        "model compare : : lines.tsv --json lines.tsv",
        "model compare : : one.png --html one.png",
        "model explain one.png --output one.png",
        "model calibrate m.safetensors lines.tsv novel.txt --output novel.txt",
        *(
            f"model {name} m.safetensors lines.tsv --text novel.txt --output {output}"
            for name in ("language", "rescorer")
            for output in ("lines.tsv", "novel.txt")
        ),
    ],
)
def test_no_command_replaces_an_input(drethtr, inputs, command):
    *_, output = command.split()
    before = Path(output).read_bytes()
    outcome = drethtr(*command.split(), "--force")
    assert outcome.code == 2 and f"{output} is an input, which is never overwritten" in outcome.err
    assert Path(output).read_bytes() == before


def test_a_result_in_a_folder_that_is_read_can_be_replaced(tmp_path):
    for name in ("report.html", "figures.json", "chart.svg"):
        (tmp_path / name).touch()
        refuse_results(tmp_path / name, force=True, inputs=[str(tmp_path)])


def test_a_place_without_a_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="there is no folder"):
        refuse_results(tmp_path / "gone" / "a.json", force=True)


@pytest.mark.parametrize("force", [True, False])
def test_two_results_need_two_files(tmp_path, force):
    one, other = tmp_path / "a.json", tmp_path / "x" / ".." / "a.json"
    (tmp_path / "x").mkdir()
    with pytest.raises(ConfigError, match=r"two results would be written to .*a\.json; give each a file of its own"):
        refuse_results(one, None, other, force=force)
    refuse_results(one, None, tmp_path / "b.json", None, force=force)


def test_an_import_is_reported_though_its_figures_cannot_be_written(drethtr, lines, tmp_path, monkeypatch):
    """And of an earlier import no split is left that this one does not have."""
    earlier = tmp_path / "mine.test.parquet"
    earlier.touch()
    monkeypatch.setattr("drethtr.cli.outputs.write_text", no_space)
    command = ("data", "import", lines, tmp_path / "mine.parquet", "--json", tmp_path / "a.json", "--force")
    outcome = drethtr(*command)
    assert outcome.code == 2 and "a.json: No space left" in outcome.err
    assert "mine.parquet: 2 lines" in outcome.out and not earlier.exists()


@pytest.mark.parametrize(
    ("command", "option", "printed"),
    [
        (("evaluate",), "--json", "CER %"),
        (("evaluate",), "--per-line", "CER %"),
        (("check",), "--json", "2 lines"),
        (("check",), "--html", "2 lines"),
        (("model", "compare", ":ctc"), "--json", "B - A"),
        (("model", "compare", ":ctc"), "--html", "B - A"),
        (("bench", "check"), "--json", "held out"),
    ],
)
def test_what_was_measured_is_printed_though_a_file_cannot_be_written(
    drethtr, lines, tmp_path, monkeypatch, command, option, printed
):
    monkeypatch.setattr("drethtr.base.files.atomic_write", no_space)
    reading = (":ctc",) if "compare" in command else ("--decoder", "ctc")
    outcome = drethtr(*command, *reading, lines, option, tmp_path / "file")
    assert outcome.code == 2 and "file: cannot be written: No space left" in outcome.err
    assert printed in outcome.out
