"""A given text of a line, in the alphabet of a model, and its alignment with the reading."""

from collections.abc import Sequence
from typing import NamedTuple, Self

from rapidfuzz.distance import Levenshtein

from drethtr.recognition.posteriors import UNKNOWN
from drethtr.text.alphabet import relative
from drethtr.text.normalize import for_scoring
from drethtr.text.tokenizer import Tokenizer


class GivenText(NamedTuple):
    """A text in the alphabet of a model.

    words    as given, between white space
    written  in the model's alphabet, with `UNKNOWN` for characters that it lacks
    tokens   of the whole text
    spans    first token of each word and the one after its last, without spaces that are separate tokens
    """

    words: tuple[str, ...]
    written: tuple[str, ...]
    tokens: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer) -> Self:
        """The text; characters outside the alphabet become the most similar ones in it, if there are any."""
        words = tuple(for_scoring(text).split())
        tokens: list[int] = []
        spans = []
        for word in words:
            if tokens and (space := tokenizer.encode(" ")) and tokenizer.encode(f" {word}")[:1] == space:
                tokens += space
                first = len(tokens)
                tokens += encode(word, tokenizer)
            else:
                first = len(tokens)
                tokens += encode(f" {word}" if tokens else word, tokenizer)
            spans.append((first, len(tokens)))
        parts = [[tokenizer.decode([token]) or UNKNOWN for token in tokens[slice(*span)]] for span in spans]
        return cls(words, tuple("".join(part).strip() for part in parts), tuple(tokens), tuple(spans))

    @property
    def text(self) -> str:
        """The words, separated by single spaces."""
        return " ".join(self.words)

    def gap(self, number: int) -> tuple[int, int]:
        """The tokens between word `number` - 1 and word `number`; none before the first and after the last.

        Gaps are counted from 0, before the first word, to the number of words.
        """
        first = self.spans[number - 1][1] if number else 0
        last = self.spans[number][0] if number < len(self.spans) else len(self.tokens)
        return first, last

    def without(self, word: int) -> tuple[int, int]:
        """The tokens to drop with a word: its own, and those of one space beside it."""
        return (self.gap(word)[0], self.spans[word][1]) if word else (0, self.gap(1)[1])


def encode(text: str, tokenizer: Tokenizer) -> list[int]:
    """The tokens of a text, with unknown characters replaced by the most similar ones."""
    unknown = tokenizer.count_unknown([text])
    if unknown:
        known = frozenset(tokenizer.alphabet)
        text = "".join((relative(c, known) or c) if c in unknown else c for c in text)
    return tokenizer.encode(text)


class Pairing(NamedTuple):
    """The part of a reading for each word of a given text, and for each gap before, between and after the words."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]


def pair(words: Sequence[str], read: str) -> Pairing:
    """Divide a reading among the words of a given text, by the fewest edits between them.

    Extra text attached to a word belongs to the word; extra text set off by spaces belongs to the gap.
    """
    given = " ".join(words)
    owner = [2 * number + 1 for number, word in enumerate(words) for _ in f"{word} "]
    found = [""] * (2 * len(words) + 1)
    for block in Levenshtein.opcodes(given, read):
        part, place = read[block.dest_start : block.dest_end], block.src_start
        if block.tag == "insert":
            for number, piece in divided(
                part, given[:place][-1:], given[place : place + 1], owner[place] if given else 0
            ):
                found[number] += piece
        else:
            for number, character in zip(owner[place:], part, strict=False):
                found[number] += character
    parts = [" ".join(part.split()) for part in found]
    return Pairing(tuple(parts[1::2]), tuple(parts[::2]))


def divided(part: str, before: str, after: str, owner: int) -> tuple[tuple[int, str], ...]:
    """The owners of text read between two characters; `owner` is the owner of the place after the first of them.

    Words have odd numbers, the gaps around them even ones.
    """
    if before.strip() and after.strip():
        return ((owner, part),)
    if before.strip():
        head, space, tail = part.partition(" ")
        return (owner, head), (owner + 1, space + tail)
    if after:
        head, space, tail = part.rpartition(" ")
        return (owner - 1, head + space), (owner, tail)
    return ((owner, part),)
