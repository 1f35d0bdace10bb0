"""Convert text to token ids and back; independent of images and networks.

All tokenizers are imported here, so that every kind is known to code that imports `Tokenizer` from here.
"""

from drethtr.text.byte_pairs import BytePairs
from drethtr.text.tokenizer import Characters, Tokenizer

__all__ = ["BytePairs", "Characters", "Tokenizer"]
