"""Provenance: how each result was made."""

from drethtr.documents.document import Provenance
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.segmentation import name_of as segmentation_name
from drethtr.recognition.decoding.names import name_of
from drethtr.recognition.recognizer import Recognizer


def provenance_of(recognizer: Recognizer) -> Provenance:
    """The provenance of results from a recognizer and this version of the package."""
    return Provenance.now(recognizer.model.identity)


def way_of(recognizer: Recognizer) -> dict[str, str]:
    """Decoder and precision of a recognizer, as stored with metrics."""
    return {"decoder": name_of(recognizer.strategy), "precision": recognizer.precision.value}


def made_with(recognizer: Recognizer, segmentation: Segmentation) -> dict[str, str]:
    """The settings that determine the text of a page, named as on the command line; stored with indexes and results."""
    return {
        "model": recognizer.model.identity,
        **way_of(recognizer),
        "lines": segmentation_name(segmentation),
    }
