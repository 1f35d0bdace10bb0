"""Defaults of options from settings files, and their variables in the environment, for click.

    model = "mine.safetensors"   # for every command that has this option
    [transcribe]
    format = "txt,alto"          # for one command

`drethtr.toml` in the current folder overrides the user's, and variables such as `DRETHTR_TRANSCRIBE_FORMAT` and
`DRETHTR_MODEL` override files.

Click commands and options are typed `Any`, since some versions of typer use their own copy of click.
"""

from collections.abc import Iterator, Mapping, Sequence
from os import sep
from pathlib import Path, PureWindowsPath
from typing import Any, TypeAlias

import typer

from drethtr.base.config import hint, read_toml
from drethtr.base.errors import ConfigError

FILE = "drethtr.toml"

TYPED = "force"
"""The option that must be typed, so that a forgotten setting never replaces files."""

FROM_NO_FILE = (TYPED, "host", "allow-host", "no-token")
"""Options that no file may set: a file that comes with scans must not open a server to others."""

FOR_ONE_COMMAND = ("port",)
"""Options without a variable for all commands: Kubernetes sets DRETHTR_PORT beside a service named drethtr."""

Table: TypeAlias = dict[str, Any]


def configure(command: Any, place: Sequence[str], program: Any) -> Table:
    """Name the variables of a command's options; returns their defaults from files, for click's `default_map`.

    Args:
        place: The tables around the command's own settings in a file, and the last of them, outermost first.
        program: All commands, whose options settings may name.

    Raises:
        ConfigError: naming an unknown or invalid setting, and where it is.
    """
    if hasattr(command, "commands"):
        return {name: configure(below, (*place, name), program) for name, below in command.commands.items()}
    options = options_of(command)
    for name, option in options.items():
        places = [] if name == TYPED else [(*place, name)] if name in FOR_ONE_COMMAND else [(*place, name), (name,)]
        option.envvar = ["_".join(("drethtr", *words)).upper().replace("-", "_") for words in places]
        option.show_envvar = False
    return {
        options[name].name: checked(options[name], value, f"{file}: {name}")
        for file in (Path(typer.get_app_dir("drethtr")) / FILE, Path(FILE))
        if file.is_file()
        for name, value in settings_in(file, place, options, program)
    }


def options_of(command: Any) -> Table:
    """The options of a command by long name without dashes."""
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    return {name[2:]: option for option in options for name in option.opts if name.startswith("--")}


def settings_in(file: Path, place: Sequence[str], known: Mapping[str, Any], program: Any) -> Iterator[tuple[str, Any]]:
    """The settings of a command in a file, its own last, by the names of its options, which are `known`.

    Raises:
        ConfigError: naming a setting that no command has, or that files may not have.
    """
    table: Mapping[str, Any] = read_toml(file)
    group = program
    refuse_in_file(table, file)
    # From the outermost table down to the command's own, below which there is none (""): what comes later wins.
    for depth, word in enumerate((*place, "")):
        is_own, where = depth == len(place), ": ".join([str(file), *place[:depth]])
        for name, value in table.items():
            option = name.replace("_", "-")
            if isinstance(value, Mapping) and not is_own:
                if (command := group.get_command(None, name)) is None:
                    raise ConfigError(f"there is no command {name!r}{hint(name, group.commands)}", where)
                refuse_unread(command, (*place[:depth], name), value, where)
            elif option in known:
                yield option, value
            elif is_own or option not in program.option_names():  # asked last: it imports every command
                names = [*known] if is_own else [*program.option_names()]
                raise ConfigError(f"unknown setting {name!r}{hint(option, names)}", where)
        if not isinstance(table := table.get(word, {}), Mapping):
            return  # an option of other commands, of the same name
        if not is_own:
            below = group.get_command(None, word)
            group = getattr(below, "command", below)


def refuse_unread(command: Any, place: tuple[str, ...], table: Mapping[str, Any], where: str) -> None:
    """Refuse a table that is never read, as its command, or the commands of its group, have their settings elsewhere.

    Raises:
        ConfigError: saying where.
    """
    below = getattr(command, "commands", {command.name: command})
    places = {name: each.place for name, each in below.items() if hasattr(each, "place")}  # none within a plug-in
    if places and all(known[: len(place)] != place for known in places.values()):
        meant = [places[name] for name in table if name in places] or places.values()
        tables = ", ".join(f"[{'.'.join(known)}]" for known in meant)
        raise ConfigError(f"no command reads [{'.'.join(place)}]; such settings belong in {tables}", where)


def refuse_in_file(table: Mapping[str, Any], file: Path) -> None:
    """Refuse settings that are not allowed in files.

    Raises:
        ConfigError: naming the first.
    """
    for name, value in table.items():
        if isinstance(value, Mapping):
            refuse_in_file(value, file)
        elif (option := name.replace("_", "-")) in FROM_NO_FILE:
            raise ConfigError(f"{name!r} cannot be set in a file; give --{option} on the command line", file)
        elif file == Path(FILE) and any(map(is_elsewhere, value if isinstance(value, list) else [value])):
            raise ConfigError(
                f"{name!r} names an address, which a file that comes with scans may not do; give --{option} on the "
                "command line, or set it in your own file of settings",
                file,
            )


def is_elsewhere(value: object) -> bool:
    """Whether a setting names something elsewhere: an address, or another machine as Windows names it."""
    return isinstance(value, str) and ("://" in value or PureWindowsPath(value.strip()).drive.startswith("\\\\"))


def checked(option: Any, value: Any, where: str) -> Any:
    """Check a setting, and convert it to what would be typed.

    Raises:
        ConfigError: if it has the wrong type or an invalid value.
    """
    if option.multiple and isinstance(value, str):
        value = [value]
    values = value if isinstance(value, list) else [value]
    unfit = (list, Mapping) if option.is_flag else (bool, list, Mapping)
    if isinstance(value, list) != option.multiple or any(isinstance(item, unfit) for item in values):
        kind = "true or false" if option.is_flag else "a list" if option.multiple else f"one value, {option.type.name}"
        raise ConfigError(f"expected {kind}, got {value!r}", where)
    try:
        values = [item if isinstance(item, bool) else at_home(str(item)) for item in values]
        value = values if option.multiple else values[0]
        option.type_cast_value(None, value)
    except typer.BadParameter as error:
        raise ConfigError(error.message, where) from error
    except ValueError as error:  # a number with more digits than Python converts
        raise ConfigError(str(error), where) from error
    return value


def at_home(value: str) -> str:
    """Expand the home folder at the beginning of a value, as a shell does."""
    return str(Path(value).expanduser()) if value.startswith(("~/", f"~{sep}")) else value
