"""Reads handwriting: line images in, text with places and confidences out.

    from drethtr import Recognizer
    [reading] = Recognizer.load().read(["line.png"])

These names are the promise of the package; everything else may move between minor versions.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drethtr.reading import Character, Reading
    from drethtr.recognizer import Recognizer

__version__ = "0.1.0"
__all__ = ["Character", "Reading", "Recognizer", "__version__"]

HOMES = {
    "Character": "drethtr.reading",
    "Reading": "drethtr.reading",
    "Recognizer": "drethtr.recognizer",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: torch takes seconds, `drethtr --help` must not."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)
