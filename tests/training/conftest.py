"""The folder of a short run, for all tests of training."""

from training_runs import data

__all__ = ["data"]
