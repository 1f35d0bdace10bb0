"""Measure the alignment of running text: the texts of the lines of a page are joined, and aligned with its lines again.

Two texts are aligned with each page. The correct one shows how many lines get exactly their words. The other has an
error in one line of ten, like transcriptions by other people, and shows which lines can be accepted.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from drethtr.base.arrays import Booleans, Floats
from drethtr.base.errors import DataError
from drethtr.bench.pages import match_outlines
from drethtr.bench.quality.check import PRECISION, pools_of
from drethtr.bench.quality.corruptions import corrupt
from drethtr.cli.reports import figure, interval, table
from drethtr.datasets.layouts.pages import document_folder
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample, open_sample
from drethtr.documents.page import Page, TextLine
from drethtr.documents.points import Points
from drethtr.evaluation.metrics import DRAWS, MIN_PAGES, drawn_sums, interval_95, rates_of
from drethtr.evaluation.reading import Advance, to_read
from drethtr.evaluation.whole_pages import open_references
from drethtr.images.line import Line
from drethtr.images.straighten import Strip
from drethtr.layout.given import GivenLine, complete
from drethtr.pages.placing import on_page
from drethtr.pages.segmentation import Segmentation, segmentation_named
from drethtr.pages.source import Original
from drethtr.pages.transcribe import PageReader
from drethtr.proofreading.alignment import align_text
from drethtr.proofreading.check import check_lines
from drethtr.proofreading.evidence import ReadText
from drethtr.proofreading.fit import WRONG_LINES
from drethtr.proofreading.proof import acceptable
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.normalize import for_scoring


class RecognizedLine(NamedTuple):
    """The image of a line, and its reading."""

    image: Line
    reading: Reading


class RecognizedPage(NamedTuple):
    """The lines of a page in reading order, marked or found.

    places  the number of each marked line among them; None if the segmentation missed it
    """

    lines: tuple[RecognizedLine, ...]
    places: tuple[int | None, ...]


@dataclass(frozen=True)
class GivenPage:
    """A page with its marked lines, in reading order."""

    samples: Sequence[Sample]

    def recognize(self, recognizer: Recognizer) -> RecognizedPage:
        """Read the lines that texts are aligned with.

        Raises:
            DataError: naming the line or page, if an image cannot be used.
            CheckpointError: if the model's activations are not finite.
        """
        images = [open_sample(recognizer, sample) for sample in self.samples]
        return RecognizedPage(
            tuple(map(RecognizedLine, images, recognizer.read_lines(images))), tuple(range(len(images)))
        )


@dataclass(frozen=True)
class FoundPage:
    """A page whose lines are found; the marked lines have their texts."""

    samples: Sequence[Sample]
    original: Original
    segmentation: Segmentation

    @classmethod
    def of(cls, original: Original, segmentation: Segmentation) -> Self:
        """A page with texts in its PAGE or ALTO file."""
        path, given = original.source.path, with_text(original.given())
        samples = [Sample(path, line.text, document_folder(path).name, page=original.name) for line in given]
        return cls(samples, original, segmentation)

    def recognize(self, recognizer: Recognizer) -> RecognizedPage:
        """As `GivenPage.recognize`."""
        recognized = {}

        def keep(id: str, strip: Strip, reading: Reading) -> None:
            recognized[id] = RecognizedLine(strip.line, reading)

        reader = PageReader(recognizer, self.segmentation, on_line=keep)
        page = reader.transcribe(replace(self.original, has_lines=False))
        # Found lines have no texts of their own; a marked line lends its text to the one that covers it.
        matched = match_outlines(self.outlines(), [line.polygon or () for line in page.lines])
        places = {match.marked: match.found for match in matched}
        lines = tuple(recognized[line.id] for line in page.lines)
        return RecognizedPage(lines, tuple(places.get(number) for number in range(len(self.samples))))

    def outlines(self) -> list[Points]:
        """The outlines of the marked lines; empty for lines without a place."""
        gray = self.original.source.gray()
        height, width = gray.shape
        given = with_text(self.original.given_for(gray))
        known = [number for number, line in enumerate(given) if line.is_placed]
        found = complete(gray, [GivenLine.of(given[number]) for number in known])
        outlines = {number: on_page(line.polygon, width, height) for number, line in zip(known, found, strict=True)}
        return [outlines.get(number, ()) for number in range(len(given))]


KnownPage: TypeAlias = GivenPage | FoundPage
"""A page with known texts."""


def with_text(page: Page | None) -> list[TextLine]:
    """The lines of a page that have text."""
    return [line for line in page.lines if line.text.strip()] if page is not None else []


def open_known(data: Sequence[str], lines: str | None, limit: int | None, seed: int) -> Sequence[KnownPage]:
    """Open pages with known text: with their marked lines, or, given a segmentation `lines`, with detected ones.

    Raises:
        ConfigError: if there is no such segmentation.
        DataError: if there is no text, or the page of a line is unknown.
    """
    if lines is None:
        return marked_pages(to_read(open_all(data)), limit, seed)
    segmentation = segmentation_named(lines)
    return [FoundPage.of(original, segmentation) for original in open_references(data)]


def marked_pages(samples: Sequence[Sample], limit: int | None = None, seed: int = 0) -> list[GivenPage]:
    """The pages of some lines. With a `limit`, pages are drawn from each set up to that many lines, at least one page.

    Raises:
        DataError: if the page of a line is unknown.
    """
    sets: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        if not sample.page:
            raise DataError(
                f"{sample.key or sample.set}: page unknown, but texts are aligned page by page; "
                "give lines with pages, such as PAGE or ALTO files"
            )
        sets[sample.set][sample.page].append(sample)
    pages = []
    for _, of_set in sorted(sets.items()):
        every = list(of_set.values())
        # Whole pages are drawn, since a text is aligned with all lines of its page.
        drawn = np.random.default_rng(seed).permutation(len(every)).tolist()
        lines = np.cumsum([len(every[place]) for place in drawn])
        number = len(every) if limit is None else max(int((lines <= limit).sum()), 1)
        pages += [GivenPage(every[place]) for place in sorted(drawn[:number])]
    return pages


class AlignedPage(NamedTuple):
    """The result for one page.

    exact        (M,): which of its marked lines get exactly their words of the correct text
    probability  (N,): for lines with some of the text with errors, the probability that it is correct
    right        (N,): whether it is
    """

    set: str
    exact: Booleans
    probability: Floats
    right: Booleans


def align_pages(
    recognizer: Recognizer, pages: Sequence[KnownPage], seed: int = 0, advance: Advance | None = None
) -> list[AlignedPage]:
    """Align the correct texts of pages with their lines, then texts with an error in one line of ten.

    Args:
        seed: Of the errors.
        advance: Called after each page with its number of marked lines.

    Raises:
        DataError: naming the line or page, if an image cannot be used.
        CheckpointError: if the model's activations are not finite.
        ConfigError: if it has no CTC head.
    """
    others = iter(with_errors([sample for page in pages for sample in page.samples], seed))
    aligned = []
    for page in pages:
        texts, given = [for_scoring(sample.text) for sample in page.samples], [next(others) for _ in page.samples]
        aligned.append(align_page(recognizer, page.samples[0].set, page.recognize(recognizer), texts, given))
        if advance is not None:
            advance(len(texts))
    return aligned


def align_page(
    recognizer: Recognizer, set: str, page: RecognizedPage, texts: Sequence[str], others: Sequence[str]
) -> AlignedPage:
    """Align the correct texts of the marked lines of a page with its lines, then other texts."""
    read = [line.reading.text for line in page.lines]
    aligned, aligned_others = align_text(" ".join(texts), read).texts, align_text(" ".join(others), read).texts
    places = list(zip(texts, page.places, strict=True))
    truths = {place: text for text, place in places if place is not None}
    # A line without text has nothing to accept.
    written = [number for number, text in enumerate(aligned_others) if text]
    checks = check_lines(
        recognizer,
        [page.lines[number].image for number in written],
        [aligned_others[number] for number in written],
        [ReadText.of(page.lines[number].reading) for number in written],
    )
    return AlignedPage(
        set,
        exact=np.array([place is not None and aligned[place] == text for text, place in places], dtype=np.bool_),
        probability=np.array([check.probability for check in checks]),
        right=np.array([aligned_others[number] == truths.get(number) for number in written], dtype=np.bool_),
    )


def with_errors(samples: Sequence[Sample], seed: int) -> list[str]:
    """The texts of lines, one of ten with an error; which one does not depend on the other lines."""

    def chosen(sample: Sample) -> bool:
        return bool(np.random.default_rng([seed, 1, *map(ord, sample.text)]).random() < WRONG_LINES)

    return [
        " ".join(next(iter(errors.values())).words) if errors and chosen(sample) else for_scoring(sample.text)
        for sample, errors in zip(samples, corrupt(samples, seed, most=1), strict=True)
    ]


CONVENTION = (
    "The texts of the lines of a page are joined by spaces and aligned with its lines. Exact: share of the marked "
    "lines that get exactly their words; where lines are detected, on the one that covers the same area (IoU of 0.5 "
    "or more). In brackets the 95 % interval of a bootstrap over pages, widened for few pages; none for fewer than "
    f"{MIN_PAGES}. Accepted: {100 * WRONG_LINES:.0f} % of the lines get an error in their text before it is aligned; "
    f"of the lines with text, those whose probabilities promise that {100 * PRECISION:.0f} % of them are right, "
    "decided for each set. Precision: share of the accepted lines whose text is right."
)


@dataclass(frozen=True)
class AlignmentFigures:
    """The metrics of a set or pool, see `CONVENTION`; rates are fractions, the interval is None for few pages.

    lines    marked lines
    written  lines that get some of the text with errors
    """

    name: str
    pages: int
    lines: int
    exact: float
    exact_low: float | None
    exact_high: float | None
    written: int
    accepted: float | None
    precision: float | None


@dataclass(frozen=True)
class AlignedSet:
    """The pages of a set, and which of the lines with text are accepted."""

    pages: tuple[AlignedPage, ...]
    accepted: Booleans

    @classmethod
    def of(cls, pages: Sequence[AlignedPage]) -> Self:
        """The pages of a set; lines are accepted over the whole set."""
        return cls(tuple(pages), acceptable(np.concatenate([page.probability for page in pages]), PRECISION))

    @property
    def right(self) -> Booleans:
        """Which of the lines with text have the correct one."""
        return np.concatenate([page.right for page in self.pages])


def measure_alignment(pages: Sequence[AlignedPage], known: Collection[str]) -> list[AlignmentFigures]:
    """The metrics of each set, and of the known and the held-out sets together.

    Args:
        known: The sets that the model was trained on.
    """
    sets = {name: AlignedSet.of([page for page in pages if page.set == name]) for name in {page.set for page in pages}}
    return [figures_of(pool, [sets[name] for name in some]) for pool, some in pools_of(sets, known).items()]


def figures_of(name: str, sets: Sequence[AlignedSet]) -> AlignmentFigures:
    """The metrics of some sets together."""
    pages = np.array([(page.exact.sum(), len(page.exact)) for some in sets for page in some.pages])
    accepted, right = (np.concatenate([getattr(some, part) for some in sets]) for part in ("accepted", "right"))
    exact, lines = pages.sum(0).tolist()
    counted, every = drawn_sums(pages, DRAWS, np.random.default_rng(0)).T
    low, high = interval_95(rates_of(counted, every), len(pages)) if len(pages) >= MIN_PAGES else (None, None)
    return AlignmentFigures(
        name,
        pages=len(pages),
        lines=lines,
        exact=exact / lines,
        exact_low=low,
        exact_high=high,
        written=len(accepted),
        accepted=float(accepted.mean()) if len(accepted) else None,
        precision=float(right[accepted].mean()) if accepted.any() else None,
    )


def report(pools: Sequence[AlignmentFigures]) -> str:
    """Figures in percent, a row per set and pool of sets."""
    titles = ("", "pages", "lines", "exact %", "with text", "accepted %", "precision %")
    rows = [
        (
            pool.name,
            f"{pool.pages:,}",
            f"{pool.lines:,}",
            interval(asdict(pool), "exact"),
            f"{pool.written:,}",
            figure(pool.accepted, 1),
            figure(pool.precision, 1),
        )
        for pool in pools
    ]
    return f"{table(titles, rows)}\n\n{CONVENTION}"
