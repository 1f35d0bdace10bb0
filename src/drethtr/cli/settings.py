"""Defaults of options from settings files and environment variables.

    model = "mine.safetensors"   # for every command that has this option
    [transcribe]
    format = "txt,alto"          # for one command

`drethtr.toml` in the current folder overrides the user's, and variables such as `DRETHTR_TRANSCRIBE_FORMAT` and
`DRETHTR_MODEL` override files; a setting of one command overrides one for all.

Click commands and options are typed `Any`, since some versions of typer use their own copy of click.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import typer

from drethtr.base.config import hint, read_toml
from drethtr.base.errors import ConfigError

FILE = "drethtr.toml"

PREFIX = "DRETHTR_"

LIKENESS = 0.8
"""Least similarity, from 0 to 1, of a misspelled variable and the one that was meant."""

KUBERNETES = re.compile(PREFIX + r"(SERVICE_(HOST|PORT)[_=]|PORT(=\w+://|_\d+_))")
"""Variables that Kubernetes sets in every pod beside a service named drethtr."""

TYPED = "force"
"""The option that must be typed, so that a forgotten setting never replaces files."""

FROM_NO_FILE = (TYPED, "host", "allow-host")
"""Options that no file may set: a file that comes with scans must not open a server to others."""

WHOLE = (bool, list, Mapping)
"""Types that are not a single typed value."""

Table: TypeAlias = dict[str, Any]


def default_map(context: Any) -> Table:
    """The settings of every command, by parameter name, for click's `default_map`.

    Raises:
        ConfigError: naming an unknown or invalid setting, and where it is.
    """
    found: Table = {}
    for file in (Path(typer.get_app_dir("drethtr")) / FILE, Path(FILE)):
        if file.is_file():
            table = read_toml(file)
            refuse_in_file(table, str(file))
            merge(found, spread(context, context.command, table, str(file)))
    given = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(PREFIX) and not KUBERNETES.match(f"{name}={value}")
    }
    if given:
        known = variables(context.command)
        refuse_misspelled(given, known)
        for name, place in known.items():
            if place[-1] != TYPED and (value := given.get(name)):
                merge(found, spread(context, context.command, nested(place, value), name))
    return found


def spread(context: Any, command: Any, table: Mapping[str, Any], where: str, for_all: Table | None = None) -> Table:
    """The settings of a command, or of all commands in a group, by parameter name.

    Args:
        for_all: Settings of the enclosing groups, for every command that has such an option.
    """
    common, known = dict(for_all or {}), options_of(command)
    if not is_group(command):
        own = {name: value for name, value in common.items() if name in known}
        for name, value in table.items():
            check_name(name, known, f"{where}: {command.name}")
            own[name.replace("_", "-")] = value
        return {known[name].name: checked(context, known[name], value, where) for name, value in own.items()}
    commands: Table = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            if name not in command.commands:
                raise ConfigError(f"there is no command {name!r}{hint(name, command.commands)}", where)
            commands[name] = value
        else:
            check_name(name, known, where)
            common[name.replace("_", "-")] = value
    return {
        name: spread(context, below, commands.get(name, {}), where, common) for name, below in command.commands.items()
    }


def is_group(command: Any) -> bool:
    """Whether a command is a group of commands."""
    return hasattr(command, "commands")


def options_of(command: Any) -> Table:
    """The options of a command, or of all commands in a group, by long name without dashes."""
    if is_group(command):
        return {name: option for below in command.commands.values() for name, option in options_of(below).items()}
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    return {name[2:]: option for option in options for name in option.opts if name.startswith("--")}


def refuse_in_file(table: Mapping[str, Any], where: str) -> None:
    """Refuse settings that are not allowed in files.

    Raises:
        ConfigError: naming the first.
    """
    for name, value in table.items():
        if isinstance(value, Mapping):
            refuse_in_file(value, where)
        elif (option := name.replace("_", "-")) in FROM_NO_FILE:
            raise ConfigError(f"{name!r} cannot be set in a file; give --{option} on the command line", where)


def check_name(name: str, known: Mapping[str, Any], where: str) -> None:
    """Refuse an unknown setting.

    Raises:
        ConfigError: suggesting the most similar name.
    """
    option = name.replace("_", "-")
    if option not in known:
        raise ConfigError(f"unknown setting {name!r}{hint(option, [*known])}", where)


def checked(context: Any, option: Any, value: Any, where: str) -> Any:
    """Check a setting, and convert it to what would be typed, for click.

    Raises:
        ConfigError: if it has the wrong type or an invalid value.
    """
    name = f"{where}: {option.opts[0].lstrip('-')}"
    if option.multiple and isinstance(value, str):
        value = [value]
    many = isinstance(value, list)
    values = value if many else [value]
    if many != option.multiple or any(
        isinstance(item, (list, Mapping) if option.is_flag else WHOLE) for item in values
    ):
        raise ConfigError(f"expected {kind_of(option)}, got {value!r}", name)
    try:
        values = [item if isinstance(item, bool) else at_home(str(item)) for item in values]
        value = values if many else values[0]
        option.type_cast_value(context, value)
    except typer.BadParameter as error:
        raise ConfigError(f"{error.message}", name) from error
    except ValueError as error:  # a number with more digits than Python converts
        raise ConfigError(str(error), name) from error
    return value


def at_home(value: str) -> str:
    """Expand `~/` in a value, as a shell does."""
    return str(Path(value).expanduser()) if value.startswith("~/") else value


def kind_of(option: Any) -> str:
    """What an option expects, as text."""
    if option.is_flag:
        return "true or false"
    return "a list" if option.multiple else f"one value, {option.type.name}"


def variables(command: Any) -> dict[str, list[str]]:
    """The names of all variables and the option each sets, first those for all commands."""
    places = [*([name] for name in options_of(command)), *places_of(command)]
    return {PREFIX + "_".join(place).upper().replace("-", "_"): place for place in places}


def refuse_misspelled(given: Iterable[str], known: Mapping[str, object]) -> None:
    """Refuse variables that resemble ours, but are none; others with our prefix may belong to anybody.

    Raises:
        ConfigError: naming the first of them, and what it resembles.
    """
    names = [name.removeprefix(PREFIX) for name in known]
    for name in given:
        own = name.removeprefix(PREFIX)
        if name not in known and (found := get_close_matches(own, names, n=1, cutoff=LIKENESS)):
            raise ConfigError(f"unknown variable; did you mean {PREFIX}{found[0]}?", name)


def nested(place: Sequence[str], value: str) -> Table:
    """A table of settings with one option, at its place."""
    *commands, option = place
    table: Table = {option: value}
    for command in reversed(commands):
        table = {command: table}
    return table


def places_of(command: Any) -> Iterator[list[str]]:
    """The path to each option: command names, then the option's name."""
    for name, below in command.commands.items():
        if is_group(below):
            yield from ([name, *place] for place in places_of(below))
        else:
            yield from ([name, option] for option in options_of(below))


def merge(found: Table, more: Mapping[str, Any]) -> None:
    """Merge settings into `found`, recursively."""
    for name, value in more.items():
        if isinstance(value, Mapping):
            merge(found.setdefault(name, {}), value)
        else:
            found[name] = value
