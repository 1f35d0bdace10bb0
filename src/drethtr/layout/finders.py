"""The finders that a person can name; others plug in by entry points."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points

from drethtr.base.config import hint
from drethtr.base.errors import ConfigError
from drethtr.layout.finder import Finder
from drethtr.layout.kraken import Kraken
from drethtr.layout.projection import Projection
from drethtr.layout.rapid import RapidDetector
from drethtr.layout.whole import Whole

ENTRY_POINTS = "drethtr.finders"
"""Group in which a package offers a finder: its name, and a class or function that builds it without arguments."""

FINDERS: Mapping[str, Callable[[], Finder]] = {
    "rapid": RapidDetector,
    "projection": Projection,
    "kraken": Kraken,
    "whole": Whole,
}


def finder_named(name: str, others: Sequence[str] = ()) -> Finder:
    """The finder of this name, with its usual settings; `others` are names that would be understood, too.

    Raises:
        ConfigError: if there is none, or what is plugged in under this name is none.
    """
    if name in FINDERS:
        return FINDERS[name]()
    plugged = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in plugged:
        known = [*others, *FINDERS, *plugged]
        raise ConfigError(f"unknown finder of lines {name!r}{hint(name, known)}; known: {', '.join(known)}")
    finder = plugged[name].load()()
    if not isinstance(finder, Finder):
        raise ConfigError(f"{plugged[name].value} is plugged in as {name!r} but is no drethtr.layout.Finder")
    return finder
