"""Commands from entry points, of `drethtr.paper` or of other packages.

An entry point of the group `drethtr.commands` names a function, or a `typer.Typer` with several commands. Its module
may declare required packages, each with the drethtr extra that installs it: `NEEDS = {"torch": "train"}`. If one is
missing, the command is not listed, and running it says what to install.

Click contexts and commands are typed `Any`, since some versions of typer use their own copy of click.
"""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from drethtr.base.errors import MissingExtraError, require
from drethtr.base.plugins import plugged

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "drethtr.commands"
HEADING = "Research and plug-ins"


class Commands(TyperGroup):
    """A group whose plugged-in commands follow its own; they are looked up only for help and unknown names."""

    def list_commands(self, context: Any) -> list[str]:
        own = super().list_commands(context)
        return [*own, *(name for name, point in plugged(ENTRY_POINTS).items() if name not in own and can_run(point))]

    def get_command(self, context: Any, name: str) -> Any:
        own = super().get_command(context, name)
        if own is not None or (point := plugged(ENTRY_POINTS).get(name)) is None:
            return own
        for package, extra in needs(point).items():
            require(package, extra)
        return as_click(name, point.load())


def needs(point: "EntryPoint") -> Mapping[str, str]:
    """The packages that a command needs, each with the extra that installs it."""
    point.load()
    found: Mapping[str, str] = getattr(sys.modules[point.module], "NEEDS", {})
    return found


def can_run(point: "EntryPoint") -> bool:
    """Whether all packages that a command needs are installed."""
    try:
        for package, extra in needs(point).items():
            require(package, extra)
    except MissingExtraError:
        return False
    return True


def as_click(name: str, command: object) -> Any:
    """Convert a function or `typer.Typer` to a click command."""
    if isinstance(command, typer.Typer):
        made = typer.main.get_command(command)
    else:
        assert callable(command)
        alone = typer.Typer(add_completion=False)
        alone.command(name)(command)
        made = typer.main.get_command(alone)
    made.name = name
    made.rich_help_panel = HEADING  # type: ignore[attr-defined]
    return made
