"""The status of a line: unread, read by a program, or corrected or confirmed by a person."""

from collections.abc import Collection
from enum import StrEnum

from drethtr.documents.page import TextLine
from drethtr.documents.page_file import PageFile


class Status(StrEnum):
    """The state of a line or page."""

    UNREAD = "unread"
    READ = "read"
    CORRECTED = "corrected"
    CONFIRMED = "confirmed"

    @property
    def touched(self) -> bool:
        """Whether a person has worked on the line, so that no program may change it."""
        return self in (Status.CORRECTED, Status.CONFIRMED)


def status_of(line: TextLine, file: PageFile) -> Status:
    """The state of a line of a file.

    A text without confidences, in a file that drethtr did not make, counts as corrected: a person may have written it.
    """
    text = line.transcription
    if text is None:
        return Status.UNREAD
    if text.review is not None:
        return Status(text.review)
    return Status.READ if text.by_program or file.made_here else Status.CORRECTED


def status_of_page(states: Collection[str], *, made_here: bool) -> Status:
    """The state of a page, from those of its lines; one on which we found no lines is read."""
    if set(states) == {Status.CONFIRMED}:
        return Status.CONFIRMED
    if Status.CORRECTED in states or Status.CONFIRMED in states:
        return Status.CORRECTED
    return Status.READ if Status.READ in states or (made_here and Status.UNREAD not in states) else Status.UNREAD
