"""`drethtr evaluate --end-to-end` and `--layout`: error rates on whole pages, and how well their lines are found."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from drethtr.base.errors import DataError
from drethtr.base.wording import counted
from drethtr.cli.options import ReadingOptions
from drethtr.cli.progress import report_skipped, say
from drethtr.cli.reports import EvaluationResult, figure, interval, read_by, table
from drethtr.cli.screen import shown
from drethtr.cli.transcribe import lines_unread
from drethtr.documents.page import Page
from drethtr.evaluation.layout import to_json as layout_figures
from drethtr.evaluation.reading import measured_with
from drethtr.evaluation.whole_pages import (
    PageCounts,
    collections_of,
    find_and_compare,
    layout_cost,
    open_references,
    read_and_compare,
    to_json,
    total_of,
)
from drethtr.pages.segmentation import GivenLines, Segmentation
from drethtr.pages.source import Original
from drethtr.recognition.recognizer import Recognizer

PAGE_TITLES = {"cer_ordered": "in order", "cer_matched": "matched", "cer_found_only": "found only"}
"""Columns for whole pages: names of rates and their titles."""

TITLES = {
    "precision": "P",
    "recall": "R",
    "f": "F",
    "found": "found",
    "found_characters": "chars",
    "merged_characters": "merged",
    "split_characters": "split",
    "cut_characters": "cut",
    "missed_characters": "missed",
    "false_per_line": "false",
    "successions": "order",
}
"""Columns in percent: names of figures and their titles. From `merged` to `missed`, percent of the characters."""

WITH_INTERVALS = ("found", "found_characters", "merged_characters", "false_per_line", "successions")
"""Figures whose intervals are printed for all pages together."""

COST = (
    "What layout errors add, in points of CER in order, compared with reading the given lines: text lost (in merged, "
    "cut and missed lines), extra text (of false lines), and order."
)


def evaluate_pages(
    data: Sequence[str],
    images: Path | None,
    segmentation: Segmentation,
    reading: ReadingOptions,
    *,
    read: bool,
    layout: bool,
) -> EvaluationResult:
    """Compare whole pages with their files; pages that cannot be compared are reported, and the result is incomplete.

    Args:
        images: A folder in which the images are looked for first.
        read: Read the pages, and measure error rates.
        layout: Measure how well lines are found; if pages are also read, what layout errors add to the CER.

    Raises:
        DataError: if no page can be compared.
    """
    originals, complete = comparable(data, texts=read, images=images)
    if not read:
        result = found_lines(originals, segmentation, reading.threads)
    elif layout:
        result = cost_of_layout(reading.load(), originals, segmentation)
    else:
        result = read_pages(reading.load(), originals, segmentation)
    return result._replace(complete=complete)


def comparable(data: Sequence[str], *, texts: bool, images: Path | None) -> tuple[list[Original], bool]:
    """The pages that can be compared, see `open_references`, and whether these are all; others are reported at once.

    Raises:
        DataError: if there is none.
    """
    skipped: list[DataError] = []

    def skip(error: DataError) -> None:
        report_skipped(error)
        skipped.append(error)

    usable = []
    for original in open_references(data, texts=texts, images=images, skip=skip):
        try:
            original.given_for(original.source.gray())  # an image is decoded in a hundredth of the time of its reading
        except DataError as error:
            skip(error)
        else:
            usable.append(original)
    if not usable:
        raise DataError(f"{', '.join(data)}: no page can be compared")
    return usable, not skipped


def read_pages(recognizer: Recognizer, originals: Sequence[Original], segmentation: Segmentation) -> EvaluationResult:
    """Read whole pages and compare them with their texts, with a progress bar."""
    for words in filter(None, map(texts_read, originals)):
        say(words)
    with tqdm(total=len(originals), unit="page", disable=None) as bar:

        def report(original: Original, page: Page) -> None:
            bar.update()
            for words in filter(None, (*original.remarks(page), lines_unread(original, page))):
                say(words)

        compared = to_json(read_and_compare(recognizer, originals, segmentation, report))
    figures = {**compared, **measured_with(recognizer)}
    remark = marked_text(compared["overall"]["lines_marked"])
    return EvaluationResult(f"{page_table(compared)}\n{remark}{read_by(recognizer)}", figures)


def texts_read(original: Original) -> str:
    """How many texts of a page come from a program, so that comparing with them proves nothing; "" if none."""
    lines = original.given_lines()
    number = sum(line.transcription is not None and line.transcription.by_program for line in lines)
    what = f"{original.name}: texts from a program, which nobody has corrected or confirmed"
    return f"{what}, count as the truth: {number:,} of {counted(len(lines), 'line')}" if number else ""


def marked_text(lines: int) -> str:
    """A row that says how many lines count here, but not in `drethtr evaluate` of lines; "" if none."""
    left_out = "which drethtr evaluate leaves out without --end-to-end, count here"
    return f"Lines with editorial marks or uncertain letters, {left_out}: {lines:,}.\n" if lines else ""


def page_table(scores: Mapping[str, Any]) -> str:
    """Error rates in percent, a row per page, from the result of `whole_pages.to_json`."""
    rows = [{**page, "name": shown(Path(page["name"]).name)} for page in scores["pages"]]
    rows.append({"name": "all", **scores["overall"]})
    found = table(
        ["page", "lines", "found", "characters", *(f"CER % {title}" for title in PAGE_TITLES.values())],
        [
            [
                row["name"],
                *(f"{row[count]:,}" for count in ("lines", "lines_read", "characters")),
                *(interval(row, rate) for rate in PAGE_TITLES),
            ]
            for row in rows
        ],
    )
    return f"{found}\n\n{scores['convention']}"


def found_lines(originals: Sequence[Original], segmentation: Segmentation, threads: int | None) -> EvaluationResult:
    """Find the lines of whole pages and compare them with those in their files, with a progress bar."""
    with tqdm(total=len(originals), unit="page", disable=None) as bar:
        pages = find_and_compare(originals, segmentation, threads, bar.update)
    figures = layout_figures(pages, collections_of(list(pages)))
    return EvaluationResult(layout_table(figures), figures)


class CostOfLayout(NamedTuple):
    """Error rates of some pages in order, read on given and on found lines, and what makes up the difference."""

    name: str
    characters: int
    cer_given: float
    cer_found: float
    lost: float
    extra: float
    order: float

    @classmethod
    def of(cls, name: str, given: PageCounts, found: PageCounts) -> "CostOfLayout":
        """The cost by the errors on given and on found lines."""
        one, other = given.ordered, found.ordered
        return cls(name, one.characters, one.cer, other.cer, **layout_cost(given, found))


def cost_of_layout(
    recognizer: Recognizer, originals: Sequence[Original], segmentation: Segmentation
) -> EvaluationResult:
    """`found_lines`, and the error rates of pages read on given and on found lines."""
    layout = found_lines(originals, segmentation, recognizer.threads)
    with tqdm(total=2 * len(originals), unit="page", disable=None) as bar:
        given, found = (
            read_and_compare(recognizer, originals, lines, lambda original, page: bar.update())
            for lines in (GivenLines(outlines=segmentation.outlines), segmentation)
        )
    groups = [*collections_of(list(given)).items(), ("all", list(given))]
    costs = [
        CostOfLayout.of(name, *(total_of([counts[key] for key in keys]) for counts in (given, found)))
        for name, keys in groups
    ]
    remark = marked_text(total_of(given.values()).marked)
    text = f"{layout.text}\n\n{cost_table(costs)}\n\n{COST}\n{remark}{read_by(recognizer)}"
    figures = {**layout.figures, "cost": [cost._asdict() for cost in costs], **measured_with(recognizer)}
    return EvaluationResult(text, figures)


def layout_table(figures: Mapping[str, Any]) -> str:
    """The figures in percent, a row per collection."""
    rows = [*figures["sets"], {"name": "all", **figures["overall"]}]
    found = table(
        ["set", "pages", "lines", *TITLES.values(), "s"],
        [
            [
                row["name"],
                f"{row['pages']:,}",
                f"{row['lines']:,}",
                *(figure(row[name], 1) for name in TITLES),
                f"{row['seconds']:.2f}",
            ]
            for row in rows
        ],
    )
    intervals = ", ".join(f"{TITLES[name]} {interval(figures['overall'], name)}" for name in WITH_INTERVALS)
    costs = [page["cost"] for page in figures["pages"] if page["cost"] is not None]
    return f"{found}\n\nall: {intervals}\n{stated(costs) if costs else ''}\n{figures['convention']}"


def stated(costs: Sequence[Mapping[str, Any]]) -> str:
    """The CER that layout errors cause, and how well it was predicted."""
    true, expected = (100 * sum(cost[name] for cost in costs) / len(costs) for name in ("true", "expected"))
    inside = sum(cost["true"] <= cost["high"] for cost in costs)
    return (
        f"If every letter were read correctly, layout errors alone would cause {true:.1f} % CER, mean over pages; "
        f"{expected:.1f} % was predicted. True CER within the predicted interval: {inside} of "
        f"{counted(len(costs), 'page')}.\n"
    )


def cost_table(costs: Sequence[CostOfLayout]) -> str:
    """The error rates in percent, a row per collection."""
    return table(
        ["set", "characters", "given", "found", "lost", "extra", "order"],
        [[name, f"{characters:,}", *(figure(rate, 1) for rate in rates)] for name, characters, *rates in costs],
    )
