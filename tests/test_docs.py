"""Commands, options and links in the documentation exist."""

import re

import pytest
import typer
from documented import PAGES, ROOT

from drethtr.cli.commands import walk
from drethtr.cli.main import app
from drethtr.recognition.model.file import SHIPPED, load_model

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


def test_every_command_is_told_of():
    told = [words for page in PAGES for words in requests(page.read_text(encoding="utf-8"))]
    for words, _ in walk(PROGRAM):
        assert any(tuple(found[: len(words)]) == words for found in told), words


def percent(figures, rate):
    """A rate of a card as the pages print it: `7.0 [6.2, 8.0]`, without an interval where a set has too few pages."""
    low, high = figures.get(f"{rate}_low"), figures.get(f"{rate}_high")
    interval = "" if low is None else f" [{100 * low:.1f}, {100 * high:.1f}]"
    return f"{100 * figures[rate]:.1f}{interval}"


def test_the_figures_of_the_shipped_model_are_those_of_its_card():
    """Its last evaluation: all sets, and all lines together."""
    evaluation = load_model(SHIPPED).card["evaluation"]
    sets, total = {one["name"]: one for one in evaluation["sets"]}, evaluation["overall"]
    page = (ROOT / "docs" / "model.md").read_text(encoding="utf-8").replace("**", "").replace(" * |", " |")
    rows = [[cell.strip() for cell in row.split("|")[1:5]] for row in page.splitlines() if row.startswith("|")]
    for name, one in {**sets, "all": total}.items():
        assert [name, f"{one['lines']:,}", percent(one, "cer"), percent(one, "wer")] in rows
    of_sets = page.partition("| set | lines |")[2].partition("\n\n")[0]
    assert of_sets.count("\n| ") == len(sets) + 1 and f"of {len(sets)} public sets" in page

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    cer = {name: f"{100 * one['cer']:.1f}" for name, one in sets.items()}
    for row in (
        f"| modern English, unseen | {cer['csafe_en']} % |",
        f"new hands, two collections | {cer['htromance17_fr']} and {cer['cremma17_fr']} % |",
        f"| English of 1507 to 1797, new hands | {cer['tna_pal_en']} % |",
        f"a collection left out of training | {cer['bundesrat_de']} % |",
        f"| American letters of 1905, unseen | {cer['jls_en']} % |",
        f"| Kurrent of letters, new hands | {cer['read17_de']} % |",
        f"| Kurrent of Tübingen, 1799 to 1847, new hands | {cer['senat_de']} % |",
        f"{total['lines']:,} lines, word error rate {100 * total['wer']:.1f} % | {100 * total['cer']:.1f} % |",
    ):
        assert row in readme
    trust = evaluation["trust"]["words"]["ece"]
    assert f"Word confidences are off by {100 * trust:.1f} % on average" in readme
