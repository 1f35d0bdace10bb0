"""Programs of their own, for tests that kill them."""

import os
import sys
from pathlib import Path

import drethtr


def source_first():
    """Environment variables with which a program uses the same package as the tests, and their modules."""
    folders = [str(Path(drethtr.__file__).parents[1]), *sys.path]
    return {"PYTHONPATH": os.pathsep.join(folders)}
