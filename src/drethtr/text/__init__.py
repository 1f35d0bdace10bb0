"""Convert text to token ids and back; independent of images and networks."""

from drethtr.text.tokenizer import Characters, Tokenizer

__all__ = ["Characters", "Tokenizer"]
