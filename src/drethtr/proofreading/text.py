"""Check a text against its pages: align it with their lines if it is running text, and compare it with the ink."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from drethtr.base.errors import DataError
from drethtr.documents.page import Page
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original
from drethtr.proofreading.alignment import Alignment, LineBreaks, align_text, place_lines
from drethtr.proofreading.inputs import ProofInput
from drethtr.proofreading.moved import with_moved
from drethtr.proofreading.proof import PageProof, ProofLine, ReadPage, on_no_line, prove_page, transcribed_page
from drethtr.proofreading.rules import Rules
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.normalize import for_scoring


@dataclass(frozen=True)
class TextProof:
    """The proof of a text.

    pages       in order, without those that could not be read
    left        parts of the text that are not on any line, by the number of lines before them
    unreadable  errors of pages that could not be read
    """

    pages: tuple[PageProof, ...]
    left: Mapping[int, ProofLine]
    unreadable: tuple[DataError, ...]

    @property
    def lines(self) -> tuple[ProofLine, ...]:
        """All lines in reading order, with parts of the text that are not on any line between them."""
        found = []
        for number, line in enumerate([*(line for page in self.pages for line in page.lines), None]):
            found += [some for some in (self.left.get(number), line) if some is not None]
        return tuple(found)


def prove_text(
    given: ProofInput,
    recognizer: Recognizer,
    segmentation: Segmentation,
    rules: Rules = Rules(),  # noqa: B008  # a value
    line_breaks: LineBreaks = LineBreaks.IGNORED,
    report: Callable[[Original, Page], object] = lambda original, page: None,
) -> TextProof:
    """Check a text against the ink of its pages.

    Args:
        line_breaks: Whether each line of a running text is placed as a whole, even if little of it agrees.
        report: Called with each page as it was read, when it is done.

    Raises:
        DataError: if no page can be read, or the text is empty or belongs to other pages.
        CheckpointError, ConfigError: as `check_text`.
    """
    errors = [original.error for original in given.originals if original.error is not None]
    opened = [original for original in given.originals if original.error is None]
    if not opened:
        raise errors[0]
    text, originals = given.text, list(map(segmentation.prepare, opened))
    if text is None and not any(original.has_lines for original in originals):
        # From described lines that are not used: it belongs to the found lines.
        text = "\n".join(line.text for original in opened for line in original.given_lines())
    if text is not None:
        refuse_empty(given.source, text)
    read: list[ReadPage] = []
    for original in originals:
        try:
            read.append(transcribed_page(original, recognizer, segmentation))
        except DataError as error:
            errors.append(error)
    if not read:
        raise errors[0]
    texts, left = (own_texts(read), {}) if text is None else aligned_texts(given.source, text, read, line_breaks)
    pages = []
    for one, some in zip(read, texts, strict=True):
        pages.append(prove_page(one, some, recognizer, rules))
        report(one.original, one.page)
    return TextProof(tuple(pages), {place: on_no_line(part) for place, part in left.items()}, tuple(errors))


Texts = list[tuple[str, ...]]
"""The texts of the lines of each page."""


def own_texts(read: Sequence[ReadPage]) -> Texts:
    """The texts in the lines of pages."""
    found = []
    for one in read:
        known = {line.id: line.text for line in one.original.given_lines()}
        found.append(tuple(for_scoring(known.get(line.id, "")) for line in one.page.lines))
    return found


def aligned_texts(
    source: str, text: str, read: Sequence[ReadPage], line_breaks: LineBreaks
) -> tuple[Texts, dict[int, str]]:
    """Align running text with the lines of its pages.

    Returns the texts of the lines, page by page, and the parts that are not on any line, by the number of lines before.
    Pages of another text get none of it, unless line breaks are kept.

    Raises:
        DataError: if the text belongs to other pages; with kept line breaks, if its lines are too many.
    """
    readings = [line.text for one in read for line in one.page.lines]
    if line_breaks is LineBreaks.KEPT:
        alignment = with_moved(place_lines(source, text, readings))
    else:
        alignment = fitting(source, text, ", ".join(one.original.name for one in read), readings)
        alignment = alignment.without_other_pages([len(one.page.lines) for one in read])
    texts = iter(alignment.texts)
    left = {place: part for place, part in enumerate(alignment.between) if part}
    return [tuple(next(texts) for _ in one.page.lines) for one in read], left


def fitting(source: str, text: str, names: str, read: Sequence[str]) -> Alignment:
    """A text aligned with the lines of its pages, even where their order differs; `read` are the readings of the lines.

    Args:
        source: Where the text comes from, for messages.
        names: The names of the pages, for messages.

    Raises:
        DataError: if the text belongs to other pages.
    """
    alignment = align_text(text, read)
    if not alignment.fits:
        raise DataError(
            f"this is not the text of {names}, or the model cannot read this writing: {100 * alignment.apart:.0f} % "
            "of the characters differ from what it reads; nothing was checked; if the text has the line breaks of the "
            "page, drethtr align --line-breaks kept places it",
            source,
        )
    return with_moved(alignment)


def refuse_empty(source: str, text: str) -> None:
    """Refuse a text without words.

    Raises:
        DataError: saying so.
    """
    if not text.strip():
        raise DataError("this text is empty", source)
