"""Feed training: from samples to batches. Importing it registers all sources of lines that a run file can name."""

from drethtr.training.feed.streamed import Streamed
from drethtr.training.feed.supply import LineSource, Made, Real

__all__ = ["LineSource", "Made", "Real", "Streamed"]
