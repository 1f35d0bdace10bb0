"""Reads handwriting: images of lines or pages in, text with places and confidences out.

    from drethtr import Recognizer, transcribe_page
    [reading] = Recognizer.load().read(["line.png"])
    page = transcribe_page("letter.jpg", Recognizer.load())

These names are the promise of the package; everything else may move between minor versions.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drethtr.documents.page import Page
    from drethtr.documents.read import read_page
    from drethtr.reading import Character, Reading
    from drethtr.recognizer import Recognizer
    from drethtr.transcription.transcribe import transcribe_page

__version__ = "0.1.0"
__all__ = ["Character", "Page", "Reading", "Recognizer", "__version__", "read_page", "transcribe_page"]

HOMES = {
    "Character": "drethtr.reading",
    "Page": "drethtr.documents.page",
    "Reading": "drethtr.reading",
    "Recognizer": "drethtr.recognizer",
    "read_page": "drethtr.documents.read",
    "transcribe_page": "drethtr.transcription.transcribe",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: torch takes seconds, `drethtr --help` must not."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)
