"""`drethtr evaluate --end-to-end`: whole pages, their lines found as well as read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drethtr.base.errors import DataError
from drethtr.cli.progress import lines_unread, say
from drethtr.cli.tables import interval

if TYPE_CHECKING:
    from drethtr.evaluation.end_to_end import PageCounts
    from drethtr.pages.segmentation import Segmentation
    from drethtr.pages.source import Original
    from drethtr.recognition.recognizer import Recognizer

TITLES = {"cer_ordered": "in order", "cer_matched": "matched", "cer_found_only": "found only"}


def open_references(data: Sequence[str]) -> "list[Original]":
    """The pages that files, folders and patterns describe.

    Raises:
        DataError: if one of them is no PAGE, ALTO or JSON file with texts, or there is none.
    """
    from drethtr.pages.inputs import files_of
    from drethtr.pages.source import open_originals

    files = [file for name in data for file in files_of(name)]
    described = [original for file in files for original in open_originals(file) if original.description is not None]
    if not described:
        raise DataError(f"{', '.join(data)}: no PAGE or ALTO files; whole pages are compared with the texts in those")
    for original in described:
        if not texts_of(original):
            raise DataError(f"{original.name}: has no texts to compare with")
    return described


def texts_of(original: "Original") -> list[str]:
    """What the file of a page says, line by line."""
    page = original.given()
    return [line.text for line in page.lines if line.text.strip()] if page is not None else []


def read_and_compare(
    recognizer: "Recognizer", pages: "Sequence[Original]", segmentation: "Segmentation"
) -> "dict[str, PageCounts]":
    """The errors on each page, by its name; its lines are found, unless the given ones are chosen."""
    from tqdm import tqdm

    from drethtr.evaluation.end_to_end import compare_pages
    from drethtr.pages.segmentation import Given
    from drethtr.pages.transcribe import transcribe

    counts = {}
    for original in tqdm(pages, unit="page", disable=None):
        reference = texts_of(original)
        asked = original if isinstance(segmentation, Given) else replace(original, has_lines=False)
        read = transcribe(asked, recognizer, segmentation.finder(original))
        if unread := lines_unread(original, read):
            say(unread)
        counts[str(original.description)] = compare_pages(reference, [line.text for line in read.lines if line.text])
    return counts


def page_table(scores: Mapping[str, Any]) -> str:
    """Error rates in percent, a row for each page; `scores` as `end_to_end.to_json` gives them."""
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
