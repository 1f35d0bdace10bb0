"""All decoders in one place: who reads settings or a model takes `Decoder` from here, so that every kind is known."""

from drethtr.recognition.search.decoder import Decoder
from drethtr.recognition.search.strategies import CTC, Beam, Greedy, Joint, VerifiedDrafts
from drethtr.research.published_decoding import PublishedBeam, PublishedGreedy

__all__ = ["CTC", "Beam", "Decoder", "Greedy", "Joint", "PublishedBeam", "PublishedGreedy", "VerifiedDrafts"]
