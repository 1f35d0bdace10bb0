"""Characters that keyboards lack: those of the texts of a folder, and others that the model can read."""

import unicodedata
from collections import Counter
from string import printable

from drethtr.base.errors import DataError
from drethtr.editing.workspace import Workspace
from drethtr.recognition.model_file import Model
from drethtr.text.tokenizer import Characters

SHOWN = 200
"""Most characters of each kind."""

CATEGORIES = ("Ll", "Lo", "M", "P", "Lu", "N", "S")
"""Beginnings of Unicode categories in the order of use: small letters, marks, punctuation, capitals, signs."""


def special_characters(workspace: Workspace, model: Model) -> dict[str, list[str]]:
    """Characters of the folder, the most frequent first, and of the model's alphabet, letters first."""
    counts: Counter[str] = Counter()
    for _, summary in workspace.summarized():
        if not isinstance(summary, DataError):
            for _, text, _ in summary.texts:
                counts.update(text)
    used = [character for character, _ in counts.most_common() if is_special(character)]
    known = model.tokenizer.characters if isinstance(model.tokenizer, Characters) else ""
    others = sorted({one for one in known if is_special(one) and one not in counts}, key=place_of)
    return {"used": used[:SHOWN], "model": others[:SHOWN]}


def is_special(character: str) -> bool:
    """Whether an English keyboard lacks a character."""
    return character not in printable and not character.isspace()


def place_of(character: str) -> tuple[int, str]:
    """Where a character stands among others: by its category, then beside other forms of its letter."""
    category = unicodedata.category(character)
    rank = next((place for place, start in enumerate(CATEGORIES) if category.startswith(start)), len(CATEGORIES))
    return rank, unicodedata.normalize("NFKD", character)
