"""Feed training: from samples to batches. A run file may name every source of lines once this is imported."""

from drethtr.training.feed.streamed import Streamed
from drethtr.training.feed.supply import LineSource, Made, Real

__all__ = ["LineSource", "Made", "Real", "Streamed"]
