"""Errors inserted into correct texts, one per text, to measure whether a check finds them.

Each kind imitates a common error: a reader confuses words, a model invents or modernizes, a volunteer skips a word or
a line.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from rapidfuzz.distance import Levenshtein

from drethtr.datasets.sample import Sample
from drethtr.text.normalize import for_scoring

Chance: TypeAlias = np.random.Generator


class Corrupted(NamedTuple):
    """A text with an error: its words, the wrong ones, and those before which a word is missing."""

    words: tuple[str, ...]
    wrong: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()


class WordPool(NamedTuple):
    """The lines of a set, each a tuple of words, and all their words: the source of wrong words."""

    lines: tuple[tuple[str, ...], ...]
    words: tuple[str, ...]

    def drawn(self, chance: Chance, number: int) -> list[str]:
        """Words drawn by their frequency."""
        return [self.words[place] for place in chance.integers(len(self.words), size=number).tolist()]


Corrupt: TypeAlias = Callable[[tuple[str, ...], WordPool, Chance], Corrupted | None]
"""Inserts an error into some words; returns None if that is impossible."""

DRAWS = 200
"""Words drawn to find a similar one."""

SPELLINGS = (
    (r"ſ", "s"),
    (r"oi(?=t\b|s\b|ent\b)", "ai"),
    (r"(?<=[a-zé])y(?=[^aeiouy\W]|\b)", "i"),
    (r"ff", "f"),
    (r"th(?=[aeiu])", "t"),
    (r"ey", "ei"),
    (r"([^\Wsl])\1", r"\1"),
    (r"é|è|ê", "e"),
    (r"(?<=[a-z])ck", "k"),
    (r"(?<=[a-z])our\b", "or"),
    (r"(?<=[a-z])ez\b", "és"),
    (r"(?<=[aeiou])s(?=[aeiou])", "z"),
    (r"(?<=[a-z])e\b", ""),
    (r"ph", "f"),
)
"""Rules of modernized spelling; the first one that changes a word is used."""


def put(words: tuple[str, ...], place: int, word: str) -> Corrupted | None:
    """Replace one word; None if nothing changes."""
    if word == words[place]:
        return None
    return Corrupted((*words[:place], word, *words[place + 1 :]), (place,))


def other_word(words: tuple[str, ...], lines: WordPool, chance: Chance) -> Corrupted | None:
    """Replace a word by another one of the set."""
    return put(words, int(chance.integers(len(words))), lines.drawn(chance, 1)[0])


def similar_word(words: tuple[str, ...], lines: WordPool, chance: Chance) -> Corrupted | None:
    """Replace a word by a similar one of the set."""
    place = int(chance.integers(len(words)))
    others = [word for word in lines.drawn(chance, DRAWS) if word != words[place]]
    if not others:
        return None
    return put(words, place, min(others, key=lambda word: Levenshtein.normalized_distance(word, words[place])))


def one_letter(words: tuple[str, ...], lines: WordPool, chance: Chance) -> Corrupted | None:
    """Replace a letter."""
    place = int(chance.integers(len(words)))
    word = words[place]
    letters = [number for number, character in enumerate(word) if character.isalpha()]
    pool = [character for drawn in lines.drawn(chance, 20) for character in drawn if character.isalpha()]
    if not letters or not pool:
        return None
    number = letters[int(chance.integers(len(letters)))]
    letter = pool[int(chance.integers(len(pool)))]
    letter = letter.upper() if word[number].isupper() else letter.lower()
    return put(words, place, word[:number] + letter + word[number + 1 :])


def inserted(words: tuple[str, ...], lines: WordPool, chance: Chance) -> Corrupted | None:
    """Insert a word."""
    place = int(chance.integers(len(words) + 1))
    return Corrupted((*words[:place], lines.drawn(chance, 1)[0], *words[place:]), (place,))


def omitted(words: tuple[str, ...], lines: WordPool, chance: Chance) -> Corrupted | None:
    """Omit a word."""
    if len(words) < 2:
        return None
    place = int(chance.integers(len(words)))
    return Corrupted((*words[:place], *words[place + 1 :]), missing=(place,))


def spelling(words: tuple[str, ...], lines: WordPool, chance: Chance) -> Corrupted | None:
    """Modernize the spelling of a word."""
    for place in chance.permutation(len(words)).tolist():
        for pattern, instead in SPELLINGS:
            changed = re.sub(pattern, instead, words[place])
            if changed and changed != words[place]:
                return put(words, place, changed)
    return None


def digit(words: tuple[str, ...], lines: WordPool, chance: Chance) -> Corrupted | None:
    """Replace a digit."""
    places = [(w, c) for w, word in enumerate(words) for c, character in enumerate(word) if character in "0123456789"]
    if not places:
        return None
    place, number = places[int(chance.integers(len(places)))]
    word = words[place]
    changed = str((int(word[number]) + int(chance.integers(1, 10))) % 10)
    return put(words, place, word[:number] + changed + word[number + 1 :])


def name(words: tuple[str, ...], lines: WordPool, chance: Chance) -> Corrupted | None:
    """Replace a name by another one: a word that is capitalized within a line."""
    places = [place for place, word in enumerate(words) if place and is_name(word)]
    names = [word for word in lines.drawn(chance, DRAWS) if is_name(word)]
    if not places or not names:
        return None
    return put(words, places[int(chance.integers(len(places)))], names[0])


def is_name(word: str) -> bool:
    """Whether a word looks like a name."""
    return len(word) > 2 and word[0].isupper() and word[1:].islower()


def continued(words: tuple[str, ...], lines: WordPool, chance: Chance) -> Corrupted | None:
    """Replace the end by that of another line: at least two words, at most a third."""
    number = max(2, len(words) // 3)
    other = lines.lines[int(chance.integers(len(lines.lines)))]
    if len(words) <= number or len(other) < number:
        return None
    kept = words[:-number]
    end = other[-number:]
    changed = tuple(len(kept) + place for place, word in enumerate(end) if word != words[len(kept) + place])
    return Corrupted((*kept, *end), changed) if changed else None


def swapped(words: tuple[str, ...], lines: WordPool, chance: Chance) -> Corrupted | None:
    """Replace the text by that of another line."""
    other = lines.lines[int(chance.integers(len(lines.lines)))]
    wrong = tuple(place for place, word in enumerate(other) if word not in words)
    return Corrupted(other, wrong) if other != words and wrong else None


KINDS: Mapping[str, Corrupt] = {
    "other word": other_word,
    "similar word": similar_word,
    "one letter": one_letter,
    "inserted": inserted,
    "omitted": omitted,
    "spelling": spelling,
    "digit": digit,
    "name": name,
    "continued": continued,
    "swapped": swapped,
}


def corrupt(samples: Sequence[Sample], seed: int = 0, most: int = len(KINDS)) -> list[dict[str, Corrupted]]:
    """For each sample, its text with one error, once for each of several kinds.

    Args:
        seed: Of the errors.
        most: Maximum number of kinds per sample.
    """
    sets: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    words_of = [tuple(for_scoring(sample.text).split()) for sample in samples]
    for sample, words in zip(samples, words_of, strict=True):
        if words:
            sets[sample.set].append(words)
    pools = {set: WordPool(tuple(some), tuple(word for line in some for word in line)) for set, some in sets.items()}
    found = []
    for sample, words in zip(samples, words_of, strict=True):
        # Seeded by the text: a line gets the same errors in any selection of lines.
        chance = np.random.default_rng([seed, *map(ord, sample.text)])
        made = {kind: make(words, pools[sample.set], chance) for kind, make in KINDS.items()} if words else {}
        possible = [(kind, text) for kind, text in made.items() if text is not None]
        found.append(dict(possible[place] for place in sorted(chance.permutation(len(possible))[:most].tolist())))
    return found
