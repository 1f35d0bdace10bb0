"""Modules that bring further variants and names: the entry points of the group `drethtr.plugins`."""

from functools import cache
from importlib.metadata import entry_points

from drethtr.base.errors import ConfigError

GROUP = "drethtr.plugins"


@cache
def load_plugins() -> None:
    """Import every plugin, once; without the metadata of an installation there are none.

    Raises:
        ConfigError: naming a plugin that cannot be imported.
    """
    for plugin in entry_points(group=GROUP):
        try:
            plugin.load()
        except ImportError as error:
            raise ConfigError(f"the plugin {plugin.value} cannot be imported: {error}") from error
