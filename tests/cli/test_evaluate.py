import json
import re

import pytest
from conftest import written
from PIL import Image

from drethtr import __version__
from drethtr.evaluation.reading import ScoredLine
from drethtr.recognition.model.file import load_model
from drethtr.recognition.reading import Character, Reading

RATES = ["cer", "cer_low", "cer_high", "wer", "wer_low", "wer_high"]
KINDS = ["substitutions", "insertions", "deletions"]
BY_CONVENTION = [
    f"{convention}{end}" for convention in ("wer_punctuation", "wer_unicode") for end in ("", "_low", "_high")
]


def test_writes_figures_in_their_published_form(drethtr, lines, tiny_path, tmp_path):
    for number, text in enumerate(("abc d", "cabbage", "egg", "a big jam")):
        Image.fromarray(written(text)).save(lines / f"{number}.png")
        (lines / f"{number}.gt.txt").write_text(text, encoding="utf-8")
    figures = tmp_path / "figures.json"
    outcome = drethtr("evaluate", lines, "--model", tiny_path, "--json", figures)
    assert outcome.code == 0
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert list(found)[:4] == ["format", "convention", "sets", "overall"]
    [of_set] = found["sets"]
    assert list(of_set) == ["name", "lines", "drawn", "characters", *RATES, *BY_CONVENTION, *KINDS]
    assert list(found["overall"]) == ["lines", "drawn", "characters", *RATES, *BY_CONVENTION, *KINDS]
    assert (of_set["name"], of_set["lines"], of_set["drawn"], of_set["characters"]) == (
        "lines",
        6,
        6,
        16 + 5 + 7 + 3 + 9,
    )
    assert all(isinstance(of_set[name], float) and of_set[name] >= 0 for name in RATES + BY_CONVENTION)
    assert of_set["cer_low"] <= of_set["cer"] <= of_set["cer_high"]
    assert found["convention"] in outcome.out and found["word_conventions"] in outcome.out
    assert f"{100 * of_set['cer']:.2f} [" in outcome.out


def test_too_few_pages_give_no_interval(drethtr, lines, tiny_path, tmp_path):
    outcome = drethtr("evaluate", lines, "--model", tiny_path, "--json", tmp_path / "a.json")
    overall = json.loads((tmp_path / "a.json").read_text())["overall"]
    assert overall["drawn"] == 2 and isinstance(overall["cer"], float)
    assert all(overall[name] is None for name in RATES + BY_CONVENTION if name.endswith(("low", "high")))
    assert f"{100 * overall['cer']:.2f} –" in outcome.out and "[" not in outcome.out.partition("CER:")[0]


def test_figures_say_what_was_measured(drethtr, lines, tiny_path, tmp_path):
    figures = tmp_path / "figures.json"
    said = drethtr("evaluate", lines, "--model", tiny_path, "--json", figures, "--decoder", "beam:2").out
    found, model = json.loads(figures.read_text(encoding="utf-8")), load_model(tiny_path).identity
    assert (found["made_by"]["model"], found["made_by"]["drethtr"]) == (model, __version__)
    assert found["decoder"] == "beam:2" and found["precision"] == "float32"
    assert f"Read with drethtr {__version__}, model {model}, decoder beam:2, float32." in said


def test_figures_are_written_before_they_are_shown(drethtr, lines, tiny_path, tmp_path, monkeypatch):
    def broken(text):
        raise BrokenPipeError

    monkeypatch.setattr("drethtr.cli.outputs.echo", broken)
    with pytest.raises(BrokenPipeError):
        drethtr("evaluate", lines, "--model", tiny_path, "--json", tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["overall"]["lines"] == 2


def test_what_there_is_none_of_is_no_figure(drethtr, lines, tiny_path, monkeypatch):
    texts = [path.read_text(encoding="utf-8").strip() for path in (lines / "one.gt.txt", lines / "two.gt.txt")]
    right = [Reading(t, 0.9, tuple(Character(c, 0.9, i, i + 1) for i, c in enumerate(t))) for t in texts]
    monkeypatch.setattr("drethtr.evaluation.evaluate.read_each", lambda _, samples, __: map(ScoredLine, samples, right))
    outcome = drethtr("evaluate", lines, "--model", tiny_path, "--confidence")
    assert "CER %: – of flagged lines, 0.00 of the others" in outcome.out and outcome.out.count("    –  ") == 3
    assert "not calibrated for this decoder; run drethtr model calibrate" in outcome.out


def test_where_nothing_was_read_nothing_is_right_or_wrong(drethtr, lines, tiny_path, monkeypatch):
    nothing = [Reading("", 0.0, (), word_confidences=())] * 2
    monkeypatch.setattr(
        "drethtr.evaluation.evaluate.read_each", lambda _, samples, __: map(ScoredLine, samples, nothing)
    )
    outcome = drethtr("evaluate", lines, "--model", tiny_path, "--confidence")
    assert outcome.code == 0 and len(re.findall(r" 0 +– +– +–", outcome.out)) == 3
    assert "not calibrated" not in outcome.out


def test_limit_takes_so_many_lines_of_each_set(drethtr, lines, tiny_path, tmp_path):
    drethtr("evaluate", lines, "--model", tiny_path, "--json", tmp_path / "a.json", "--limit", "1")
    assert json.loads((tmp_path / "a.json").read_text())["overall"]["lines"] == 1


def test_says_what_is_left_out_and_what_the_model_cannot_write(drethtr, lines, tiny_path):
    rows = [
        {"file": "one.png", "text": "abc ü", "set": "s"},
        {"file": "two.png", "text": "a", "set": "s", "clean": False},
    ]
    table = lines / "table.jsonl"
    table.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    said = drethtr("evaluate", table, "--model", tiny_path).out
    assert "1 of s" in said and "\n1 character not in the model's alphabet: ü×1" in said


def test_a_set_without_text_has_no_rate(drethtr, lines, tiny_path, tmp_path):
    rows = [{"file": "one.png", "text": "abc def", "set": "s"}, {"file": "two.png", "text": "", "set": "blank"}]
    (lines / "table.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    outcome = drethtr("evaluate", lines / "table.jsonl", "--model", tiny_path, "--json", tmp_path / "a.json")
    [row] = [line.split() for line in outcome.out.splitlines() if line.startswith("blank")]
    assert row == ["blank", "1", "1", "0", "–", "–", "–", "–"]
    assert "where anything read counts as an error: 1 of blank." in outcome.out
    assert json.loads((tmp_path / "a.json").read_text())["sets"][0]["cer"] is None


@pytest.mark.parametrize("name", ["missing.parquet", "empty", "*.parquet"])
def test_data_that_are_not_there(drethtr, tiny_path, tmp_path, name):
    (tmp_path / "empty").mkdir()
    outcome = drethtr("evaluate", tmp_path / name, "--model", tiny_path)
    assert outcome.code == 2 and outcome.err.startswith("drethtr: ") and outcome.err.count("\n") == 1


def test_a_damaged_image_is_named_and_the_others_are_evaluated(drethtr, lines, tiny_path, tmp_path):
    (lines / "one.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    outcome = drethtr("evaluate", lines, "--model", tiny_path, "--json", tmp_path / "a.json")
    assert outcome.code == 1 and outcome.err.count("one.png") == 1 and outcome.err.count("\n") == 1
    assert "Left out because the image cannot be used: 1 line." in outcome.out
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["unreadable"] == 1 and found["overall"]["lines"] == 1


def test_without_an_image_that_can_be_used_there_are_no_rates(drethtr, lines, tiny_path):
    for image in lines.glob("*.png"):
        image.write_bytes(b"\x89PNG\r\n\x1a\n")
    outcome = drethtr("evaluate", lines, "--model", tiny_path)
    assert outcome.code == 2 and outcome.err.count("one.png") == 1 and outcome.out == ""


def test_errors_of_each_line_are_written(drethtr, lines, tiny_path, tmp_path):
    (lines / "two.gt.txt").write_text("a  cabbage ", encoding="utf-8")
    rows, figures = tmp_path / "errors.jsonl", tmp_path / "a.json"
    run = ("evaluate", lines, "--model", tiny_path, "--per-line", rows, "--json", figures)
    assert drethtr(*run).code == 0
    one, two = map(json.loads, rows.read_text(encoding="utf-8").splitlines())
    overall = json.loads(figures.read_text())["overall"]
    assert [row["line"] for row in (one, two)] == [str(lines / "one.png"), str(lines / "two.png")]
    assert (one["id"], two["id"]) == ("one", "two")
    assert (one["text"], two["text"]) == ("abc def", "a cabbage")  # as compared
    assert {type(row["reading"]) for row in (one, two)} == {str} and 0 <= one["confidence"] <= 1
    assert sum(row["edits"] for row in (one, two)) == round(overall["cer"] * overall["characters"])
    for kind in KINDS:
        assert one[kind] + two[kind] == overall[kind]
    assert one["edits"] == sum(one[kind] for kind in KINDS)
    assert "--force" in drethtr(*run[:-2]).err
    assert "whole pages; leave out --per-line" in drethtr(*run[:-2], "--force", "--end-to-end").err


def test_images_that_are_given_twice_are_counted(drethtr, lines, tiny_path, tmp_path):
    """They had twice the weight of others, without a word."""
    (tmp_path / "lines.tsv").write_text("one.png\tabc def\n", encoding="utf-8")
    both = drethtr("evaluate", tmp_path / "lines.tsv", lines, "--model", tiny_path)
    assert both.code == 0 and "1 of 3 lines repeat the image of another; give each image once" in both.err
    assert "repeat" not in drethtr("evaluate", lines, "--model", tiny_path).err


@pytest.mark.parametrize(("name", "content"), [("a.tsv", ""), ("a.tsv", "file\ttext\n"), ("a.jsonl", "")])
def test_a_table_without_lines_is_named(drethtr, tiny_path, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    outcome = drethtr("evaluate", tmp_path / name, "--model", tiny_path)
    assert outcome.code == 2 and f"{tmp_path / name}: no lines found" in outcome.err
