"""A page compared with somebody else's text: its words on each line, and those that the ink does not support.

Nothing is written: what a person accepts is a correction like any other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from drethtr.base.errors import DataError
from drethtr.documents.page import TextLine
from drethtr.editing.page_files import OpenPage
from drethtr.editing.reader import Reader
from drethtr.editing.scans import source_of
from drethtr.proofreading.check import TextCheck
from drethtr.proofreading.evidence import ReadText
from drethtr.proofreading.rules import Convention, Rules, excused_pairs
from drethtr.proofreading.text import fitting, refuse_empty
from drethtr.text.normalize import for_scoring

MAX_PARTS, MAX_PART_LENGTH = 20, 300
"""How many parts of the text that are not on any line are returned, and how many characters of each."""


def compare(
    reader: Reader, page_id: str, text: str, source: str, allowed: tuple[Convention, ...] = ()
) -> dict[str, Any]:
    """Align a text with the lines of a page, and check it against the ink where it differs from them.

    Args:
        source: Where the text comes from, for messages.
        allowed: Conventions whose differences do not count as errors.

    Returns:
        `lines` in reading order, each with its id as `line`, its text as `ours`, the other text as `theirs`, None if
        that has nothing there, and the `words` of theirs with their probabilities, empty if both are the same; `alike`,
        pairs of a word of theirs and one of ours whose difference is allowed; `left`, the parts of the text that are
        not on any line.

    Raises:
        Missing: if there is no such page, or it has not been read.
        DataError: if its scan or file cannot be used, or this is not its text.
    """
    page = reader.workspace.folder_page(page_id)
    source_of(page)
    opened = reader.workspace.page_files.open_existing(page)
    lines = opened.file.page.lines
    if not lines:
        raise DataError("has no lines to align a text with; draw them, or detect them", page.name)
    refuse_empty(source, text)
    alignment = fitting(source, text, page.name, [line.text for line in lines])
    theirs = {line.id: its for line, its in zip(lines, alignment.texts, strict=True)}
    others = [line for line in lines if theirs[line.id] not in ("", for_scoring(line.text))]
    checks = reader.executor.submit(check_lines, reader, opened, others, theirs, Rules(allowed=allowed)).result()
    return {
        "lines": [
            {
                "line": line.id,
                "ours": line.text,
                "theirs": theirs[line.id] or None,
                "words": checks[line.id].to_json()["words"] if line.id in checks else [],
                "alike": excused_pairs(theirs[line.id], line.text, allowed) if line in others else [],
            }
            for line in lines
        ],
        "left": [part[:MAX_PART_LENGTH] for part in alignment.left[:MAX_PARTS]],
    }


def check_lines(
    reader: Reader, opened: OpenPage, lines: Sequence[TextLine], theirs: Mapping[str, str], rules: Rules
) -> dict[str, TextCheck]:
    """Check texts of lines against the image; lines that cannot be cut out of the scan are left out."""
    recognizer = reader.recognizer
    cut = reader.cut_lines(opened, lines, recognizer)
    images = [strip.line for _, strip in cut]
    read = list(map(ReadText.of, recognizer.read_lines(images)))  # a person may have changed the file
    found = rules.check(recognizer, images, [theirs[line.id] for line, _ in cut], read)
    return {line.id: check for (line, _), check in zip(cut, found, strict=True)}
