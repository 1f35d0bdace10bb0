"""Line segmentation with kraken, if it is installed: slower, and good for curved lines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from drethtr.base.errors import ConfigError, first_line
from drethtr.images.line import Line
from drethtr.layout.finder import Finder, Floats, FoundLine, FoundRegion, Kind, Layout


@dataclass(frozen=True, kw_only=True)
class Kraken(Finder):
    """kraken's default segmentation model, on the given device."""

    device: str = "cpu"

    def find(self, page: Line) -> Layout:
        """The lines that kraken finds, in its regions and its order; lines outside of regions come last.

        Raises:
            ConfigError: if kraken is not installed, or its installation is broken.
        """
        try:
            from kraken import blla
        except (ImportError, RuntimeError) as error:  # the second is raised by a torchvision that does not match torch
            raise ConfigError(f"kraken cannot be used ({first_line(error)}); run: pip install kraken") from error
        found = blla.segment(Image.fromarray(page).convert("RGB"), device=self.device)
        usable = [line for line in found.lines if line.baseline and line.boundary]
        lines = tuple(FoundLine(as_points(line.baseline), as_points(line.boundary)) for line in usable)
        kinds = {region.id: (kind, region.boundary) for kind, some in (found.regions or {}).items() for region in some}
        members: dict[str, list[int]] = {}
        for number, line in enumerate(usable):
            members.setdefault(next((id for id in line.regions or () if id in kinds), ""), []).append(number)
        regions = [
            FoundRegion(kinds[id][0], tuple(numbers), as_points(kinds[id][1])) for id, numbers in members.items() if id
        ]
        alone = [FoundRegion(Kind.TEXT, tuple(members[""]))] if "" in members else []
        # Without regions nothing is known but an order from top to bottom, which columns need better.
        return Layout(lines, (*regions, *alone) if regions else None)


def as_points(points: Sequence[Sequence[float]]) -> Floats:
    """Points as an array."""
    return np.asarray(points, dtype=np.float64)
