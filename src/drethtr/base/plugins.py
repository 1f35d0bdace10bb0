"""Entry points, by group. Those of `drethtr.plugins` are modules that define variants."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from drethtr.base.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "drethtr.plugins"


def plugged(group: str) -> Mapping[str, "EntryPoint"]:
    """The entry points of a group by name, sorted; none if drethtr runs without being installed."""
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    return {point.name: point for point in sorted(entry_points(group=group), key=lambda point: point.name)}


@cache
def load_plugins(group: str = GROUP) -> None:
    """Import every plugin of a group, once.

    Raises:
        ConfigError: naming a plugin that cannot be imported.
    """
    for plugin in plugged(group).values():
        try:
            plugin.load()
        except ImportError as error:
            raise ConfigError(f"the plugin {plugin.value} cannot be imported: {error}") from error
