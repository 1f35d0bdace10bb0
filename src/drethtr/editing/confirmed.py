"""The lines of a folder that a person has confirmed, as they are learned from and measured on.

A fifth of them is held out, always the same ones; none of these was ever trained on.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple

from drethtr.base.errors import DataError
from drethtr.editing.status import Status
from drethtr.editing.workspace import Workspace
from drethtr.lines.sample import Sample
from drethtr.lines.write_parquet import png_of

LEARN = "learn"
"""The kind of job, and of the notes on lines that were learned from."""

FEWEST = 25
"""Confirmed lines that it takes."""

FEWEST_TO_TRAIN = 20
"""Of these, lines to train on; fewer are refused by `drethtr finetune`."""

HELD_OUT = 0.2
"""Share of lines to measure on."""


class Confirmed(NamedTuple):
    """Confirmed lines with their pages and ids, to learn from and to measure on."""

    train: list[tuple[str, str, Sample]]
    held_out: list[tuple[str, str, Sample]]


def gather(workspace: Workspace, check: Callable[[], None]) -> Confirmed:
    """The confirmed lines, cut out of their scans; `check` may raise between pages, to end the work.

    Raises:
        DataError: if there are too few.
    """
    found: list[tuple[str, str, Sample]] = []
    for page, summary in workspace.summarized():
        check()
        if isinstance(summary, DataError) or not summary.counts[Status.CONFIRMED]:
            continue
        opened = workspace.page_files.open_existing(page)
        for line in opened.file.page.lines:
            if opened.status(line) is Status.CONFIRMED and line.text:
                with suppress(DataError):
                    strip = workspace.scans.straightened(page, line, opened.file.page.lines)
                    key = f"{page.name} line {line.id}"
                    name = workspace.folder.name
                    sample = Sample(strip.line, line.text, name, page=page.name, key=key)
                    found.append((page.id, line.id, Sample(png_of(sample), line.text, name, page=page.name, key=key)))
    return divided(workspace, found)


def divided(workspace: Workspace, found: Sequence[tuple[str, str, Sample]]) -> Confirmed:
    """Lines to train on and to measure on; the latter were never trained on.

    Raises:
        DataError: if there are too few of either.
    """
    learned = {
        (page, line)
        for page, line, _ in found
        if any(change.action == LEARN for change in workspace.journal.of_line(page, line))
    }
    fresh = sorted((one for one in found if one[:2] not in learned), key=lambda one: chance(*one[:2]))
    room = min(max(len(found) - FEWEST_TO_TRAIN, 0), round(HELD_OUT * len(found)))
    held_out = fresh[:room]
    kept = {one[:2] for one in held_out}
    train = [one for one in found if one[:2] not in kept]
    if len(train) < FEWEST_TO_TRAIN or not held_out:
        raise DataError(
            f"of the confirmed lines {len(train)} can be learned from and {len(held_out)} measured on; "
            "confirm some more"
        )
    return Confirmed(train, held_out)


def chance(page: str, line: str) -> bytes:
    """What decides whether a line is held out: the same for a line each time, and by no rule."""
    return blake2b(f"{page} {line}".encode(), digest_size=8).digest()
