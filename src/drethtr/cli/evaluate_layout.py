"""`drethtr evaluate --layout`: how well lines and their order are found, and what that costs in characters."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from drethtr.cli.reports import EvaluationResult, read_by
from drethtr.cli.tables import figure, interval, table
from drethtr.evaluation.layout import to_json
from drethtr.evaluation.whole_pages import (
    collections_of,
    find_and_compare,
    layout_cost,
    open_references,
    read_and_compare,
    total_of,
)
from drethtr.pages.segmentation import GivenLines, Segmentation
from drethtr.recognition.recognizer import Recognizer

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
    "What the layout costs, in points of CER in order, against given lines: text lost (in merged, cut and missed "
    "lines), extra text (of false lines), and order."
)


def evaluate_layout(
    data: Sequence[str], segmentation: Segmentation, threads: int | None = None, images: Path | None = None
) -> EvaluationResult:
    """Find the lines of whole pages and compare them with those in their files, with a progress bar.

    Args:
        images: A folder in which the images of pages are looked for first.

    Raises:
        DataError: if a page has no lines, or there is none.
    """
    originals = open_references(data, texts=False, images=images)
    with tqdm(total=len(originals), unit="page", disable=None) as bar:
        pages = find_and_compare(originals, segmentation, threads, bar.update)
    figures = to_json(pages, collections_of(list(pages)))
    return EvaluationResult(layout_table(figures), figures)


def evaluate_cost(
    recognizer: Recognizer, data: Sequence[str], segmentation: Segmentation, images: Path | None = None
) -> EvaluationResult:
    """`evaluate_layout`, and the error rates of pages read on given and on found lines.

    Raises:
        DataError: if a page has no text, or there is none.
    """
    originals = open_references(data, images=images)
    layout = evaluate_layout(data, segmentation, recognizer.threads, images)
    with tqdm(total=2 * len(originals), unit="page", disable=None) as bar:
        given, found = (
            read_and_compare(recognizer, originals, lines, lambda original, page: bar.update())
            for lines in (GivenLines(), segmentation)
        )

    def row(name: str, keys: Sequence[str]) -> dict[str, Any]:
        one, other = (total_of([counts[key] for key in keys]) for counts in (given, found))
        return {
            "name": name,
            "characters": one.ordered.characters,
            "cer_given": one.ordered.cer,
            "cer_found": other.ordered.cer,
            **layout_cost(one, other),
        }

    cost = [row(name, keys) for name, keys in collections_of(list(given)).items()]
    cost.append(row("all", list(given)))
    text = f"{layout.text}\n\n{cost_table(cost)}\n\n{COST}\n{read_by(recognizer)}"
    return EvaluationResult(text, {**layout.figures, "cost": cost})


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
    return f"{found}\n\nall: {intervals}\n\n{figures['convention']}"


def cost_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The error rates in percent, a row per collection."""
    columns = {"cer_given": "given", "cer_found": "found", "lost": "lost", "extra": "extra", "order": "order"}
    return table(
        ["set", "characters", *columns.values()],
        [[row["name"], f"{row['characters']:,}", *(figure(row[name], 1) for name in columns)] for row in rows],
    )
