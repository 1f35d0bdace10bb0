"""Derive the split and the set of lines from the name of a file or folder."""

import re
from collections.abc import Mapping
from pathlib import Path

from drethtr.text.normalize import nfc

SPLIT_WORDS: Mapping[str, tuple[str, ...]] = {
    "train": ("train", "training", "trainset", "trainlines"),
    "val": ("val", "valid", "validation", "validationset1", "validationset2", "validationlines", "dev"),
    "test": ("test", "testing", "testset", "testlines", "eval"),
}
"""Words that count anywhere in a name, unless a letter or digit adjoins them."""

SHORT = {"train": "tr", "val": "va", "test": "te"}
"""Short forms that count only between dots or as the whole name: `Te Deum` is not a test set."""

SPLITS = {
    split: re.compile(rf"(?<![^\W_])(?:{'|'.join(words)})(?![^\W_])|(?<![^.]){SHORT[split]}(?![^.])", re.IGNORECASE)
    for split, words in SPLIT_WORDS.items()
}
SHARD = re.compile(r"(?<!\d)\d+-of-\d+$")
SEPARATORS = "._- "


def split_named(name: str) -> str:
    """The split in a name such as `iam.train.parquet` or `ValidationLines.lst`; "" if there is none."""
    composed = nfc(name)
    return next((split for split, words in SPLITS.items() if words.search(composed)), "")


def set_named(file: str | Path) -> str:
    """The default set of a file's lines, the same for all splits of a set.

    It is the name of the file without split and shard, or the name of the folder if nothing else is left.
    """
    path = Path(file)
    name = nfc(path.stem)
    for words in SPLITS.values():
        name = re.sub(rf"[\W_]*(?:{words.pattern})", "", name, flags=re.IGNORECASE)
    return SHARD.sub("", name).strip(SEPARATORS) or path.absolute().parent.name or path.stem
