"""Characters to ids and back; knows no images and no network.

All tokenizers are named here: who reads a model takes `Tokenizer` from here, so that every kind is known.
"""

from drethtr.text.byte_pairs import BytePairs
from drethtr.text.tokenizer import Characters, Tokenizer

__all__ = ["BytePairs", "Characters", "Tokenizer"]
