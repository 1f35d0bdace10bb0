"""Who made an output, and how: what every result says about its maker."""

from drethtr.documents.document import Provenance
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.segmentation import name_of as segmentation_name
from drethtr.recognition.recognizer import Recognizer
from drethtr.recognition.search.strategies import name_of


def provenance_of(recognizer: Recognizer) -> Provenance:
    """What the model of a recognizer makes now, with this version of the package."""
    return Provenance.now(recognizer.model.identity)


def way_of(recognizer: Recognizer) -> dict[str, str]:
    """How a recognizer reads with its model, as stored with figures."""
    return {"decoder": name_of(recognizer.strategy), "precision": recognizer.precision.value}


def made_with(recognizer: Recognizer, segmentation: Segmentation) -> dict[str, str]:
    """What decides the text of a page, in the names of the command line, as stored with an index and with results."""
    return {
        "model": recognizer.model.identity,
        "decoder": name_of(recognizer.strategy),
        "precision": recognizer.precision.value,
        "lines": segmentation_name(segmentation),
    }
