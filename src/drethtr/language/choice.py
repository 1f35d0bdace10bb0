"""Parse the user's choice of languages: `auto`, `fr`, `en,de`, `fr,names.txt`."""

import lzma
from pathlib import Path

from drethtr.base.encoding import decoded
from drethtr.base.errors import ConfigError, DataError
from drethtr.language.languages import Languages
from drethtr.text.tokenizer import Tokenizer

AUTO = "auto"
"""All languages of a model; each line is read in its own."""

TEXTS = (".txt", ".txt.xz")
"""Extensions of text files."""

SHARE = 0.3
"""Interpolation weight of the user's own texts."""

MAX_BYTES = 16 << 20
"""Largest text file, uncompressed."""


def chosen(languages: Languages, tokenizer: Tokenizer, names: str) -> Languages:
    """Select languages by comma-separated names; text files among them are interpolated into each language.

    Raises:
        ConfigError: if the model lacks a language, or has no n-grams at all.
        DataError: if a file cannot be used.
    """
    parts = [part.strip() for part in names.split(",") if part.strip()]
    files = [Path(part) for part in parts if part.endswith(TEXTS)]
    wanted = [part for part in parts if not part.endswith(TEXTS) and part != AUTO]
    if not wanted and not files:
        return languages
    if not languages:
        raise ConfigError(f"this model has no n-grams for {names!r}; add them with drethtr model language")
    found = languages if AUTO in parts or not wanted else languages.only(wanted)
    if not files:
        return found
    from drethtr.language.learn import learn

    texts = [line for path in files for line in lines_of(path)]
    for name, ngrams in found.models.items():
        share = [SHARE, 1 - SHARE]
        try:
            mixed = learn([texts, ngrams], share, tokenizer, order=ngrams.order, most=len(ngrams.tokens))
        except DataError as error:
            raise DataError(f"{', '.join(map(str, files))}: {error}") from error
        found = found.with_model(name, mixed)
    return found


def lines_of(path: Path) -> list[str]:
    """The non-empty lines of a text file.

    Raises:
        DataError: if it cannot be read, is too long or not UTF-8.
    """
    try:
        with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    except (lzma.LZMAError, EOFError) as error:
        raise DataError(f"cannot be read: {error}", path) from error
    if len(content) > MAX_BYTES:
        raise DataError(f"more than {MAX_BYTES >> 20} MB of text; add it with drethtr model language", path)
    return [line.strip() for line in decoded(content, path).splitlines() if line.strip()]
