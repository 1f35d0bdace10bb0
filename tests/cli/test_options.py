"""The options of commands that read are declared once."""

from dataclasses import fields
from inspect import signature

import pytest
import typer

from drethtr.cli.commands import walk
from drethtr.cli.main import app
from drethtr.cli.options import PANEL, ReadingOptions, with_reading_options

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
