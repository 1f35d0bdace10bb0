"""Subword tokens by byte-pair encoding (paper, Table 8) of characters, for any alphabet.

The space before a word belongs to its first token. White space is not normalized: the joined tokens of a text are the
text itself, with every double space and line break. Only learning needs the extra "bpe".
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

from drethtr.base.errors import ConfigError, MissingExtraError
from drethtr.text.normalize import nfc
from drethtr.text.tokenizer import SPECIALS, UNK, Tokenizer, numbered, spelled

# A word or a run of symbols with the space before it, or other white space; every character is in exactly one piece.
PIECE = re.compile(r" ?\w+| ?[^\s\w]+|\s")


@dataclass(frozen=True)
class BytePairs(Tokenizer):
    """Tokens from merges of adjacent ones; `vocabulary` has the ids from 4 on, and `merges` apply in order.

    Raises:
        ConfigError: if a token occurs twice, or a merge uses or yields a token missing from the vocabulary.
    """

    vocabulary: tuple[str, ...]
    merges: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        if len(self.ids) < len(self.vocabulary):
            [(token, n)] = Counter(self.vocabulary).most_common(1)
            raise ConfigError(f"token {token!r} occurs {n} times in the vocabulary")
        for left, right in self.merges:
            for token in (left, right, left + right):
                if token not in self.ids:
                    raise ConfigError(f"the merge of {left!r} and {right!r} needs token {token!r} in the vocabulary")

    @classmethod
    def learn(cls, texts: Iterable[str], size: int = 500) -> Self:
        """Merge the most frequent pair in `texts` repeatedly, up to `size` ids; use training texts only.

        Raises:
            ConfigError: if `texts` have more characters than `size` allows.
            MissingExtraError: if the package `tokenizers` is not installed.
        """
        try:
            from tokenizers import Tokenizer as Learner
            from tokenizers.models import BPE
            from tokenizers.trainers import BpeTrainer
        except ImportError as error:
            raise MissingExtraError("tokenizers", "bpe") from error
        pieces = [piece for text in texts for piece in PIECE.findall(nfc(text))]
        alphabet = {character for piece in pieces for character in piece}
        if len(alphabet) + SPECIALS > size:
            raise ConfigError(
                f"{size} ids are too few for {len(alphabet)} characters and {SPECIALS} special tokens; use more ids"
            )
        learner = Learner(BPE())
        learner.train_from_iterator(pieces, BpeTrainer(vocab_size=size - SPECIALS, show_progress=False))
        model = json.loads(learner.to_str())["model"]
        vocabulary = sorted(model["vocab"], key=model["vocab"].__getitem__)
        return cls(tuple(vocabulary), tuple((left, right) for left, right in model["merges"]))

    @property
    def size(self) -> int:
        return SPECIALS + len(self.vocabulary)

    @property
    def alphabet(self) -> str:
        return "".join(token for token in self.vocabulary if len(token) == 1)

    @cached_property
    def ids(self) -> dict[str, int]:
        return numbered(self.vocabulary)

    @cached_property
    def ranks(self) -> dict[tuple[str, str], int]:
        return {pair: rank for rank, pair in enumerate(self.merges)}

    def encode(self, text: str) -> list[int]:
        return [self.ids.get(token, UNK) for piece in PIECE.findall(nfc(text)) for token in self.merged(piece)]

    def decode(self, ids: Iterable[int]) -> str:
        return spelled(self.vocabulary, ids)

    def merged(self, piece: str) -> list[str]:
        """The tokens of a piece: its characters, merged in the order of the learned merges."""
        tokens = list(piece)
        while len(tokens) > 1:
            pairs = list(pairwise(tokens))
            # Merges apply in the order of training; another order would give different tokens for a word.
            best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            at = pairs.index(best)
            tokens[at : at + 2] = ["".join(best)]
        return tokens
