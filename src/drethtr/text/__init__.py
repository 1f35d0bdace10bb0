"""Convert text to token ids and back; independent of images and networks.

tokenizer.py  one token per character, and the interface of others
alphabet.py   changes of a model's characters for new texts
normalize.py  texts as they are learned, compared and searched for
"""

from drethtr.text.tokenizer import Characters, Tokenizer

__all__ = ["Characters", "Tokenizer"]
