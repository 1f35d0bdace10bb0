"""Commands that are imported when they run, and commands of plug-ins.

An entry point of the group `drethtr.commands` names a function, or a `typer.Typer` with several commands.

Click contexts and commands are typed `Any`, since some versions of typer use their own copy of click.
"""

import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from drethtr.base.errors import ConfigError
from drethtr.base.plugins import loaded, plugged
from drethtr.cli import settings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "drethtr.commands"
PLUG_INS = "Research and plug-ins"
"""The heading under which help lists plug-ins."""


class Lazy(TyperCommand):
    """A command that help lists without importing it.

    Args:
        source: `module:name` of a function or a `typer.Typer`; `module` alone if the function has its name.
        place: Where a settings file has its table; by default under its name.
        hidden: Whether help leaves it out.
    """

    def __init__(
        self,
        name: str,
        source: str,
        help: str,
        heading: str | None = None,
        *,
        place: tuple[str, ...] = (),
        hidden: bool = False,
    ) -> None:
        super().__init__(name, help=help, rich_help_panel=heading, hidden=hidden)
        self.source = source
        self.place = place or (name,)

    @cached_property
    def command(self) -> Any:
        """The command itself."""
        module, _, name = self.source.partition(":")
        return as_click(str(self.name), getattr(import_module(module), name or module.rpartition(".")[2]))

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        extra["default_map"] = settings.configure(self.command, self.place, parent.find_root().command)
        return self.command.make_context(info_name, args, parent, **extra)


class PlugIn(Lazy):
    """A command that an entry point names; if it cannot be imported, its help is the error."""

    def __init__(self, point: "EntryPoint") -> None:
        self.point = point
        try:
            help = help_of(loaded(point))
        except ConfigError as error:
            help = str(error)
        super().__init__(point.name, point.value, help, PLUG_INS)

    @cached_property
    def command(self) -> Any:
        return as_click(str(self.name), loaded(self.point))


class WithPlugIns(TyperGroup):
    """A group whose own commands come before those of plug-ins, which are looked up only for help and unknown names."""

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *(name for name in plugged(ENTRY_POINTS) if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        if own is not None or (point := plugged(ENTRY_POINTS).get(cmd_name)) is None:
            return own
        return PlugIn(point)

    def option_names(self) -> Iterator[str]:
        """The names of all options; this imports every command. Plug-ins that cannot be imported are left out."""
        for command in (self.get_command(None, name) for name in self.list_commands(None)):
            with suppress(ConfigError):
                for _, each in walk(command):
                    yield from settings.options_of(each)


def help_of(command: object) -> str:
    """The help of a function or `typer.Typer`; much faster than converting it to a command."""
    if isinstance(command, typer.Typer):
        if isinstance(command.info.help, str):
            return command.info.help
        command = command.registered_callback and command.registered_callback.callback
    return inspect.getdoc(command) or ""


def as_click(name: str, command: object) -> Any:
    """Convert a function or `typer.Typer` to a click command."""
    if not isinstance(command, typer.Typer):
        assert callable(command)
        function, command = command, typer.Typer(add_completion=False)
        command.command(name)(function)
    made = typer.main.get_command(command)
    made.name = name
    for _, each in walk(made):
        each.help = re.sub(r"(?<!\n)\n(?!\n)", " ", each.help or "")  # paragraphs fit the terminal, not the source
    return made


def walk(command: Any, *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Import every command that help lists in a group, and yield each with the words that call it."""
    loaded = command.command if isinstance(command, Lazy) else command
    if not hasattr(loaded, "commands"):
        yield words, loaded
        return
    for name in loaded.list_commands(None):
        below = loaded.get_command(None, name)
        if not below.hidden:
            yield from walk(below, *words, name)
