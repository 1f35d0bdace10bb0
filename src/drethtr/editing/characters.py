"""Characters to insert that keyboards lack: of a page's language, of the texts in its folder, and of the alphabet."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from string import printable

from drethtr.base.errors import DataError
from drethtr.editing.workspace import Workspace
from drethtr.recognition.model.file import Model
from drethtr.text.tokenizer import Characters

SHOWN = 200
"""Maximum number of characters of each kind."""

SELDOM = -11.5
"""Log-probability below which a character does not belong to a language: 1 in 100,000, as in foreign names."""

CATEGORIES = ("Ll", "Lo", "M", "P", "Lu", "N", "S")
"""Beginnings of Unicode categories in the order of use: small letters, marks, punctuation, capitals, signs."""


def special_characters(workspace: Workspace, page_id: str, model: Model) -> dict[str, list[str]]:
    """Characters of the language of a page and others of the folder, the most frequent first; then the rest, by kind.

    Raises:
        Missing: if there is no such page.
    """
    workspace.folder_page(page_id)
    counts: Counter[str] = Counter()
    own: list[str] = []
    for page, summary in workspace.page_summaries():
        if not isinstance(summary, DataError):
            texts = [text for _, text, _ in summary.texts if text]
            counts.update("".join(texts))
            own = texts if page.id == page_id else own
    language = of_language(model, own)
    used = [one for one, _ in counts.most_common() if is_special(one) and one not in language]
    known = model.tokenizer.characters if isinstance(model.tokenizer, Characters) else ""
    others = {one for one in known if is_special(one)} - {*language, *used}
    return {"language": language, "used": used[:SHOWN], "others": sorted(others, key=place_of)[:SHOWN]}


def of_language(model: Model, texts: Sequence[str]) -> list[str]:
    """The special characters of the language of some texts, by the n-grams of a model; none without either."""
    tokenizer, languages = model.tokenizer, model.languages
    if not (texts and languages and isinstance(tokenizer, Characters)):
        return []
    ngrams = languages.models[languages.of_texts(map(tokenizer.encode, texts))]
    shares = {one: ngrams.unigram(token) for one, token in tokenizer.ids.items() if is_special(one)}
    return sorted((one for one in shares if shares[one] >= SELDOM), key=lambda one: -shares[one])


def is_special(character: str) -> bool:
    """Whether an English keyboard lacks a character."""
    return character not in printable and not character.isspace()


def place_of(character: str) -> tuple[int, str]:
    """A sort key for characters: by category, then beside other forms of the letter."""
    category = unicodedata.category(character)
    rank = next((place for place, start in enumerate(CATEGORIES) if category.startswith(start)), len(CATEGORIES))
    return rank, unicodedata.normalize("NFKD", character)
