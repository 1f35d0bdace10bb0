"""Environments for child processes."""

import os
import sys
from pathlib import Path

import drethtr


def source_first():
    """Environment variables that make a program import the package under test, and the modules of the tests."""
    folders = [str(Path(drethtr.__file__).parents[1]), *sys.path]
    return {"PYTHONPATH": os.pathsep.join(folders)}
