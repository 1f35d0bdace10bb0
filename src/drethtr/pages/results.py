"""Write the results of a page, never over the work of a person or the file of another program."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.base.files import is_there, write_bytes
from drethtr.base.locks import change_bytes
from drethtr.base.wording import counted
from drethtr.documents.document import Provenance
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.page import Page
from drethtr.documents.page_file import EDITED
from drethtr.documents.read import HEAD, first_bytes, is_description, made_here, page_in, read_page
from drethtr.documents.update import update
from drethtr.pages.record import Records
from drethtr.pages.source import DESCRIPTIONS, Original
from drethtr.pages.task import UPDATE, FileTask

REREAD = "--update --force reads its other lines again"
ELSEWHERE = "write elsewhere with --output, or delete it"

CHANGED = re.compile(rb"<Created>([^<]*)</Created>\s*<LastChange>(?!\1<)")
"""The metadata of a PAGE file that was changed after it was created; drethtr never writes two times into its own."""

SIGNATURE = b"drethtr"
"""The name of the program that each of our XML and JSON files contains."""


def refuse_replacing_results(task: FileTask, records: Records) -> None:
    """Refuse to replace results with the work of a person, or files that other programs wrote.

    Raises:
        DataError: naming the first.
    """
    for name, path in task.results:
        if name == UPDATE:
            refuse_losing_work(path, ELSEWHERE)
        elif not may_hold_work(path) or not is_copy(path, records, map(Original.given, task.originals)):
            refuse_replacing(path)


def is_copy(path: Path, records: Records, pages: Iterable[Page | None]) -> bool:
    """Whether a result is as it was written, and lines that a person reviewed are reviewed in these pages as well.

    So it has them from there, and nothing is lost with it.

    Raises:
        DataError: if it, its record or a page cannot be read.
    """
    if not is_there(path) or not records.is_as_written(path):
        return False
    reviewed = {line.id for page in pages if page is not None for line in page.lines if line.is_reviewed}
    return reviewed.issuperset(line.id for line in read_page(path).lines if line.is_reviewed)


def may_hold_work(path: Path) -> bool:
    """Whether a result can hold the work of a person; a link counts as its target."""
    return path.resolve().suffix.lower() in DESCRIPTIONS


def refuse_replacing(path: Path, remedy: str = REREAD) -> None:
    """Refuse to replace a result on which a person has worked, or that another program wrote or changed.

    Raises:
        DataError: saying why, or if it cannot be read.
    """
    refuse_losing_work(path, remedy)
    if may_hold_work(path) and is_there(path) and is_of_others(path):
        raise DataError(
            "is not replaced, because another program wrote or changed it; write elsewhere with --output", path
        )


def refuse_losing_work(path: Path, remedy: str) -> None:
    """Refuse to replace a file on which a person has worked, whatever program wrote it.

    Raises:
        DataError: saying what the person did.
    """
    if work := work_in(path):
        raise DataError(f"is not replaced, because {work}; {remedy}", path)


def work_in(path: Path) -> str:
    """What a person did to a result, in words; empty if nobody did anything, or it cannot be read.

    Readings made in `drethtr edit` or by `--update` do not count.
    """
    if not may_hold_work(path) or not is_there(path):
        return ""
    try:
        data = first_bytes(path, MAX_BYTES + 1)
        reviewed = sum(line.is_reviewed for line in page_in(data, str(path), lambda image: None).lines)
    except DataError:
        return ""
    if reviewed:
        return f"a person corrected or confirmed {counted(reviewed, 'line')} of it"
    return "it was edited in drethtr edit" if EDITED.encode() in data else ""


def is_of_others(path: Path) -> bool:
    """Whether another program was the last to write a file, damaged or not; False for an empty file.

    Raises:
        DataError: if it cannot be read.
    """
    data = first_bytes(path, MAX_BYTES + 1)
    head = data[:HEAD]
    if is_description(head):
        return not made_here(head) or CHANGED.search(head) is not None
    return bool(data) and SIGNATURE not in data


def is_worked_on(path: Path) -> bool:
    """Whether a result is there on which a person has worked, or that another program wrote or changed.

    Raises:
        DataError: if it cannot be read.
    """
    return is_there(path) and (work_in(path) != "" or is_of_others(path))


def is_edited(path: Path) -> bool:
    """Whether a result is there that a person has edited in `drethtr edit`.

    Raises:
        DataError: if it cannot be read.
    """
    return is_there(path) and EDITED.encode() in first_bytes(path, MAX_BYTES + 1)


def write_result(
    path: Path, content: bytes, remedy: str = REREAD, is_spared: Callable[[Path], bool] = lambda path: False
) -> None:
    """Write a result, unless a person or another program has written the file, maybe since the job began.

    Args:
        is_spared: Whether nothing of theirs is lost with the file as it is now, see `is_copy`.

    Raises:
        DataError: if so, or if it cannot be written.
    """

    def change(found: bytes | None) -> bytes:
        if not is_spared(path):
            refuse_replacing(path, remedy)
        return content

    if may_hold_work(path):
        change_bytes(path, change, MAX_BYTES)
    else:
        write_bytes(path, content)


def write_update(task: FileTask, page: Page, provenance: Provenance, *, replace: bool) -> None:
    """Write the text of a page into its file, or into a copy of it.

    A person may have corrected the file since it was read. So a line gets its text only if it is where it was and still
    has none or, with `replace`, a text that nobody has reviewed.

    Raises:
        DataError: if it cannot be written, or a person has worked on the copy.
    """
    target = task.updated
    assert target is not None

    def change(found: bytes | None) -> bytes:
        if not task.in_place:
            refuse_losing_work(target, ELSEWHERE)
        if found is None or not task.in_place:
            found = first_bytes(task.path, MAX_BYTES + 1)
        return update(found, page, provenance, replace=replace, name=str(task.path), seen=task.contents.get(task.path))

    change_bytes(target, change, MAX_BYTES)
