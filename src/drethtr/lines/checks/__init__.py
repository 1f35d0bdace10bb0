"""Checks of transcribed lines: each looks at all splits and reports findings; nothing is changed or removed."""

from collections.abc import Mapping
from dataclasses import dataclass

from drethtr.lines.checks.alphabets import alphabets, written_backwards
from drethtr.lines.checks.finding import Check, Finding, Severity, Splits
from drethtr.lines.checks.images import broken_images
from drethtr.lines.checks.lengths import lengths
from drethtr.lines.checks.lookalikes import confused_letters, mixed_scripts, mixed_signs
from drethtr.lines.checks.splits import duplicates, meetings, shared_texts
from drethtr.lines.checks.texts import damaged_texts, empty_texts, normal_forms
from drethtr.lines.sample import page_of

CHECKS: tuple[Check, ...] = (
    meetings,
    empty_texts,
    damaged_texts,
    broken_images,
    duplicates,
    lengths,
    mixed_scripts,
    confused_letters,
    normal_forms,
    alphabets,
    written_backwards,
    mixed_signs,
    shared_texts,
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
    """Run every check; `extra` are findings from elsewhere, such as a model's."""
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
