"""Open files for checking, with texts as written and each file in the split that its name indicates."""

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
    """The lines of files, URLs or patterns by split, and findings for lines that cannot be opened.

    `x.train.parquet` belongs to `train`; names without a split belong to `all`.

    Raises:
        DataError: if a pattern matches nothing, two patterns match the same file, or a file cannot be opened at all.
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
    message = "no command reads files with such lines; fix them, or use drethtr data import, which leaves them out"
    return dict(splits), finding_if(Severity.ERROR, "unusable line", message, unusable)
