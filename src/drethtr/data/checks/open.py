"""Files opened for checking: texts as written, and each file in the split that its name speaks of."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from drethtr.data.sample import Sample
from drethtr.data.sources import all_matching, open_samples
from drethtr.data.split_names import split_named
from drethtr.text.normalize import as_written


def open_splits(patterns: Sequence[str]) -> dict[str, list[Sample]]:
    """The lines of some files, URLs or patterns, by split.

    `x.train.parquet` is of `train`; names without such a word are of `all`.

    Raises:
        DataError: if nothing matches a pattern, two match the same file, or one cannot be opened at all.
    """
    splits: dict[str, list[Sample]] = defaultdict(list)
    for path in all_matching(patterns):
        splits[split_named(Path(path).name) or "all"] += open_samples(path, as_written)
    return dict(splits)
