"""Commands that are plugged in by entry points, from the research room or from other packages.

An entry point of the group `drethtr.commands` names a function, or a `typer.Typer` of several. Its module may declare
what the command needs: `NEEDS = {"torch": "train"}`, packages with the extra of drethtr that installs them. If one is
missing, the command is not listed, and typing it says what to install.

Contexts and commands are of click, or of the copy of it inside typer, as the version of typer has it: hence `Any`.
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


class Commands(TyperGroup):
    """A group with plugged commands behind its own; only help and unknown names look for them."""

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
    """The packages that a command needs, with the extras that install them."""
    point.load()
    found: Mapping[str, str] = getattr(sys.modules[point.module], "NEEDS", {})
    return found


def can_run(point: "EntryPoint") -> bool:
    """Whether all that a command needs is installed."""
    try:
        for package, extra in needs(point).items():
            require(package, extra)
    except MissingExtraError:
        return False
    return True


def as_click(name: str, command: object) -> Any:
    """A function or a group of commands as click has them."""
    if isinstance(command, typer.Typer):
        made = typer.main.get_command(command)
    else:
        assert callable(command)
        alone = typer.Typer(add_completion=False)
        alone.command(name)(command)
        made = typer.main.get_command(alone)
    made.name = name
    return made
