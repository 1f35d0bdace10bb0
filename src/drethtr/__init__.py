"""Reads handwriting: images of lines or pages in, text with places and confidences out.

    from drethtr import Recognizer, transcribe_page
    [reading] = Recognizer.load().read(["line.png"])
    page = transcribe_page("letter.jpg", Recognizer.load())

How to read is chosen by value, as in `Recognizer.load(decoder=CTC(), precision=Precision.BFLOAT16)`. What goes wrong
for a known reason is a `DrethtrError`: a `DataError`, `ConfigError` or `CheckpointError`, or an extra that is missing.

These names are the promise of the package, with those of `drethtr.documents.__all__` and `drethtr.layout.__all__`;
everything else may move between minor versions.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drethtr.base.errors import CheckpointError, ConfigError, DataError, DrethtrError, MissingExtraError
    from drethtr.documents.page import Page
    from drethtr.documents.read import read_page
    from drethtr.layout.rapid import RapidDetector
    from drethtr.pages.source import open_originals
    from drethtr.pages.transcribe import transcribe, transcribe_page
    from drethtr.recognition.precision import Precision
    from drethtr.recognition.reading import Alternative, Character, Evidence, Flag, Reading, Word
    from drethtr.recognition.recognizer import Recognizer
    from drethtr.recognition.search.strategies import CTC, Beam, Greedy, Joint, VerifiedDrafts

__version__ = "0.1.0"
__all__ = [
    "CTC",
    "Alternative",
    "Beam",
    "Character",
    "CheckpointError",
    "ConfigError",
    "DataError",
    "DrethtrError",
    "Evidence",
    "Flag",
    "Greedy",
    "Joint",
    "MissingExtraError",
    "Page",
    "Precision",
    "RapidDetector",
    "Reading",
    "Recognizer",
    "VerifiedDrafts",
    "Word",
    "__version__",
    "open_originals",
    "read_page",
    "transcribe",
    "transcribe_page",
]

HOMES = {
    "CTC": "drethtr.recognition.search.strategies",
    "Alternative": "drethtr.recognition.reading",
    "Beam": "drethtr.recognition.search.strategies",
    "Character": "drethtr.recognition.reading",
    "CheckpointError": "drethtr.base.errors",
    "ConfigError": "drethtr.base.errors",
    "DataError": "drethtr.base.errors",
    "DrethtrError": "drethtr.base.errors",
    "Evidence": "drethtr.recognition.reading",
    "Flag": "drethtr.recognition.reading",
    "Greedy": "drethtr.recognition.search.strategies",
    "Joint": "drethtr.recognition.search.strategies",
    "MissingExtraError": "drethtr.base.errors",
    "Page": "drethtr.documents.page",
    "Precision": "drethtr.recognition.precision",
    "RapidDetector": "drethtr.layout.rapid",
    "Reading": "drethtr.recognition.reading",
    "Recognizer": "drethtr.recognition.recognizer",
    "VerifiedDrafts": "drethtr.recognition.search.strategies",
    "Word": "drethtr.recognition.reading",
    "open_originals": "drethtr.pages.source",
    "read_page": "drethtr.documents.read",
    "transcribe": "drethtr.pages.transcribe",
    "transcribe_page": "drethtr.pages.transcribe",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: torch takes seconds, `drethtr --help` must not."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    """What can be had from here, imported yet or not."""
    return sorted({*globals(), *__all__})
