"""Commands, options, links and imports in the documentation exist."""

import ast
import re

import pytest
import typer
from documented import PAGES, blocks

from drethtr.cli.commands import walk
from drethtr.cli.main import app

COMMAND = re.compile(r"(?:^|(?<!engine)[\s(])drethtr(?:\.cli)? (?!import\b)([a-z][^#\n]*)")
OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*")
LINK = re.compile(r"\]\(([^)#\s]+)")
FENCE = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)
PROGRAM = typer.main.get_command(app)


def typed(text):
    """All text set as code: lines of blocks, and pieces between backticks."""
    for block in FENCE.findall(text):
        yield from block.replace("\\\n", " ").splitlines()
    for piece in re.findall(r"`([^`]+)`", FENCE.sub("", text)):
        yield " ".join(piece.split())


def requests(text):
    """Each command with its arguments."""
    return (found.group(1).split() for code in typed(text) for found in COMMAND.finditer(code))


def command_of(words):
    """Look up the command that begins a list of words."""
    command, words = PROGRAM, list(words)
    while words and hasattr(command, "get_command"):
        name = words.pop(0).rstrip(".,")  # in a sentence
        command = command.get_command(typer.Context(command), name)
        command = getattr(command, "command", command)
        assert command is not None, f"there is no command {name}"
    return command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_are_there(page):
    for words in requests(page.read_text(encoding="utf-8")):
        known = {name for parameter in command_of(words).params for name in parameter.opts}
        assert set(OPTION.findall(" ".join(words))) <= known | {"--help"}, words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_compile_and_what_they_import_is_there(page):
    for block in blocks(page):
        if block.language != "python":
            continue
        assert compile(block.code, page.name, "exec")
        imports = [line for line in ast.parse(block.code).body if isinstance(line, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), page.name, "exec"), {})


def test_every_command_is_told_of():
    told = [words for page in PAGES for words in requests(page.read_text(encoding="utf-8"))]
    for words, _ in walk(PROGRAM):
        assert any(tuple(found[: len(words)]) == words for found in told), words
