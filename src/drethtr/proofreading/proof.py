"""Proofs of lines and pages: the probability that the ink supports each word of a given text, and its place.

Lines that are right with high probability can become training data without review.

The values that pass from stage to stage:

1. `ProofInput` (inputs.py): pages, and the text of all of them, unless it is in their lines.
2. `ReadPage`: each page, with its lines as the model reads them.
3. `Alignment` (alignment.py): of a text of all pages, the part on each line, and the parts on none.
4. `GivenText` (given.py): the part on one line, in the alphabet of the model; `ReadText`: what the model reads there.
5. `TextEvidence` (evidence.py): what the network says for and against each word, and each gap between words.
6. `WeighedText` (check.py): the same with the scale of the line, or why there is no evidence.
7. `TextCheck` (check.py): the probability of each word, and the verdict on it, by the `Rules` of rules.py.
8. `ProofLine`, `PageProof`: the same with places on the page; `TextProof` (text.py): of all pages.

Lines of a table have their texts, and enter at 4.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drethtr.base.arrays import Booleans, Floats
from drethtr.base.errors import DataError, or_error
from drethtr.base.wording import counted
from drethtr.datasets.parquet import png_of
from drethtr.datasets.sample import Sample, open_sample
from drethtr.documents.beside import page_stem, stem_of_page
from drethtr.documents.page import Page, TextLine
from drethtr.documents.points import Box, Points, box_around
from drethtr.documents.transcription import PageFlag, PageWord, Transcription
from drethtr.images.line import Line
from drethtr.images.straighten import Strip
from drethtr.layout.given import GivenLine, complete
from drethtr.pages.line_reading import readable_strip
from drethtr.pages.placing import outline_on_page
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original
from drethtr.pages.transcribe import PageReader, strip_of
from drethtr.proofreading.check import CheckedWord, Kind, TextCheck
from drethtr.proofreading.evidence import ReadText
from drethtr.proofreading.rules import Rules
from drethtr.recognition.batching import in_groups
from drethtr.recognition.recognizer import READ_TOGETHER, Recognizer
from drethtr.text.normalize import for_scoring

NOT_READABLE = "this line has no place on the page, or cannot be cut from it"

ON_NO_LINE = "this part of the text is not on any line of these pages"

SHORT = 80
"""Maximum characters of such a part to show."""


class ProofWord(NamedTuple):
    """A checked word with its outline on the page or line image, if it has one."""

    checked: CheckedWord
    polygon: Points | None

    @property
    def box(self) -> Box | None:
        """The box around it."""
        return box_around(self.polygon or ())


@dataclass(frozen=True)
class ProofLine:
    """The proof of a line of a page or table.

    page   file name of the scan, with the page number if it has several; in a table, if known
    line   id of the line; in a table the number of the row, from 0; None for text that is not on any line
    """

    page: str
    line: str | int | None
    check: TextCheck
    words: tuple[ProofWord, ...]

    @property
    def doubts(self) -> tuple[ProofWord, ...]:
        """The doubtful words, in order; a part of the text that is not on any line is a single doubt."""
        if self.line is None:
            reason = f"{ON_NO_LINE} ({counted(len(self.words), 'word')})"
            return (ProofWord(replace(self.words[0].checked, text=shortened(self.check.text), reason=reason), None),)
        return tuple(word for word in self.words if word.checked.doubtful)

    def to_json(self) -> Iterator[dict[str, Any]]:
        """A row for each word, in order; `box` is left, top, right, bottom in pixels of the page or line image."""
        for word in self.words:
            yield {
                "page": self.page,
                "line": self.line,
                "word": word.checked.text,
                "probability": round(word.checked.probability, 4),
                "kind": word.checked.kind.value,
                "instead": word.checked.instead,
                "box": None if word.box is None else list(word.box),
            }


class ReadPage(NamedTuple):
    """A page that was read.

    page     its lines, given or found
    is_line  whether the image was read whole, as a single line
    """

    original: Original
    page: Page
    is_line: bool


@dataclass(frozen=True)
class PageProof:
    """The proof of a page, with the given texts of its lines in place of the readings.

    original  the page that was read
    page      its lines; the confidence of a word is the probability that the ink supports it
    lines     the proof of each line
    is_line   as of `ReadPage`
    """

    original: Original
    page: Page
    lines: tuple[ProofLine, ...]
    is_line: bool


def transcribed_page(original: Original, recognizer: Recognizer, segmentation: Segmentation) -> ReadPage:
    """Read the lines of a page, given or found.

    Raises:
        DataError: if the page cannot be read, or has no lines.
    """
    page = PageReader(recognizer, segmentation).transcribe(original)
    if not page.lines:
        raise DataError("no lines found; mark them in PAGE or ALTO, or try another --lines", original.name)
    return ReadPage(original, page, segmentation.is_line(original))


def prove_page(read: ReadPage, texts: Sequence[str], recognizer: Recognizer, rules: Rules) -> PageProof:
    """Check the texts of the lines of a page against the ink.

    Args:
        texts: One for each line; empty for a line without text.

    Raises:
        DataError: if the image can no longer be read.
        CheckpointError, ConfigError: as `Rules.check`.
    """
    original, page, is_line = read
    strips = strips_of(original, original.source.gray(), page.lines, recognizer, is_line=is_line)
    placed = [number for number, strip in enumerate(strips) if strip is not None]
    images = [strip.line for strip in strips if strip is not None]
    readings = [read_text(page.lines[number]) for number in placed]
    checks = dict(zip(placed, rules.check(recognizer, images, [texts[n] for n in placed], readings), strict=True))
    lines = []
    for number, (line, text, strip) in enumerate(zip(page.lines, texts, strips, strict=True)):
        check = checks[number] if number in checks else unreadable(text)
        words = (ProofWord(word, outline(word, strip, page)) for word in check.words)
        lines.append(ProofLine(Path(original.source.name).name, line.id, check, tuple(words)))
    proofs = {line.line: line for line in lines}
    proved = page.with_lines(lambda line: replace(line, transcription=transcription_of(proofs[line.id])))
    return PageProof(original, proved, tuple(lines), is_line)


def strips_of(
    original: Original, gray: Line, lines: Sequence[TextLine], recognizer: Recognizer, *, is_line: bool
) -> list[Strip | None]:
    """Each line, straightened; None without a usable place. An image that was read as a single line is used whole."""
    if is_line:
        return [strip_of(recognizer.open_line(original.source.path if original.is_alone else gray))]
    known = [line for line in lines if line.is_placed]
    found = dict(
        zip(
            (line.id for line in known),
            complete(gray, [GivenLine.of(line) for line in known], original.outlines),
            strict=True,
        )
    )
    return [readable_strip(gray, found[line.id], recognizer) if line.id in found else None for line in lines]


def read_text(line: TextLine) -> ReadText:
    """The reading of a line of a page, as evidence."""
    return ReadText(for_scoring(line.text), tuple(word.confidence or 0.0 for word in line.words))


def unreadable(text: str) -> TextCheck:
    """The check of a line without an image: none of its words is supported."""
    words = (CheckedWord(word, 0.0, Kind.UNSUPPORTED, "", 0.0, 0.0, NOT_READABLE) for word in text.split())
    return TextCheck(text, tuple(words), 0.0, "")


def outline(word: CheckedWord, strip: Strip | None, page: Page) -> Points | None:
    """The outline of a word on its page."""
    return None if strip is None else outline_on_page(strip, word.left, word.right, page.width, page.height)


def transcription_of(line: ProofLine) -> Transcription | None:
    """The given text of a line, for writers; missing words become flags."""
    words = tuple(
        PageWord(word.checked.text, word.checked.probability, word.polygon, word.checked.doubtful)
        for word in line.words
        if word.checked.kind is not Kind.OMITTED
    )
    flags = tuple(
        PageFlag(found.kind.value, f"{found.text!r}: {found.reason}" if found.text else found.reason, word.polygon)
        for word in line.words
        if (found := word.checked).doubtful
    )
    return Transcription(line.check.text, line.check.probability, words, flags, calibrated=True)


def on_no_line(text: str) -> ProofLine:
    """The proof of a part of a text that is not on any line."""
    words = tuple(CheckedWord(word, 0.0, Kind.INVENTED, "", 0.0, 0.0, ON_NO_LINE) for word in text.split())
    return ProofLine("", None, TextCheck(text, words, 0.0, ""), tuple(ProofWord(word, None) for word in words))


def shortened(text: str) -> str:
    """The beginning and end of a text."""
    return text if len(text) <= SHORT else f"{text[: SHORT // 2]} … {text[-SHORT // 2 :]}"


def prove_lines(samples: Sequence[Sample], recognizer: Recognizer, rules: Rules) -> Iterator[ProofLine | DataError]:
    """Check the text of each line of a table against its image; a line that cannot be used has an error in its place.

    Raises:
        CheckpointError, ConfigError: as `Rules.check`.
    """
    rows = list(enumerate(samples))
    for group in in_groups(((row, or_error(open_sample, recognizer, row[1])) for row in rows), READ_TOGETHER):
        usable = [(row, line) for row, line in group if not isinstance(line, DataError)]
        lines, texts = [line for _, line in usable], [sample.text for (_, sample), _ in usable]
        read = list(map(ReadText.of, recognizer.read_lines(lines)))
        checks = iter(rules.check(recognizer, lines, texts, read))
        for (number, sample), line in group:
            yield line if isinstance(line, DataError) else of_row(number, sample, line, next(checks))


def of_row(number: int, sample: Sample, line: Line, check: TextCheck) -> ProofLine:
    """The proof of a row of a table."""
    height = line.shape[0]
    boxes = (Box(round(word.left), 0, round(word.right), height).polygon() for word in check.words)
    words = tuple(map(ProofWord, check.words, boxes))
    return ProofLine(sample.page or sample.set, number, check, words)


def accepted(lines: Sequence[ProofLine], precision: float) -> list[ProofLine]:
    """The lines to accept, in order: as many as possible at an expected `precision`."""
    written = [line for line in lines if line.check.text]
    chosen = acceptable(np.array([line.check.probability for line in written]), precision)
    return [line for line, some in zip(written, chosen.tolist(), strict=True) if some]


def acceptable(probabilities: Floats, precision: float) -> Booleans:
    """Which to accept, (N,): as many as possible at an expected `precision`."""
    # Most probable first: the mean probability falls as lines are added; the last count with a sufficient mean is
    # taken.
    order = np.argsort(-probabilities, kind="stable")
    enough = np.flatnonzero(probabilities[order].cumsum() >= precision * np.arange(1, len(order) + 1))
    accepted = np.zeros(len(order), dtype=np.bool_)
    accepted[order[: enough[-1] + 1 if len(enough) else 0]] = True
    return accepted


def ground_truth(pages: Sequence[PageProof], chosen: Sequence[ProofLine], recognizer: Recognizer) -> Iterator[Sample]:
    """The accepted lines of some pages, cut from their scans, for `drethtr model finetune`."""
    wanted = {id(line) for line in chosen}
    for proof in pages:
        of_page = {line.line for line in proof.lines if id(line) in wanted}
        if not of_page:
            continue
        lines = [line for line in proof.page.lines if line.id in of_page]
        source = proof.original.source
        page = stem_of_page(page_stem(source.path), source)
        strips = strips_of(proof.original, source.gray(), lines, recognizer, is_line=proof.is_line)
        for line, strip in zip(lines, strips, strict=True):
            if strip is not None:
                sample = Sample(strip.line, line.text, source.path.parent.resolve().name, page=page, id=line.id)
                yield replace(sample, image=png_of(sample))
