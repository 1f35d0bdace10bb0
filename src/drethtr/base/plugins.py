"""Entry points, by group. Those of `drethtr.plugins` are modules that define variants."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from drethtr.base.errors import ConfigError, first_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "drethtr.plugins"


def plugged(group: str) -> Mapping[str, "EntryPoint"]:
    """The entry points of a group by name, sorted; none if drethtr runs without being installed."""
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    return {point.name: point for point in sorted(entry_points(group=group), key=lambda point: point.name)}


@cache
def load_plugins(group: str = GROUP) -> None:
    """Import every plug-in of a group, once.

    Raises:
        ConfigError: naming a plug-in that cannot be imported.
    """
    for point in plugged(group).values():
        loaded(point)


def loaded(point: "EntryPoint") -> Any:
    """Import the object that an entry point names.

    Raises:
        ConfigError: naming the plug-in, if it cannot be imported.
    """
    try:
        return point.load()
    except Exception as error:  # whatever its code raises, other commands must work
        where = f"{point.name} ({point.value})" + (f" of the package {point.dist.name}" if point.dist else "")
        raise ConfigError(
            f"the plug-in {where} cannot be imported: {first_line(error)}; install what it lacks, or uninstall it"
        ) from error
