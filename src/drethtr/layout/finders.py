"""Line segmentations by name, including plugins."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from drethtr.base.config import hint
from drethtr.base.errors import ConfigError
from drethtr.base.plugins import plugged
from drethtr.layout.finder import Finder
from drethtr.layout.kraken import Kraken
from drethtr.layout.projection import Projection
from drethtr.layout.whole import Whole

ENTRY_POINTS = "drethtr.finders"
"""Entry point group for plugins: a name, and a class or function that constructs the segmentation without arguments."""

ENDING = ".safetensors"


def rapid(model: Path | None = None) -> Finder:
    """The finder with a network, the shipped one by default; images of single lines are read without its modules.

    Raises:
        CheckpointError: if the file of the network cannot be used.
    """
    from drethtr.layout.network import load_lines
    from drethtr.layout.rapid import RapidDetector

    if model is None:
        return RapidDetector()
    load_lines(model)  # refuse another file before any page is opened
    return RapidDetector(model=model)


FINDERS: Mapping[str, Callable[[], Finder]] = {
    "rapid": rapid,
    "projection": Projection,
    "kraken": Kraken,
    "whole": Whole,
}


def finder_named(name: str, others: Sequence[str] = ()) -> Finder:
    """The line segmentation with this name and default settings; `others` are further valid names for error messages.

    A file name that ends in `.safetensors` is that of a network for `rapid`.

    Raises:
        CheckpointError: if the file of a network cannot be used.
        ConfigError: if there is no such name, or the plugin with this name is not a `Finder`.
    """
    if name.endswith(ENDING):
        return rapid(Path(name))
    if name in FINDERS:
        return FINDERS[name]()
    points = plugged(ENTRY_POINTS)
    if name not in points:
        known = [*others, *FINDERS, *points]
        raise ConfigError(f"unknown line segmentation {name!r}{hint(name, known)}; known: {', '.join(known)}")
    finder = points[name].load()()
    if not isinstance(finder, Finder):
        raise ConfigError(f"the plugin {name!r}, {points[name].value}, is not a drethtr.layout.Finder")
    return finder
