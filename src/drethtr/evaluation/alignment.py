"""Measure how well running text is aligned: the texts of a page, joined, are aligned with its lines again.

Two texts are aligned with each page. The right one tells how many lines get exactly their words. The other one has an
error in one line of ten, as texts of others do, and tells which lines can be accepted.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from drethtr.base.errors import DataError
from drethtr.documents.page import Page, Points, TextLine
from drethtr.evaluation.confidence import Floats, Truths
from drethtr.evaluation.corruptions import corrupt
from drethtr.evaluation.detection import match_outlines
from drethtr.evaluation.evaluate import Advance, open_sample
from drethtr.images.line import Line
from drethtr.images.straighten import Strip
from drethtr.layout.given import GivenLine, complete
from drethtr.lines.sample import Sample
from drethtr.lines.sources.pages import document_name
from drethtr.pages.place import on_page
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original
from drethtr.pages.transcribe import transcribe
from drethtr.recognition.alignment import lay
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.recognition.support.evidence import ReadText
from drethtr.recognition.support.fit import WRONG_LINES
from drethtr.text.normalize import for_scoring


class SeenLine(NamedTuple):
    """A line that texts are aligned with, and its reading."""

    image: Line
    reading: Reading


class SeenPage(NamedTuple):
    """The lines of a page in reading order, marked or found.

    places  the number of each marked line among them; None if it was not found
    """

    lines: tuple[SeenLine, ...]
    places: tuple[int | None, ...]


class KnownPage(ABC):
    """A page whose texts are known.

    samples  its marked lines, in reading order
    """

    samples: Sequence[Sample]

    @abstractmethod
    def see(self, recognizer: Recognizer) -> SeenPage:
        """The lines that texts are aligned with, read.

        Raises:
            DataError: naming the line or page, if an image cannot be used.
            CheckpointError: if the model's activations are not finite.
        """


@dataclass(frozen=True)
class MarkedPage(KnownPage):
    """A page with its marked lines."""

    samples: Sequence[Sample]

    def see(self, recognizer: Recognizer) -> SeenPage:
        images = [open_sample(recognizer, sample) for sample in self.samples]
        return SeenPage(tuple(map(SeenLine, images, recognizer.read_lines(images))), tuple(range(len(images))))


@dataclass(frozen=True)
class FoundPage(KnownPage):
    """A page on which lines are found; those that are marked tell what stands on them."""

    samples: Sequence[Sample]
    original: Original
    segmentation: Segmentation

    @classmethod
    def of(cls, original: Original, segmentation: Segmentation) -> Self:
        """A page with texts in its PAGE or ALTO file."""
        path, given = original.source.path, with_text(original.given())
        samples = [Sample(path, line.text, document_name(path), page=original.name) for line in given]
        return cls(samples, original, segmentation)

    def see(self, recognizer: Recognizer) -> SeenPage:
        seen = {}

        def look(id: str, strip: Strip, reading: Reading) -> None:
            seen[id] = SeenLine(strip.line, reading)

        finder = self.segmentation.finder(self.original)
        page = transcribe(replace(self.original, has_lines=False), recognizer, finder, witness=look)
        matched = match_outlines(self.outlines(), [line.polygon or () for line in page.lines])
        places = {match.marked: match.found for match in matched}
        lines = tuple(seen[line.id] for line in page.lines)
        return SeenPage(lines, tuple(places.get(number) for number in range(len(self.samples))))

    def outlines(self) -> list[Points]:
        """The outlines of the marked lines; empty where nothing says where a line is."""
        grey = self.original.source.grey()
        height, width = grey.shape
        given = with_text(self.original.given_for(grey))
        known = [number for number, line in enumerate(given) if line.baseline or line.polygon]
        found = complete(grey, [GivenLine.of(given[number]) for number in known])
        outlines = {number: on_page(line.polygon, width, height) for number, line in zip(known, found, strict=True)}
        return [outlines.get(number, ()) for number in range(len(given))]


def with_text(page: Page | None) -> list[TextLine]:
    """The lines of a page that have a text."""
    return [line for line in page.lines if line.text.strip()] if page is not None else []


def marked_pages(samples: Sequence[Sample], limit: int | None = None, seed: int = 0) -> list[MarkedPage]:
    """The pages of some lines; of each set as many, drawn by `seed`, as have this many lines together, at least one.

    Raises:
        DataError: if the page of a line is unknown.
    """
    sets: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        if not sample.page:
            raise DataError(
                f"{sample.key or sample.set}: the page of this line is unknown, and texts are aligned page by page"
            )
        sets[sample.set][sample.page].append(sample)
    pages = []
    for _, of_set in sorted(sets.items()):
        every = list(of_set.values())
        drawn = np.random.default_rng(seed).permutation(len(every)).tolist()
        lines = np.cumsum([len(every[place]) for place in drawn])
        number = len(every) if limit is None else max(int((lines <= limit).sum()), 1)
        pages += [MarkedPage(every[place]) for place in sorted(drawn[:number])]
    return pages


class LaidPage(NamedTuple):
    """What became of the texts of a page.

    exact        (M,): which of its marked lines get exactly their words of the right text
    probability  (N,): of the lines that get some of the text with errors, that it is right
    right        (N,): whether it is
    """

    set: str
    exact: Truths
    probability: Floats
    right: Truths


def lay_pages(
    recognizer: Recognizer, pages: Sequence[KnownPage], seed: int = 0, advance: Advance | None = None
) -> list[LaidPage]:
    """Lay the right texts of pages onto their lines, and then texts in which one line of ten has an error.

    Args:
        seed: Draws the errors.
        advance: Called after each page with its number of marked lines.

    Raises:
        DataError: naming the line or page, if an image cannot be used.
        CheckpointError: if the model's activations are not finite.
        ConfigError: if it has no CTC head.
    """
    others = iter(with_errors([sample for page in pages for sample in page.samples], seed))
    laid = []
    for page in pages:
        texts, given = [for_scoring(sample.text) for sample in page.samples], [next(others) for _ in page.samples]
        laid.append(lay_page(recognizer, page.samples[0].set, page.see(recognizer), texts, given))
        if advance is not None:
            advance(len(texts))
    return laid


def lay_page(recognizer: Recognizer, set: str, seen: SeenPage, texts: Sequence[str], others: Sequence[str]) -> LaidPage:
    """Lay the right texts of the marked lines of a page onto its lines, and then others."""
    read = [line.reading.text for line in seen.lines]
    laid, laid_others = lay(" ".join(texts), read).texts, lay(" ".join(others), read).texts
    places = list(zip(texts, seen.places, strict=True))
    truths = {place: text for text, place in places if place is not None}
    written = [number for number, text in enumerate(laid_others) if text]
    checks = recognizer.check_lines(
        [seen.lines[number].image for number in written],
        [laid_others[number] for number in written],
        [ReadText.of(seen.lines[number].reading) for number in written],
    )
    return LaidPage(
        set,
        exact=np.array([place is not None and laid[place] == text for text, place in places], dtype=np.bool_),
        probability=np.array([check.probability for check in checks]),
        right=np.array([laid_others[number] == truths.get(number) for number in written], dtype=np.bool_),
    )


def with_errors(samples: Sequence[Sample], seed: int) -> list[str]:
    """The texts of lines; one of ten has an error of some kind, whatever the other lines are."""

    def chosen(sample: Sample) -> bool:
        return bool(np.random.default_rng([seed, 1, *map(ord, sample.text)]).random() < WRONG_LINES)

    return [
        " ".join(next(iter(errors.values())).words) if errors and chosen(sample) else for_scoring(sample.text)
        for sample, errors in zip(samples, corrupt(samples, seed, most=1), strict=True)
    ]
