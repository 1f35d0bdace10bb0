"""Who made an output, and how: what every result says about its maker."""

from drethtr.documents.document import Provenance
from drethtr.recognition.recognizer import Recognizer


def provenance_of(recognizer: Recognizer) -> Provenance:
    """What the model of a recognizer makes now, with this version of the package."""
    return Provenance.now(recognizer.model.identity)


def way_of(recognizer: Recognizer) -> dict[str, str]:
    """How a recognizer reads with its model, as stored with figures."""
    return {"decoder": repr(recognizer.strategy), "precision": recognizer.precision.value}
