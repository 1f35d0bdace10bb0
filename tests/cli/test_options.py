"""The options of commands that read are declared once."""

import json
from dataclasses import fields
from inspect import signature

import pytest
import typer

from drethtr import Recognizer
from drethtr.base.errors import ConfigError
from drethtr.cli import transcribe
from drethtr.cli.commands import as_click, walk
from drethtr.cli.main import app
from drethtr.cli.options import PANEL, USUAL_DOUBT, ReadingOptions, completed, with_reading_options
from drethtr.documents.formats import FORMATS, LINE_FORMATS, formats_named
from drethtr.documents.read import read_page
from drethtr.pages.segmentation import segmentation_named
from drethtr.paper.published_decoding import PublishedBeam, PublishedGreedy
from drethtr.recognition.decoding.strategies import (
    CTC,
    Beam,
    Greedy,
    Joint,
    VerifiedDrafts,
    decoder_name,
    strategy_named,
)
from drethtr.recognition.protocol import Precision, precision_named
from drethtr.recognition.reading import DOUBTFUL

READING = {field.name for field in fields(ReadingOptions)}

LACKING = {("batch",): {"threads"}, ("model", "compare"): {"model", "decoder"}}
"""Commands that say otherwise what these options say."""


@pytest.mark.parametrize(
    "words",
    [
        ("transcribe",),
        ("edit",),
        ("serve",),
        ("batch",),
        ("index",),
        ("check",),
        ("align",),
        ("evaluate",),
        ("model", "compare"),
        ("model", "predict-cer"),
        ("model", "explain"),
        ("data", "check"),
        ("data", "gaps"),
    ],
    ids=" ".join,
)
def test_a_command_that_reads_has_all_reading_options(words):
    command = dict(walk(typer.main.get_command(app)))[words]
    found = {option.name: option for option in command.params if getattr(option, "rich_help_panel", None) == PANEL}
    assert found.keys() == READING - LACKING.get(words, set())
    assert all(found[name].default == getattr(ReadingOptions(), name) for name in found)


def test_a_command_gets_what_was_typed_as_one_value():
    @with_reading_options(without=["threads"])
    def command(name: str, *, reading: ReadingOptions, force: bool = False):
        return name, reading, force

    assert [*signature(command).parameters] == ["name", "model", "decoder", "language", "precision", "device", "force"]
    assert command(name="a", decoder="ctc", force=True) == ("a", ReadingOptions(decoder="ctc"), True)


def test_options_reach_the_recognizer(tiny_path):
    recognizer = ReadingOptions(model=tiny_path, decoder="greedy", device="cpu", threads=1).load(doubtful=0.25)
    assert repr(recognizer.strategy) == "Greedy()" and recognizer.doubtful == 0.25


def test_the_number_may_be_left_out():
    assert USUAL_DOUBT == DOUBTFUL
    for given, meant in (
        (["--doubts"], ["--doubts=0.5"]),
        (["--doubts", "a.png"], ["--doubts=0.5", "a.png"]),
        (["--doubts", "-f", "txt"], ["--doubts=0.5", "-f", "txt"]),
        (["--doubts", "0.8", "a.png"], ["--doubts", "0.8", "a.png"]),
        (["--doubts=0.8"], ["--doubts=0.8"]),
        (["--doubts", "--", "0.8"], ["--doubts=0.5", "--", "0.8"]),
        (["--", "--doubts"], ["--", "--doubts"]),
    ):
        assert list(completed(given)) == meant


def test_one_limit_for_every_format(drethtr, lines, tiny_path, tmp_path):
    """At 1 no word is sure enough, at 0 every word is."""
    run = ("transcribe", lines / "two.png", "--model", tiny_path, "--format", "txt,page,alto,json", "--output")
    for limit, doubtful in (("1", True), ("0", False)):
        out = tmp_path / limit
        assert drethtr(*run, out, "--doubts", limit).code == 0
        assert ("?]" in (out / "two.txt").read_text(encoding="utf-8")) == doubtful
        for name in ("two.page.xml", "two.alto.xml", "two.json"):
            words = [word for line in read_page(out / name).lines for word in line.words]
            assert words and {word.doubtful for word in words} == {doubtful}
    refused = drethtr(*run, tmp_path / "0", "--doubts", "1")
    assert refused.code == 1 and "made with doubts 0.0, not 1.0" in refused.err


def test_the_limit_of_a_line_image(drethtr, lines, tiny_path):
    image = lines / "two.png"
    marked = drethtr("transcribe", image, "--model", tiny_path, "--doubts", "1").out.split()
    found = json.loads(drethtr("transcribe", image, "--model", tiny_path, "--format", "json", "--doubts", "1").out)
    assert marked == [f"[{word['text']}?]" for word in found["words"]]
    assert all(word["doubtful"] for word in found["words"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--doubts", "2"), "0<=x<=1"),
        (("--doubts", "--format", "tsv"), "cannot mark words in tsv"),
        (("--doubts", "--format", "pdf,hocr", "--output", "out"), "cannot mark words in pdf, hocr"),
    ],
)
def test_doubts_that_cannot_be_marked(drethtr, lines, tiny_path, arguments, message):
    outcome = drethtr("transcribe", lines / "two.png", "--model", tiny_path, *arguments)
    assert outcome.code == 2 and message in outcome.err


@pytest.mark.parametrize(
    ("name", "decoder"),
    [
        ("ctc", CTC()),
        ("greedy", Greedy()),
        ("verified", VerifiedDrafts()),
        ("beam", Beam()),
        ("beam:3", Beam(3)),
        ("joint", Joint()),
        ("careful", Joint(candidates=4, stretches=(1.0, 0.8, 1.2))),
    ],
)
def test_strategies_have_names(name, decoder):
    assert strategy_named(name) == decoder


@pytest.mark.parametrize(
    ("decoder", "name"),
    [
        (CTC(), "ctc"),
        (Beam(), "beam:5"),
        (PublishedGreedy(), "published"),
        (PublishedBeam(3), "published:3"),
        (Joint(), "joint"),
        (Joint(ctc_weight=0.55, language_weight=0.35), "joint"),
        (Joint(candidates=4, stretches=(1.0, 0.8, 1.2)), "careful"),
        (Joint(candidates=4, stretches=(1.0, 0.8, 1.2)).completed_by(Joint(ctc_weight=0.55)), "careful"),
        (Beam(3, length_exponent=0.5), "Beam(beams=3, length_exponent=0.5)"),
        (Joint(candidates=9), repr(Joint(candidates=9))),
    ],
)
def test_decoders_are_called_as_they_are_typed(decoder, name):
    assert decoder_name(decoder) == name


def test_precision_that_is_unknown_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'bfloat16'"):
        precision_named("bfloat")
    with pytest.raises(ConfigError, match="unknown precision 'INT8'; did you mean 'int8'"):
        precision_named("INT8")


def test_alternatives_are_in_json(drethtr, lines, tiny_path):
    image = lines / "two.png"
    arguments = ("transcribe", image, "--model", tiny_path, "--decoder", "joint", "--format", "json")
    found = json.loads(drethtr(*arguments, "--alternatives", "3").out)["alternatives"]
    [reading] = Recognizer.load(tiny_path, decoder="joint", alternatives=3).read([image])
    assert [text["text"] for text in found] == [other.text for other in reading.alternatives]
    assert found[0]["text"] == reading.text and 2 <= len(found) <= 4
    assert json.loads(drethtr(*arguments).out)["alternatives"] == []


def test_alternatives_have_no_place_elsewhere(drethtr, lines, tiny_path):
    outcome = drethtr("transcribe", lines, "--model", tiny_path, "--alternatives", "3")
    assert outcome.code == 2 and "json" in outcome.err


def test_images_may_be_read_in_bfloat16(drethtr, lines, tiny_path):
    """Rounding is seen in the confidences."""
    image = lines / "two.png"
    out = drethtr("transcribe", image, "--model", tiny_path, "--precision", "bfloat16", "--format", "json").out
    found = [character["confidence"] for character in json.loads(out)["characters"]]
    recognizers = [
        Recognizer.load(tiny_path, precision=exactness) for exactness in (Precision.BFLOAT16, Precision.FLOAT32)
    ]
    rounded, exact = ([one.confidence for one in recognizer.read([image])[0].characters] for recognizer in recognizers)
    assert found == pytest.approx(rounded, abs=1e-4) and found != pytest.approx(exact, abs=1e-4)


def test_values_that_a_shell_completes_are_accepted():
    offered = {
        option.name: [item.value for item in option.shell_complete(None, "")]
        for option in as_click("transcribe", transcribe.app).params
        if option.name in ("decoder", "precision", "lines", "format")
    }
    assert [decoder_name(strategy_named(name)) for name in offered["decoder"]] == offered["decoder"]
    assert [precision_named(name).value for name in offered["precision"]] == offered["precision"]
    assert all(segmentation_named(name) for name in offered["lines"])
    assert all(formats_named([name], {**LINE_FORMATS, **FORMATS}) for name in offered["format"])


@pytest.mark.parametrize(
    ("command", "unused"),
    [
        ("index BATCH", "--model m"),
        ("index BATCH", "--decoder ctc"),
        ("index BATCH", "--language en"),
        ("index BATCH", "--lines rapid"),
        ("index BATCH", "--outlines own"),
        ("index BATCH", "--images BATCH"),
        ("index BATCH", "--pages 1"),
        ("index BATCH", "--recursive"),
        ("check lines.tsv", "--lines rapid"),
        ("check lines.tsv", "--outlines own"),
        ("check lines.tsv", "--images BATCH"),
        ("check lines.tsv", "--format alto"),
        ("check page.xml", "--format alto"),
        ("align page.xml text.txt --ground-truth a.parquet", "--format alto"),
        ("align page.xml text.txt --output out", "--correct 0.9"),
        ("evaluate page.xml --layout", "--model m"),
        ("evaluate page.xml --layout", "--decoder ctc"),
        ("evaluate page.xml --layout", "--language en"),
        ("evaluate page.xml --layout", "--precision int8"),
        ("evaluate page.xml --layout", "--seed 1"),
        ("evaluate page.xml --end-to-end", "--seed 1"),
        ("evaluate page.xml --layout", "--outlines own"),
        ("evaluate page.xml --end-to-end", "--outlines own"),
        ("evaluate page.xml --end-to-end --lines given", "--order rows"),
        ("transcribe page.xml --lines rapid", "--outlines own"),
        ("transcribe page.xml --lines given", "--order columns"),
        ("index page.xml --lines projection", "--outlines own"),
        ("check page.xml --lines rapid", "--outlines own"),
        ("align page.xml text.txt --output out --lines whole", "--outlines given"),
        ("evaluate lines.tsv", "--images BATCH"),
        ("evaluate lines.tsv", "--outlines own"),
        ("predict-cer lines.tsv", "--images BATCH"),
        ("predict-cer lines.tsv --truth", "--images BATCH"),
        ("finetune lines.tsv --output a.safetensors", "--images BATCH"),
        ("data import lines.tsv a.parquet", "--images BATCH"),
        ("data import lines.tsv a.parquet", "--outlines own"),
        ("data import lines.tsv a.parquet", "--unconfirmed"),
        ("finetune page.xml --layout --output a.safetensors", "--minimum-count 3"),
        ("rescorer m.safetensors lines.tsv", "--share 0.2"),
        ("language m.safetensors lines.tsv", "--share 0.2"),
        ("language m.safetensors lines.tsv", "--lines 9"),
    ],
)
def test_an_option_that_would_have_no_effect_is_refused(drethtr, tmp_path, monkeypatch, command, unused):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "BATCH").mkdir()
    (tmp_path / "BATCH" / "_job.json").write_text("{}")
    (tmp_path / "lines.tsv").write_text("a.png\tabc\n")
    outcome = drethtr(*command.split(), *unused.split())
    assert outcome.code == 2 and f"; leave out {unused.split()[0]}\n" in outcome.err, outcome.err


def test_a_setting_may_have_no_effect(drethtr, tmp_path, monkeypatch):
    """One for all commands, or for other runs of this one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRETHTR_DECODER", "ctc")
    (tmp_path / "drethtr.toml").write_text("seed = 3\n")
    outcome = drethtr("evaluate", "page.xml", "--layout")
    assert outcome.code == 2 and outcome.err == "drethtr: page.xml: no such file or folder\n", outcome.err
