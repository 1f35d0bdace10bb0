"""Handwriting recognition: images of lines or pages in, text with positions and confidences out.

    from drethtr import Recognizer, transcribe_page
    [reading] = Recognizer.load().read(["line.png"])
    page = transcribe_page("letter.jpg", Recognizer.load())

How to read is chosen by value, as in `Recognizer.load(decoder=CTC(), precision=Precision.BFLOAT16)`. What goes wrong
for a known reason is a `DrethtrError`: a `DataError`, `ConfigError` or `CheckpointError`, or an extra that is missing.

The names in `drethtr/api.py` are stable, as are those in the `__all__` of `drethtr.documents`, `drethtr.layout`,
`drethtr.pages` and `drethtr.search`; everything else may change between minor versions.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from drethtr.base.version import __version__ as __version__

# Otherwise recent versions of onnxruntime keep an id of the machine in the user's cache and report to Microsoft.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

if getattr(sys, "frozen", False):  # its child processes are the same program, so they begin here
    import_module("drethtr.base.sandbox").serve_if_child()

if TYPE_CHECKING:
    from drethtr.api import *  # noqa: F403


if not TYPE_CHECKING:  # type checkers would take any name for one of these

    def __getattr__(name: str) -> Any:
        """Import the names of `api.py` when the first of them is used: `drethtr --help` needs none."""
        if name == "__all__":
            return [*public(), "__version__"]
        known = {} if name.startswith("__") else public() | globals()  # with the packages that it has imported by then
        if name not in known:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals().setdefault(name, known[name])


def __dir__() -> list[str]:
    """All that can be imported from here, loaded yet or not."""
    return sorted({*globals(), *public()})


def public() -> dict[str, Any]:
    """The names of `api.py`."""
    found = vars(import_module("drethtr.api"))  # the statement would ask `__getattr__` for it
    return {name: value for name, value in found.items() if not name.startswith("_")}
