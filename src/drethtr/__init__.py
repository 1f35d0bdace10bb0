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
    from drethtr.decoding.strategies import CTC, Beam, Greedy, Joint, VerifiedDrafts
    from drethtr.documents.page import Page
    from drethtr.documents.read import read_page
    from drethtr.errors import CheckpointError, ConfigError, DataError, DrethtrError, MissingExtraError
    from drethtr.layout.rapid import RapidDetector
    from drethtr.model.precision import Precision
    from drethtr.reading import Alternative, Character, Evidence, Flag, Reading, Word
    from drethtr.recognizer import Recognizer
    from drethtr.transcription.source import open_originals
    from drethtr.transcription.transcribe import transcribe, transcribe_page

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
    "CTC": "drethtr.decoding.strategies",
    "Alternative": "drethtr.reading",
    "Beam": "drethtr.decoding.strategies",
    "Character": "drethtr.reading",
    "CheckpointError": "drethtr.errors",
    "ConfigError": "drethtr.errors",
    "DataError": "drethtr.errors",
    "DrethtrError": "drethtr.errors",
    "Evidence": "drethtr.reading",
    "Flag": "drethtr.reading",
    "Greedy": "drethtr.decoding.strategies",
    "Joint": "drethtr.decoding.strategies",
    "MissingExtraError": "drethtr.errors",
    "Page": "drethtr.documents.page",
    "Precision": "drethtr.model.precision",
    "RapidDetector": "drethtr.layout.rapid",
    "Reading": "drethtr.reading",
    "Recognizer": "drethtr.recognizer",
    "VerifiedDrafts": "drethtr.decoding.strategies",
    "Word": "drethtr.reading",
    "open_originals": "drethtr.transcription.source",
    "read_page": "drethtr.documents.read",
    "transcribe": "drethtr.transcription.transcribe",
    "transcribe_page": "drethtr.transcription.transcribe",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: torch takes seconds, `drethtr --help` must not."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    """What can be had from here, imported yet or not."""
    return sorted({*globals(), *__all__})
