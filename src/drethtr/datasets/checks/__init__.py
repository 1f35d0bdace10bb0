"""Checks of transcribed lines: each looks at all splits and reports findings; nothing is changed or removed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from drethtr.datasets.checks.finding import Check, Finding, Row, Severity, Splits, finding_if
from drethtr.datasets.checks.lines import (
    broken_images,
    duplicates,
    leaks,
    lengths,
    odd_descriptions,
    shared_names,
    shared_texts,
)
from drethtr.datasets.checks.texts import (
    alphabets,
    confused_letters,
    damaged_texts,
    editorial_marks,
    empty_texts,
    escaped_characters,
    invisible_characters,
    mixed_scripts,
    mixed_signs,
    normal_forms,
    quoted_cells,
    right_to_left_letters,
)
from drethtr.datasets.open import all_matching, entries_at, path_and_split, refuse_unknown, without_lines
from drethtr.datasets.sample import LeftOut, Sample, page_of, with_distinct_sets
from drethtr.datasets.splits import set_at, split_named

CHECKS: tuple[Check, ...] = (
    leaks,
    empty_texts,
    damaged_texts,
    invisible_characters,
    quoted_cells,
    escaped_characters,
    broken_images,
    odd_descriptions,
    duplicates,
    lengths,
    mixed_scripts,
    confused_letters,
    normal_forms,
    alphabets,
    right_to_left_letters,
    mixed_signs,
    shared_texts,
    editorial_marks,
)


@dataclass(frozen=True)
class Size:
    """The size of a split."""

    lines: int
    pages: int
    characters: int
    alphabet: int


@dataclass(frozen=True)
class Report:
    """The sizes of the splits and the findings, most severe first."""

    sizes: Mapping[str, Size]
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether there are no errors."""
        return all(finding.severity is not Severity.ERROR for finding in self.findings)


def check(splits: Splits, extra: tuple[Finding, ...] = ()) -> Report:
    """Run every check; `extra` are further findings, such as those of a model."""
    findings = [*(finding for each in CHECKS for finding in each(splits)), *extra]
    order = list(Severity)
    return Report(
        {name: size_of(splits, name) for name in splits},
        tuple(sorted(findings, key=lambda finding: order.index(finding.severity))),
    )


def size_of(splits: Splits, name: str) -> Size:
    """The size of one split; lines of unknown page do not count as pages."""
    samples = splits[name]
    return Size(
        lines=len(samples),
        pages=len(set(map(page_of, samples)) - {""}),
        characters=sum(len(sample.text) for sample in samples),
        alphabet=len({character for sample in samples for character in sample.text}),
    )


def open_splits(patterns: Sequence[str]) -> tuple[dict[str, list[Sample]], list[Finding]]:
    """The lines of files, folders, URLs or patterns by split, and findings about unusable lines and names of sets.

    Texts are as written. Lines of no split are in that which their file or folder is named after, such as `train` for
    `x.train.parquet`, or in `all`.

    Raises:
        DataError: if a pattern matches nothing, two patterns match the same file, a file cannot be opened at all or
            does not have the split, or there are no lines.
    """
    splits: dict[str, list[Sample]] = defaultdict(list)
    files: dict[Path, list[Sample]] = defaultdict(list)  # splits and shards of a set count as one
    unusable = []
    for name in all_matching(patterns):
        path, wanted = path_and_split(name)
        place = set_at(path)
        default = split_named(Path(path).name) or "all"
        met = dict[str, None]()
        for entry in entries_at(path):
            if isinstance(entry, LeftOut):
                unusable.append(Row(entry.key, entry.detail or entry.reason))
                continue
            met[entry.split] = None
            if not wanted or entry.split == wanted:
                splits[entry.split or default].append(entry)
                files[place].append(entry)
        if wanted and met:
            refuse_unknown(wanted, met, path)
    if not (splits or unusable):
        raise without_lines(patterns)
    message = "no command reads files with such lines; fix them, or use drethtr data import, which leaves them out"
    findings = [*finding_if(Severity.ERROR, "unusable line", message, unusable), *shared_names(files)]
    return dict(zip(splits, with_distinct_sets(*splits.values()), strict=True)) or {"all": []}, findings
