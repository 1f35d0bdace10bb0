"""The texts of synthetic lines: passages of text files, cut into lines, in today's spelling or an old one."""

import lzma
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from drethtr.base.errors import ConfigError, DataError
from drethtr.synthesis.fonts import Face
from drethtr.synthesis.fragments import fragment

S_BEFORE_A_LETTER = re.compile(r"s(?=[^\W\d_])")


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """The shares of lines written in an old way; their texts stay in today's spelling.

    long_s              draw ſ for every s before a letter, if the font has one; ſ in the text files becomes s
    double_hyphens      draw = for the hyphen of a word broken at the end of the line
    """

    long_s: float = 0.0
    double_hyphens: float = 0.0

    def __post_init__(self) -> None:
        for one in fields(self):
            share = getattr(self, one.name)
            if not 0 <= share <= 1:
                raise ConfigError(f"spelling.{one.name} must be a share of lines between 0 and 1, not {share}")

    def edited(self, text: str) -> str:
        """The text as an edition prints it."""
        return text.replace("ſ", "s") if self.long_s else text

    def drawn(self, text: str, face: Face, rng: np.random.Generator) -> str:
        """The characters to draw for a text, one for one."""
        if self.double_hyphens and text.endswith("-") and rng.random() < self.double_hyphens and face.draws("="):
            text = text[:-1] + "="
        if self.long_s and rng.random() < self.long_s and face.draws("ſ"):
            text = S_BEFORE_A_LETTER.sub("ſ", text)
        return text


KEPT_BYTES = 16 << 20  # of one file in memory; a longer file is sampled in blocks
BLOCK_BYTES = 1 << 16
MAX_LINE_BYTES = BLOCK_BYTES + (1 << 10)  # longer lines are split into blocks
CONTINUATIONS = bytes(range(0x80, 0xC0))  # UTF-8 continuation bytes
TRIES = 50  # attempts to draw a text; a paragraph may have no character of the alphabet
MAX_WORD_LENGTH = 40
"""Text without a space for longer than this, as in scripts without spaces, is cut anywhere."""

LANGUAGE_NAMES = {"eng": "en", "fra": "fr", "deu": "de", "ita": "it", "spa": "es", "por": "pt", "lat": "la"}
LANGUAGE_NAMES |= {name: name for name in LANGUAGE_NAMES.values()}
SUBSTITUTES = {
    "’": "'", "‘": "'", "‚": ",", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "—": "-", "–": "-", "…": "...",
    "œ": "oe", "Œ": "Oe", "æ": "ae", "Æ": "Ae", "ſ": "s", "ß": "ss", "\u00ad": "",
}  # fmt: skip


class LineText(NamedTuple):
    """A line to write, and its language if the name of the file gives it."""

    text: str
    language: str | None


@dataclass(frozen=True, kw_only=True)
class Wording:
    """The composition of the text of a line.

    Prose is `shortest` to `longest` characters long, most often in between. `fragments` is the share of lines that are
    a date, a sum, a name or the like; `inserted` the share of prose that contains one; `hyphenated` how often a line
    that ends within a long word is hyphenated there; `capitals` the share in capitals; `words` the share of single
    words.
    """

    shortest: int = 10
    longest: int = 70
    fragments: float = 0.12
    inserted: float = 0.08
    hyphenated: float = 0.12
    capitals: float = 0.02
    words: float = 0.04

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest:
            raise ConfigError(f"shortest must be between 1 and longest ({self.longest}), not {self.shortest}")


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Text files to draw lines from.

    `weights` are the relative frequencies of the files, equal if empty. If `alphabet` is not empty, lines contain only
    its characters and spaces: others are replaced by a plain form, or left out if there is none.
    """

    files: tuple[Path, ...]
    weights: tuple[float, ...] = ()
    alphabet: str = ""
    wording: Wording = field(default_factory=Wording)

    def __post_init__(self) -> None:
        if not self.files:
            raise ConfigError("a corpus needs at least one text file")
        if self.weights and len(self.weights) != len(self.files):
            raise ConfigError(f"{len(self.weights)} weights for {len(self.files)} text files; give one for each")
        if self.weights and not (min(self.weights) >= 0 and sum(self.weights) > 0):
            raise ConfigError(f"weights of text files must be 0 or more, and one above 0, not {self.weights}")

    def draw(self, rng: np.random.Generator) -> LineText:
        """One line, not empty.

        Raises:
            DataError: if nothing can be drawn, because the files have no text in the alphabet.
        """
        file = self.draw_file(rng)
        language = language_of(file)
        for _ in range(TRIES):
            text = self.draw_line(file, language or "", rng)
            if text:
                return LineText(text, language)
        raise DataError(f"{file} has no text in the alphabet {self.alphabet!r}")

    def draw_file(self, rng: np.random.Generator) -> Path:
        if not self.weights:
            return self.files[int(rng.integers(len(self.files)))]
        shares = np.cumsum(self.weights)
        return self.files[int(np.searchsorted(shares, rng.random() * shares[-1], side="right"))]

    def draw_line(self, file: Path, language: str, rng: np.random.Generator) -> str:
        wording = self.wording
        kind = rng.random() - wording.fragments
        if kind < 0:
            return self.restrict(fragment(language, rng))
        paragraph = self.restrict(draw_paragraph(file, rng))
        if not paragraph:
            return ""
        if kind < wording.words:
            words = paragraph.split()
            return words[int(rng.integers(len(words)))][: wording.longest]
        hyphen = not self.alphabet or "-" in self.alphabet
        length = round(wording.shortest + (wording.longest - wording.shortest) * float(rng.beta(2.0, 2.4)))
        text = cut_line(paragraph, length, wording.hyphenated if hyphen else 0.0, rng)
        if rng.random() < wording.inserted:
            text = insert(text, self.restrict(fragment(language, rng)), rng)
        return self.restrict(text.upper()) if rng.random() < wording.capitals else text

    def restrict(self, text: str) -> str:
        """The text restricted to the alphabet, composed (NFC), with single spaces."""
        text = unicodedata.normalize("NFC", text)
        if self.alphabet:
            text = text.translate(plain_forms(self.alphabet))
        return " ".join(text.split())


def cut_line(paragraph: str, length: int, hyphenated: float, rng: np.random.Generator) -> str:
    """About `length` characters of a paragraph, from the start of a word to the end of one, or to a hyphenation."""
    if len(paragraph) <= length:
        return paragraph
    start = word_after(paragraph, int(rng.integers(-1, len(paragraph) - length)))
    end = start + length
    if end >= len(paragraph):
        return paragraph[start:]
    word_end = end_of_word(paragraph, end)
    word_start = paragraph.rfind(" ", start, end) + 1
    inside = paragraph[end - 2 : end + 2].isalpha() and word_start + 3 <= end <= word_end - 3
    if inside and rng.random() < hyphenated:
        return paragraph[start:end] + "-"
    near = word_start - 1 if end - word_start < word_end - end and word_start > start else word_end
    return paragraph[start:near]


def word_after(paragraph: str, place: int) -> int:
    """The start of the first word after a position, or after -1; if there is none, of the first word."""
    if place < 0 or end_of_word(paragraph, place) == place:
        return place + 1
    return paragraph.find(" ", place) + 1


def end_of_word(paragraph: str, place: int) -> int:
    """The end of the word at a position, or the position itself if the end is too far away."""
    end = paragraph.find(" ", place)
    end = len(paragraph) if end < 0 else end
    return end if end - place <= MAX_WORD_LENGTH else place


def insert(text: str, piece: str, rng: np.random.Generator) -> str:
    """The text with a piece between two of its words, but not after a hyphenated one."""
    words = text.split()
    place = int(rng.integers(len(words) + (not text.endswith("-"))))
    return " ".join((*words[:place], *piece.split(), *words[place:]))


def draw_paragraph(file: Path, rng: np.random.Generator) -> str:
    """A paragraph of a file, drawn in proportion to its length."""
    content = read_text(file)
    place = int(rng.integers(len(content)))
    start = content.rfind(b"\n", 0, place) + 1
    end = content.find(b"\n", start)
    return content[start : len(content) if end < 0 else end].decode()


@cache
def read_text(file: Path) -> bytes:
    """The paragraphs of a file, at most about `KEPT_BYTES` of them; cached for the life of the process.

    Raises:
        DataError: if the file is missing, damaged, empty or not UTF-8.
    """
    try:
        content = sample_blocks(read_blocks(file), KEPT_BYTES // BLOCK_BYTES)
        content.decode()
    except OSError as error:
        raise DataError(f"cannot read the text file {file}: {error.strerror or error}") from error
    except (lzma.LZMAError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the text file {file}: {error}") from error
    if not content.strip():
        raise DataError(f"{file} has no text")
    return content


def read_blocks(file: Path) -> Iterator[bytes]:
    """A file in pieces of whole lines, about `BLOCK_BYTES` each."""
    block = b""
    with lzma.open(file) if file.suffix == ".xz" else file.open("rb") as stream:
        for line in read_lines(stream):
            block += line
            if len(block) > BLOCK_BYTES:
                yield block
                block = b""
    if block:
        yield block


def read_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file; one longer than `MAX_LINE_BYTES` is split at spaces."""
    rest = b""
    while line := rest + stream.readline(MAX_LINE_BYTES - len(rest)):
        rest = b""
        if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
            last = len(line.rstrip(CONTINUATIONS)) - 1  # start of the last character, which may be incomplete
            end = max(line.rfind(b" "), 0) or max(last, 0) or len(line)
            line, rest = line[:end] + b"\n", line[end:]
        yield line


def sample_blocks(blocks: Iterator[bytes], most: int) -> bytes:
    """All blocks, or a fixed random sample of `most` of them (reservoir sampling)."""
    rng, kept = np.random.default_rng(0), list[bytes]()  # the same blocks in every process
    for number, block in enumerate(blocks):
        if number < most:
            kept.append(block)
        elif (place := int(rng.integers(number + 1))) < most:
            kept[place] = block
    return b"".join(kept)


def language_of(file: Path) -> str | None:
    """The language at the end of a file name, as in `novels_eng.txt.xz` or `fr.txt`."""
    return LANGUAGE_NAMES.get(file.name.removesuffix(".xz").removesuffix(".txt").rsplit("_")[-1].lower())


class PlainForms(dict[int, str]):
    """A table for `str.translate` that finds a character's nearest form in an alphabet on first use."""

    def __init__(self, alphabet: str) -> None:
        super().__init__({ord(character): character for character in alphabet + " "})
        self.alphabet = frozenset(alphabet + " ")

    def __missing__(self, code: int) -> str:
        character = chr(code)
        bare = unicodedata.normalize("NFD", character)[0]
        forms = (SUBSTITUTES.get(character, ""), " " if character.isspace() else bare)
        found = next((form for form in forms if form and self.alphabet.issuperset(form)), "")
        self[code] = found
        return found


plain_forms = cache(PlainForms)
"""The translation table into an alphabet, made once per process."""
