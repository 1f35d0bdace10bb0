"""Reads handwriting: images of lines or pages in, text with places and confidences out.

    from drethtr import Recognizer, transcribe_page
    [reading] = Recognizer.load().read(["line.png"])
    page = transcribe_page("letter.jpg", Recognizer.load())

How to read is chosen by value, as in `Recognizer.load(decoder=CTC(), precision=Precision.BFLOAT16)`. What goes wrong
for a known reason is a `DrethtrError`: a `DataError`, `ConfigError` or `CheckpointError`, or an extra that is missing.

These names are the promise of the package; everything else may move between minor versions.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drethtr.decoding.strategies import CTC, Beam, Greedy, Joint, VerifiedDrafts
    from drethtr.documents.page import Page
    from drethtr.documents.read import read_page
    from drethtr.errors import CheckpointError, ConfigError, DataError, DrethtrError
    from drethtr.model.precision import Precision
    from drethtr.reading import Character, Flag, Reading
    from drethtr.recognizer import Recognizer
    from drethtr.transcription.transcribe import transcribe_page

__version__ = "0.1.0"
__all__ = [
    "CTC",
    "Beam",
    "Character",
    "CheckpointError",
    "ConfigError",
    "DataError",
    "DrethtrError",
    "Flag",
    "Greedy",
    "Joint",
    "Page",
    "Precision",
    "Reading",
    "Recognizer",
    "VerifiedDrafts",
    "__version__",
    "read_page",
    "transcribe_page",
]

HOMES = {
    "CTC": "drethtr.decoding.strategies",
    "Beam": "drethtr.decoding.strategies",
    "Character": "drethtr.reading",
    "CheckpointError": "drethtr.errors",
    "ConfigError": "drethtr.errors",
    "DataError": "drethtr.errors",
    "DrethtrError": "drethtr.errors",
    "Flag": "drethtr.reading",
    "Greedy": "drethtr.decoding.strategies",
    "Joint": "drethtr.decoding.strategies",
    "Page": "drethtr.documents.page",
    "Precision": "drethtr.model.precision",
    "Reading": "drethtr.reading",
    "Recognizer": "drethtr.recognizer",
    "VerifiedDrafts": "drethtr.decoding.strategies",
    "read_page": "drethtr.documents.read",
    "transcribe_page": "drethtr.transcription.transcribe",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: torch takes seconds, `drethtr --help` must not."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)
