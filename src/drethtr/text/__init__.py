"""Convert text to token ids and back; independent of images and networks.

All tokenizers are imported here, so that code that imports `Tokenizer` knows every kind.
"""

from drethtr.text.byte_pairs import BytePairs
from drethtr.text.tokenizer import Characters, Tokenizer

__all__ = ["BytePairs", "Characters", "Tokenizer"]
