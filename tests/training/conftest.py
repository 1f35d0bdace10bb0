"""The folder of a short run, for all tests here."""

from training_runs import data

__all__ = ["data"]
