"""Line segmentation with kraken, if it is installed: slower, and good for curved lines."""

from dataclasses import dataclass

import numpy as np
from PIL import Image

from drethtr.base.errors import ConfigError
from drethtr.images.line import Line
from drethtr.layout.finder import Finder, FoundLine


@dataclass(frozen=True, kw_only=True)
class Kraken(Finder):
    """kraken's default segmentation model, on the given device."""

    device: str = "cpu"

    def find(self, page: Line) -> list[FoundLine]:
        """The baselines and polygons that kraken finds.

        Raises:
            ConfigError: if kraken is not installed, or its installation is broken.
        """
        try:
            from kraken import blla
        except (ImportError, RuntimeError) as error:  # the second is raised by a torchvision that does not match torch
            raise ConfigError(f"kraken cannot be used ({error}); run: pip install kraken") from error
        found = blla.segment(Image.fromarray(page).convert("RGB"), device=self.device)
        lines = [(line.baseline, line.boundary) for line in found.lines]
        return [
            FoundLine(np.asarray(baseline, dtype=np.float64), np.asarray(boundary, dtype=np.float64))
            for baseline, boundary in lines
            if baseline and boundary
        ]
