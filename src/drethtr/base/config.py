"""Convert configurations, which are frozen dataclasses, to and from plain dicts, and read them from TOML.

A field annotated with a base class holds an instance of a subclass, named under "kind". Omitted settings keep their
defaults at any depth; `false` stands for None where a field may be None. To add a variant, write a subclass in a module
that readers of settings import (see CONTRIBUTING.md); it need not be registered.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from enum import Enum
from inspect import isabstract
from numbers import Integral
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from drethtr.base.encoding import encoding_of
from drethtr.base.errors import ConfigError
from drethtr.base.plugins import load_plugins
from drethtr.base.wording import counted

Config = TypeVar("Config")
Named = TypeVar("Named")
Member = TypeVar("Member", bound=Enum)

MAX_BYTES = 1 << 20
"""The largest settings file that is accepted."""

TOO_LARGE = 1 << 64
"""Whole numbers from here on are refused: torch takes no such seed, and hashes of models take all numbers as floats."""


def load(kind: type[Config], path: Path, overrides: Sequence[str] = ()) -> Config:
    """Read a TOML file; each override is `dotted.name=value`, with the value in TOML syntax.

    Raises:
        ConfigError: naming the file and what is wrong in it.
    """
    data = read_toml(path)
    set_values(data, overrides)
    try:
        return from_dict(kind, data)
    except ConfigError as error:
        given = " ".join([str(path), *(f"--set {override}" for override in overrides)])
        raise ConfigError(str(error), given) from error


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        ConfigError: naming the file, if it cannot be read or is larger than `MAX_BYTES`.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ConfigError(f"larger than {MAX_BYTES:,} bytes; it is not a settings file", path)
        return tomllib.loads(content.decode(encoding_of(content)))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path) from error
    except (ValueError, RecursionError) as error:  # bad TOML or UTF-8, numbers with too many digits
        raise ConfigError(f"not valid TOML: {error}", path) from error


def set_values(data: dict[str, Any], overrides: Sequence[str]) -> None:
    """Set values in nested tables, each given as `dotted.name=value`; in a list, `0` is the first item.

    Kinds are set first, outer tables before inner ones: a table whose kind changes loses its settings. A table that
    names no kind keeps them, since its default may be of the new kind.

    Raises:
        ConfigError: naming the override that does not fit.
    """

    def turn(override: str) -> tuple[bool, int]:
        parts = override.partition("=")[0].strip().split(".")
        is_kind = parts[-1] == "kind"
        return not is_kind, len(parts) * is_kind

    for override in sorted(overrides, key=turn):
        set_value(data, override)


def set_value(data: dict[str, Any], override: str) -> None:
    """Set one value, see `set_values`."""
    name, equals, value = (part.strip() for part in override.partition("="))
    if not equals:
        raise ConfigError(f"--set {override}: expected dotted.name=value")
    parent, *others = name.split(".")
    place: Any = data
    key: Any = parent
    for part in others:
        place = place.setdefault(key, {}) if isinstance(place, dict) else place[key]
        try:
            key = key_in(place, part)
        except ConfigError as error:
            raise ConfigError(f"--set {override}: {parent!r} {error}") from error
        parent = part
    try:
        new = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        new = value  # a bare word is treated as a string
    except ValueError as error:
        raise ConfigError(f"--set {name}: its number has too many digits") from error
    except RecursionError as error:
        raise ConfigError(f"--set {name}: its value is nested too deeply") from error
    if key == "kind" and place.get(key, new) != new:
        place.clear()
    place[key] = new


def key_in(place: Any, name: str) -> str | int:
    """The table key or list index for a name.

    Raises:
        ConfigError: if there is no such item, or `place` is a plain value.
    """
    if isinstance(place, dict):
        return name
    if not isinstance(place, list):
        raise ConfigError("is a value, not a table")
    if not (name.isdecimal() and int(name) < len(place)):
        raise ConfigError(f"is a list of {counted(len(place), 'item')}; {name!r} is not an index from 0")
    return int(name)


def kind_of(config: type) -> str:
    """The "kind" of a class in files: its name, or `stored_as` if files have had another name for it."""
    return str(vars(config).get("stored_as", config.__name__))


def to_dict(config: Any) -> Any:
    """Convert to nested dicts, lists and plain values, ready for JSON."""
    if is_dataclass(config):
        return {"kind": kind_of(type(config))} | {f.name: to_dict(getattr(config, f.name)) for f in fields(config)}
    return [to_dict(item) for item in config] if isinstance(config, tuple) else config


def changes(config: Any, default: Any = None) -> Any:
    """Like `to_dict`, but without the settings of `default`, or without defaults; `from_dict` restores them."""
    if not is_dataclass(config):
        return [changes(item) for item in config] if isinstance(config, tuple) else config
    alike = type(default) is type(config)
    usual = vars(default) if alike else defaults(type(config))
    values = {f.name: getattr(config, f.name) for f in fields(config)}
    changed = {
        name: changes(value, usual.get(name))
        for name, value in values.items()
        if name not in usual or usual[name] != value
    }
    return changed if alike else {"kind": kind_of(type(config))} | changed


def essence(config: Any) -> Any:
    """Like `to_dict`, but without defaults and with all numbers as floats, so that adding settings changes nothing.

    A class whose defaults have changed names the earlier ones in `hashed_defaults`, so that hashes stay the same.
    """
    if is_dataclass(config):
        usual = {**defaults(type(config)), **getattr(config, "hashed_defaults", {})}
        values = {f.name: getattr(config, f.name) for f in fields(config)}
        unusual = {name: essence(value) for name, value in values.items() if name not in usual or usual[name] != value}
        return {"kind": kind_of(type(config))} | unusual
    if isinstance(config, tuple):
        return [essence(item) for item in config]
    return float(config) if type(config) is int else config


def from_dict(base: type[Config], data: Mapping[str, Any], where: str = "", default: Config | None = None) -> Config:
    """The inverse of `to_dict`; omitted kinds or settings come from `default`, or from the defaults of the kind.

    Raises:
        ConfigError: naming the place, for an unknown kind or setting, a missing one, a wrong type or value.
    """
    if not isinstance(data, Mapping):
        kinds = [kind for kind in variants(base) if kind != kind_of(base)]
        cure = f"; give one with a kind, such as {{ kind = {kinds[0]!r} }}; known: {', '.join(kinds)}" if kinds else ""
        raise ConfigError(f"expected a table of {base.__name__}, got {data!r}{cure}", where or None)
    # Without a kind, the default stays: `[network] width = 128` changes one setting of the default network.
    name = data.get("kind", kind_of(base if default is None else type(default)))
    known = variants_with(base, name)
    if "kind" not in data and name not in known:
        raise ConfigError(f"missing kind of {base.__name__}; known: {', '.join(known)}", where or None)
    if not isinstance(name, str) or name not in known:
        raise ConfigError(f"unknown kind {name!r}{hint(name, known)}; known: {', '.join(known)}", where or None)
    chosen: type[Config] = known[name]
    types = get_type_hints(chosen)
    allowed = [f.name for f in fields(chosen)]  # type: ignore[arg-type]
    values = defaults(chosen) if type(default) is not chosen else vars(default).copy()
    for key, value in data.items():
        if key == "kind":
            continue
        here = f"{where}.{key}".lstrip(".")
        if key not in allowed:
            cure = hint(key, allowed) or (f"; known: {', '.join(allowed)}" if allowed else "")
            raise ConfigError(f"unknown setting of {chosen.__name__}{cure}", here)
        values[key] = decode(types[key], value, here, values.get(key))
    if missing := [setting for setting in allowed if setting not in values]:
        raise ConfigError(f"missing setting {missing[0]!r} of {chosen.__name__}", where or None)
    try:
        return chosen(**values)
    except (TypeError, ConfigError) as error:
        # A setting that the message begins with gets its full name: `optimizer.learning_rate must be positive`.
        joint = "." if str(error).partition(" ")[0] in allowed else ": "
        raise ConfigError(f"{where}{joint}{error}" if where else str(error)) from error


def defaults(kind: Any) -> dict[str, Any]:
    """The default values of a dataclass, by field."""
    plain = {f.name: f.default for f in fields(kind) if f.default is not MISSING}
    return plain | {f.name: f.default_factory() for f in fields(kind) if f.default_factory is not MISSING}


def check_positive(settings: object, *names: str) -> None:
    """Refuse numbers below 1; None is allowed.

    Raises:
        ConfigError: naming the setting, as in a file.
    """
    for name in names:
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise ConfigError(f"{name} must be at least 1, not {value}")


def check_seed(seed: int) -> None:
    """Refuse a seed that torch does not take.

    Raises:
        ConfigError: saying which ones it takes.
    """
    if not 0 <= seed < TOO_LARGE:
        raise ConfigError(f"seed must be at least 0 and less than 2^64, not {seed}")


def check_number(name: str, value: object, kind: type = Integral) -> None:
    """Refuse an argument that is no number, such as "2", or that is 2.5 where only a whole number has a meaning.

    Raises:
        ConfigError: naming the argument.
    """
    if not isinstance(value, kind):
        raise ConfigError(f"{name} must be a {'whole ' if kind is Integral else ''}number, not {value!r}")


def hint(word: object, known: Sequence[str] | Mapping[str, Any], *, likeness: float = 0.6) -> str:
    """Suggest the most similar known word, whatever its case; "" if none reaches `likeness`, where 1 is equality."""
    folded = {name.lower(): name for name in known}
    matches = get_close_matches(str(word).lower(), folded, n=1, cutoff=likeness)
    return "".join(f"; did you mean {folded[match]!r}?" for match in matches)


def named(what: str, name: str, known: Mapping[str, Named]) -> Named:
    """Look up a value by name; `what` describes it in messages.

    Raises:
        ConfigError: if the name is unknown.
    """
    if name not in known:
        raise ConfigError(f"unknown {what} {name!r}{hint(name, known)}; known: {', '.join(known)}")
    return known[name]


def member_named(what: str, name: str, members: type[Member]) -> Member:
    """Look up a member of an enumeration by its value; `what` describes it in messages.

    Raises:
        ConfigError: if the name is unknown.
    """
    return named(what, name, {member.value: member for member in members})


def decode(wanted: Any, value: Any, where: str, default: Any = None) -> Any:
    """Convert one value to the annotated type of its field, and check it."""
    if get_origin(wanted) in (Union, UnionType):
        [wanted] = [part for part in get_args(wanted) if part is not NoneType]
        nothing = value is None or (value is False and wanted is not bool)  # TOML has no null
        return None if nothing else decode(wanted, value, where, default)
    if get_origin(wanted) is tuple:
        return decode_tuple(get_args(wanted), value, where)
    if wanted not in (int, float, str, bool):
        return from_dict(wanted, value, where, default)
    if type(value) is int and wanted in (int, float) and abs(value) >= TOO_LARGE:
        raise ConfigError("its number has too many digits", where)
    if wanted is float and type(value) is int:  # the only conversion: neither "1" nor true stands for 1
        return float(value)
    if type(value) is not wanted:
        raise ConfigError(f"expected {wanted.__name__}, got {value!r}", where)
    return value


def decode_tuple(parts: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    """Convert a list to a tuple of the annotated types: `X, ...` for any number of X, or one type per item."""
    if not isinstance(value, list | tuple):
        cure = f"; for a list of one table, write [[{where}]]" if isinstance(value, Mapping) else ""
        raise ConfigError(f"expected a list, got {value!r}{cure}", where)
    kinds = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
    if len(value) != len(kinds):
        raise ConfigError(f"expected {len(kinds)} values, got {list(value)!r}", where)
    return tuple(decode(kind, item, f"{where}[{i}]") for i, (kind, item) in enumerate(zip(kinds, value, strict=True)))


def variants_with(base: type, name: object) -> dict[str, Any]:
    """The variants of a base; plug-ins are loaded only if no other variant has this name."""
    if name not in list(known := variants(base)):
        load_plugins()
        known = variants(base)
    return known


def variants(base: type) -> dict[str, Any]:
    """The dataclasses that a field annotated with `base` may contain, by name.

    Raises:
        ConfigError: if two of them have the same name.
    """
    found: dict[str, Any] = {kind_of(base): base} if is_dataclass(base) and not isabstract(base) else {}
    for subclass in base.__subclasses__():  # type: ignore[var-annotated]
        for name, kind in variants(subclass).items():
            other = found.setdefault(name, kind)
            if other is not kind:
                raise ConfigError(
                    f"two kinds of {base.__name__} are named {name!r}, in {other.__module__} and "
                    f"{kind.__module__}; rename one"
                )
    return found
