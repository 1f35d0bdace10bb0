"""`drethtr evaluate --end-to-end`: error rates of whole pages, including line segmentation."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drethtr.cli.progress import say
from drethtr.cli.running import lines_unread
from drethtr.cli.tables import EvaluationResult, interval, read_by

if TYPE_CHECKING:
    from drethtr.documents.page import Page
    from drethtr.pages.segmentation import Segmentation
    from drethtr.pages.source import Original
    from drethtr.recognition.recognizer import Recognizer

TITLES = {"cer_ordered": "in order", "cer_matched": "matched", "cer_found_only": "found only"}
"""Columns for whole pages: names of rates and their titles."""


def evaluate_pages(recognizer: "Recognizer", data: Sequence[str], segmentation: "Segmentation") -> EvaluationResult:
    """Read whole pages and compare them with their texts, with a progress bar.

    Raises:
        DataError: if a page has no text, or there is none.
    """
    from tqdm import tqdm

    from drethtr.evaluation.end_to_end import to_json
    from drethtr.evaluation.whole_pages import open_references, read_and_compare

    originals = open_references(data)
    with tqdm(total=len(originals), unit="page", disable=None) as bar:

        def report(original: "Original", page: "Page") -> None:
            bar.update()
            if unread := lines_unread(original, page):
                say(unread)

        compared = to_json(read_and_compare(recognizer, originals, segmentation, report))
    return EvaluationResult(f"{page_table(compared)}\n{read_by(recognizer)}", compared)


def page_table(scores: Mapping[str, Any]) -> str:
    """Error rates in percent, a row per page, from the result of `end_to_end.to_json`."""
    rows = [{**page, "name": Path(page["name"]).name} for page in scores["pages"]]
    rows.append({"name": "all", **scores["overall"]})
    width = max(len(row["name"]) for row in rows)
    titles = "".join(f"  {f'CER % {title}':>20}" for title in TITLES.values())
    table = [f"{'page':{width}}  {'lines':>6}  {'found':>6}  {'characters':>10}{titles}"]
    for row in rows:
        rates = "".join(f"  {interval(row, name):>20}" for name in TITLES)
        table.append(
            f"{row['name']:{width}}  {row['lines']:>6,}  {row['lines_read']:>6,}  {row['characters']:>10,}{rates}"
        )
    return "\n".join([*table, "", scores["convention"]])
