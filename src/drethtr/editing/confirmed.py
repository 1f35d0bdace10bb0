"""Confirmed lines of a folder, to learn from."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from drethtr.base.errors import DataError
from drethtr.datasets.parquet import png_of
from drethtr.datasets.sample import Sample
from drethtr.editing.status import Status
from drethtr.editing.workspace import Workspace

LEARN = "learn"
"""The kind of job, and the action that the history records of lines trained on."""

MIN_CONFIRMED = 25
"""Minimum number of confirmed lines for learning."""


def gather(workspace: Workspace, check: Callable[[], None]) -> list[tuple[str, str, Sample]]:
    """The confirmed lines, cut out of their scans, with their pages and ids.

    `check` is called for every page, and may raise to cancel.
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
    return found
