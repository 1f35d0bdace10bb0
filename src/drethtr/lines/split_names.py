"""What a name says: the split of the lines in a file or folder, and the set that they belong to."""

import re
from collections.abc import Mapping
from pathlib import Path

from drethtr.text.normalize import nfc

SPLIT_WORDS: Mapping[str, tuple[str, ...]] = {
    "train": ("train", "training", "trainset", "trainlines"),
    "val": ("val", "valid", "validation", "validationset1", "validationset2", "validationlines", "dev"),
    "test": ("test", "testing", "testset", "testlines", "eval"),
}
"""Words that count anywhere in a name, if no letter or digit adjoins them."""

SHORT = {"train": "tr", "val": "va", "test": "te"}
"""Syllables that count only between dots or as the whole name: `Te Deum` is no test."""

SPLITS = {
    split: re.compile(rf"(?<![^\W_])(?:{'|'.join(words)})(?![^\W_])|(?<![^.]){SHORT[split]}(?![^.])", re.IGNORECASE)
    for split, words in SPLIT_WORDS.items()
}
SHARD = re.compile(r"\d+-of-\d+$")
SEPARATORS = "._- "


def split_named(name: str) -> str:
    """The split that a name speaks of, such as `iam.train.parquet` or `ValidationLines.lst`; "" if of none."""
    composed = nfc(name)
    return next((split for split, words in SPLITS.items() if words.search(composed)), "")


def set_named(file: str | Path) -> str:
    """The set of a file's lines where the file does not say: the same for all its splits.

    It is the file's name without split and shard; the folder's where nothing else is in the name.
    """
    path = Path(file)
    name = nfc(path.stem)
    for words in SPLITS.values():
        name = re.sub(rf"[\W_]*(?:{words.pattern})", "", name, flags=re.IGNORECASE)
    return SHARD.sub("", name).strip(SEPARATORS) or path.absolute().parent.name or path.stem
