"""Lines from kraken's baseline segmentation, where kraken is installed: slower, and good with bent lines."""

from dataclasses import dataclass

import numpy as np
from PIL import Image

from drethtr.base.errors import ConfigError
from drethtr.images.line import Line
from drethtr.layout.finder import Finder, FoundLine


@dataclass(frozen=True, kw_only=True)
class Kraken(Finder):
    """The segmentation model inside kraken, on the device of this name."""

    device: str = "cpu"

    def find(self, page: Line) -> list[FoundLine]:
        """The baselines and polygons that kraken finds.

        Raises:
            ConfigError: if kraken is not installed, or not so that it can be used.
        """
        try:
            from kraken import blla
        except (ImportError, RuntimeError) as error:  # the second comes from a torchvision that does not fit torch
            raise ConfigError(f"kraken cannot be used ({error}); run: pip install kraken") from error
        found = blla.segment(Image.fromarray(page).convert("RGB"), device=self.device)
        lines = [(line.baseline, line.boundary) for line in found.lines]
        return [
            FoundLine(np.asarray(baseline, dtype=np.float64), np.asarray(boundary, dtype=np.float64))
            for baseline, boundary in lines
            if baseline and boundary
        ]
