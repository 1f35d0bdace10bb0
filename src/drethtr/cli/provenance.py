"""Who made an output, and how: what every file that a command writes says of its maker."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drethtr.documents.document import Provenance
    from drethtr.recognition.recognizer import Recognizer


def provenance_of(recognizer: "Recognizer") -> "Provenance":
    """The package in its version, with the model of a recognizer, now."""
    from drethtr.documents.document import Provenance

    return Provenance.now(recognizer.model.identity)


def way_of(recognizer: "Recognizer") -> dict[str, str]:
    """How a recognizer reads with its model; figures are told with it."""
    return {"decoder": repr(recognizer.strategy), "precision": recognizer.precision.value}
