"""All decoders in one place: who reads settings or a model takes `Decoder` from here, so that every kind is known."""

from drethtr.decoding.decoder import Decoder
from drethtr.decoding.published import PublishedBeam, PublishedGreedy
from drethtr.decoding.strategies import CTC, Beam, Greedy, Joint, VerifiedDrafts

__all__ = ["CTC", "Beam", "Decoder", "Greedy", "Joint", "PublishedBeam", "PublishedGreedy", "VerifiedDrafts"]
