"""Files opened for checking: texts as written, and each file in the split that its name speaks of."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.lines.checks.finding import Finding, Row, Severity, finding_if
from drethtr.lines.sample import Sample
from drethtr.lines.sources import all_matching, lines_at
from drethtr.lines.split_names import split_named
from drethtr.text.normalize import as_written


def open_splits(patterns: Sequence[str]) -> tuple[dict[str, list[Sample]], list[Finding]]:
    """The lines of some files, URLs or patterns, by split, and what is wrong with those that cannot be opened.

    `x.train.parquet` is of `train`; names without such a word are of `all`.

    Raises:
        DataError: if nothing matches a pattern, two match the same file, or one cannot be opened at all.
    """
    splits: dict[str, list[Sample]] = defaultdict(list)
    unusable = []
    for path in all_matching(patterns):
        samples = splits[split_named(Path(path).name) or "all"]
        for line in lines_at(path, as_written):
            if isinstance(line, DataError):
                unusable.append(Row(str(line)))
            else:
                samples.append(line)
    message = "no command reads what has such lines; mend them, or let drethtr data import leave them out"
    return dict(splits), finding_if(Severity.ERROR, "unusable line", message, unusable)
