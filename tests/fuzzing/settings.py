"""Settings files: of runs, cards and commands."""

import json
from contextlib import chdir, suppress
from pathlib import Path

import typer
from hypothesis import strategies as st

from drethtr.base import config
from drethtr.base.errors import DrethtrError
from drethtr.cli.main import app
from drethtr.cli.settings import FILE
from drethtr.sharing.card import read_additions
from drethtr.training.run import RunConfig
from fuzzing.files import ANYTHING, TEXTS, Bytes, Target, mutated

KEYS = ["samples", "train", "validation", "network", "optimizer", "kind", "paths", "seed", "license", "data", "name"]


def settings(names: list[str]) -> Bytes:
    """TOML with these keys and any values."""
    values = st.one_of(
        ANYTHING.map(json.dumps),
        st.sampled_from(["[" * 3000, "1979-05-27", "nan", "1" * 5000, "{kind = 'Real'}", "[{}]", "[[]]", "'''", "0x"]),
    )
    keys = st.sampled_from(names) | st.text(max_size=5)
    rows = st.tuples(keys, values).map(" = ".join)
    tables = st.sampled_from(names).map(lambda name: f"[{name}]")
    return st.lists(rows | tables, max_size=6).map(lambda rows: "\n".join(rows).encode("utf-8", "replace"))


def use_settings(path: Path) -> None:
    """Read a file as settings of a run, and as entries of a card."""
    with suppress(DrethtrError):
        read_additions(path)
    config.load(RunConfig, path)


COMMAND = typer.main.get_command(app)
COMMANDS = {"transcribe": ["a.png"], "batch": ["a.parquet"], "serve": [], "train": ["run.toml"], "index": ["scans"]}
OPTIONS = sorted({*COMMAND.option_names()})
VALUES = [
    "inf",
    "-1",
    "1e308",
    "true",
    "'json'",
    "['txt', 1]",
    "[]",
    "'~/a'",
    "'~nobody/a'",
    "'\\u0000'",
    "''",
    "07:32:00",
]


def defaults() -> Bytes:
    """Settings files that may be found in folders of scans."""
    values = st.sampled_from(VALUES) | (ANYTHING | TEXTS).map(json.dumps)
    rows = st.tuples(st.sampled_from(OPTIONS) | st.text(max_size=5), values).map(" = ".join)
    tables = st.sampled_from([f"[{name}]" for name in (*COMMANDS, "data.check", "nothing")])
    return st.lists(rows | tables, max_size=5).map(lambda rows: "\n".join(rows).encode("utf-8", "replace"))


def use_defaults(path: Path) -> None:
    """Start commands in a folder with a settings file; typer may refuse bad values."""
    path.with_name(FILE).write_bytes(path.read_bytes())
    with chdir(path.parent), COMMAND.make_context("drethtr", ["info"], resilient_parsing=True) as context:
        for name, arguments in COMMANDS.items():
            with suppress(typer.BadParameter):
                COMMAND.commands[name].make_context(name, arguments, parent=context)


TARGETS = {
    "toml": Target(".toml", mutated(settings(KEYS)), use_settings),
    "defaults": Target(".settings", mutated(defaults()), use_defaults),
}
