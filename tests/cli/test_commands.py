"""Commands from entry points."""

import ast
import inspect
import sys
import textwrap

import pytest
import typer

from drethtr.cli.commands import ENTRY_POINTS, walk
from drethtr.cli.main import app

COMMANDS = """
import typer


def greet(name: str) -> None:
    "Greet somebody."
    typer.echo(f"hello {name}")


app = typer.Typer(help="Several.")
app.command()(greet)


@app.command()
def leave() -> None:
    "Leave."
"""


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Install a package with commands."""

    def install():
        (tmp_path / "greetings.py").write_text(COMMANDS)
        info = tmp_path / "greetings-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greetings\nVersion: 1.0\n")
        points = "greet = greetings:greet\nseveral = greetings:app\ntrain = greetings:greet\n"
        (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{points}")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "greetings", raising=False)

    yield install
    sys.modules.pop("greetings", None)


def test_every_option_of_every_command_is_used():
    """A command that takes one and forgets it would answer as if it had not been given."""
    commands = list(walk(typer.main.get_command(app)))
    assert len(commands) > 25
    for words, command in commands:
        function = inspect.unwrap(command.callback)
        code = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        used = {node.id for line in code.body for node in ast.walk(line) if isinstance(node, ast.Name)}
        assert set(inspect.signature(function).parameters) <= used, words


def test_a_function_and_a_group_are_plugged_in(drethtr, offer):
    offer()
    shown = drethtr("--help").out
    assert "Greet somebody." in shown and "Several." in shown
    assert drethtr("greet", "you").out == drethtr("several", "greet", "you").out == "hello you\n"


@pytest.mark.parametrize("code", ["import nothing_of_this_name", "1 / 0", "a syntax error"])
def test_a_broken_command_breaks_no_other(drethtr, offer, tmp_path, monkeypatch, code):
    offer()
    (tmp_path / "greetings.py").write_text(f"{code}\n")
    shown = drethtr("--help")
    assert shown.code == 0 and "transcribe" in shown.out and "cannot be imported" in " ".join(shown.out.split())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drethtr.toml").write_text("limit = 3\n")  # an option of other commands, which are asked for theirs
    assert drethtr("segment", "gone.png").err == "drethtr: gone.png: no such file or folder\n"


def test_what_a_broken_command_lacks_is_named(drethtr, offer, tmp_path):
    offer()
    (tmp_path / "greetings.py").write_text("import nothing_of_this_name\n")
    outcome = drethtr("greet", "you")
    assert outcome.code == 2 and outcome.err == (
        "drethtr: the plug-in greet (greetings:greet) of the package greetings cannot be imported: "
        "No module named 'nothing_of_this_name'; install what it lacks, or uninstall it\n"
    )


def test_a_command_of_our_own_is_not_replaced(drethtr, offer):
    offer()
    assert "Greet" not in drethtr("train", "--help").out


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "run.toml", "--output", "out"],
        ["finetune", "lines", "--output", "a.safetensors"],
        ["reproduce"],
        ["convert", "weights.pt", "out.safetensors", "--preset", "base"],
        ["bench", "decoding"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_needs_torch_says_so(drethtr, monkeypatch, arguments):
    monkeypatch.setitem(sys.modules, "torch", None)
    outcome = drethtr(*arguments)
    assert (outcome.code, outcome.err) == (2, "drethtr: torch is not installed; run: pip install 'drethtr[train]'\n")
