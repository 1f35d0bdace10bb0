"""Confirmed lines of a folder, split into training and test lines.

A fifth of them is held out for testing, always the same ones, none of which was ever trained on.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from typing import NamedTuple

from drethtr.base.errors import DataError
from drethtr.datasets.parquet import png_of
from drethtr.datasets.sample import Sample
from drethtr.editing.status import Status
from drethtr.editing.workspace import Workspace

LEARN = "learn"
"""The kind of job, and the action that the history records of lines trained on."""

MIN_CONFIRMED = 25
"""Minimum number of confirmed lines for learning."""

MIN_TO_TRAIN = 20
"""Minimum number of them to train on; `drethtr model finetune` refuses fewer."""

HELD_OUT = 0.2
"""Share of lines to test on."""


class Confirmed(NamedTuple):
    """Confirmed lines with their pages and ids, to train on and to test on."""

    train: list[tuple[str, str, Sample]]
    held_out: list[tuple[str, str, Sample]]


def gather(workspace: Workspace, check: Callable[[], None]) -> Confirmed:
    """The confirmed lines, cut out of their scans; `check` is called for every page, and may raise to cancel.

    Raises:
        DataError: if there are too few.
    """
    found: list[tuple[str, str, Sample]] = []
    for page, summary in workspace.page_summaries():
        check()
        if isinstance(summary, DataError) or not summary.counts[Status.CONFIRMED]:
            continue
        opened = workspace.page_files.open_existing(page)
        for line in opened.file.page.lines:
            if opened.status(line) is Status.CONFIRMED and line.text:
                with suppress(DataError):
                    strip = workspace.scans.straighten_line(page, line, opened.file.page.lines)
                    key = f"{page.name} line {line.id}"
                    name = workspace.folder.name
                    sample = Sample(strip.line, line.text, name, page=page.name, key=key, id=line.id)
                    found.append((page.id, line.id, replace(sample, image=png_of(sample))))
    return hold_out(workspace, found)


def hold_out(workspace: Workspace, found: Sequence[tuple[str, str, Sample]]) -> Confirmed:
    """Hold out test lines that were never trained on.

    Raises:
        DataError: if there are too few of either.
    """
    learned = {
        (page, line)
        for page, line, _ in found
        if any(change.action == LEARN for change in workspace.journal.of_line(page, line))
    }
    # By a fixed key instead of at random: a line that was measured on stays one to measure on, however many are added.
    fresh = sorted((one for one in found if one[:2] not in learned), key=lambda one: chance(*one[:2]))
    room = min(max(len(found) - MIN_TO_TRAIN, 0), round(HELD_OUT * len(found)))
    held_out = fresh[:room]
    kept = {one[:2] for one in held_out}
    train = [one for one in found if one[:2] not in kept]
    if len(train) < MIN_TO_TRAIN or not held_out:
        raise DataError(
            f"{len(train)} confirmed lines for training and {len(held_out)} for measuring are too few; confirm more"
        )
    return Confirmed(train, held_out)


def chance(page: str, line: str) -> bytes:
    """A pseudorandom key that decides whether a line is held out; constant for each line."""
    return blake2b(f"{page} {line}".encode(), digest_size=8).digest()
