"""Line segmentations by name, including plug-ins; and two small ones: the whole image, and kraken."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from drethtr.base.config import hint
from drethtr.base.errors import ConfigError, first_line
from drethtr.base.plugins import loaded, plugged
from drethtr.images.line import Line
from drethtr.layout.finder import Finder, FoundLine, FoundRegion, Kind, Layout
from drethtr.layout.given import FOOT
from drethtr.layout.projection import Projection

ENTRY_POINTS = "drethtr.finders"
"""Entry point group of plug-ins: a name, and a class or function that constructs a segmentation without arguments."""

ENDING = ".safetensors"


@dataclass(frozen=True)
class Whole(Finder):
    """Takes the whole image as one line."""

    whole = True

    def find(self, page: Line) -> list[FoundLine]:
        """One line, from the left to the right edge of the image."""
        height, width = page.shape
        baseline = ((0, FOOT * height), (width, FOOT * height))
        corners = ((0, 0), (width, 0), (width, height), (0, height))
        return [FoundLine.at(baseline, corners)]


@dataclass(frozen=True, kw_only=True)
class Kraken(Finder):
    """kraken's default segmentation model, on the given device: slower, and good for curved lines."""

    device: str = "cpu"

    def find(self, page: Line) -> Layout:
        """The lines that kraken finds, in its regions and its order; lines outside of regions come last.

        Raises:
            ConfigError: if kraken is not installed, or its installation is broken.
        """
        try:
            from kraken import blla
        except (ImportError, RuntimeError) as error:  # the second is raised if torchvision does not match torch
            raise ConfigError(
                f"kraken cannot be used ({first_line(error)}); run: pip install 'drethtr[kraken]'"
            ) from error
        found = blla.segment(Image.fromarray(page).convert("RGB"), device=self.device)
        usable = [line for line in found.lines if line.baseline and line.boundary]
        lines = tuple(FoundLine.at(line.baseline, line.boundary) for line in usable)
        kinds = {region.id: (kind, region.boundary) for kind, some in (found.regions or {}).items() for region in some}
        members: dict[str, list[int]] = {}
        for number, line in enumerate(usable):
            members.setdefault(next((id for id in line.regions or () if id in kinds), ""), []).append(number)
        regions = [
            FoundRegion(kinds[id][0], tuple(numbers), np.array(kinds[id][1], dtype=np.float64))
            for id, numbers in members.items()
            if id
        ]
        alone = [FoundRegion(Kind.TEXT, tuple(members[""]))] if "" in members else []
        # Without regions, kraken's order is only from top to bottom, which does not suffice for columns.
        return Layout(lines, (*regions, *alone) if regions else None)


def rapid(model: Path | None = None) -> Finder:
    """The finder with a network, the shipped one by default; images of single lines are read without its modules.

    Raises:
        CheckpointError: if the file of the network cannot be used.
    """
    from drethtr.layout.network import load_lines
    from drethtr.layout.rapid import RapidDetector

    if model is None:
        return RapidDetector()
    load_lines(model)  # refuse an unusable file before any page is opened
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
        ConfigError: if there is no such name, or the plug-in with this name cannot be imported or is not a `Finder`.
    """
    if name.endswith(ENDING):
        return rapid(Path(name))
    if name in FINDERS:
        return FINDERS[name]()
    points = plugged(ENTRY_POINTS)
    if name not in points:
        known = [*others, *FINDERS, *points]
        raise ConfigError(f"unknown line segmentation {name!r}{hint(name, known)}; known: {', '.join(known)}")
    finder = loaded(points[name])()
    if not isinstance(finder, Finder):
        raise ConfigError(f"the plug-in {name!r}, {points[name].value}, is not a drethtr.layout.Finder")
    return finder
