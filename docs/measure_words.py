"""Measure in Chromium what the marks of `drethtr edit` find, and how often the right word is offered for a wrong one.

The lines of each page in a table are drawn one below the other as a scan, and read. On each page, the wrong words that
stand for whole words of the transcription count. Printed for each table are the share of words that are marked and the
share of wrong words among the marked ones, for three settings of the slider; and the share of wrong words whose right
text is offered, of those of a sample.

    python docs/measure_words.py LINES.parquet … --lines 150
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from measure_learning import put_pages
from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright
from served import CHROMIUM, served

from drethtr.datasets.open import open_samples

WANTED = (0.5, 0.7, 0.9)

SEEN = """async ([page, wanted]) => {
    const { marking } = await import("/static/page/words.js");
    const { lines } = await (await fetch(`/api/pages/${page}`)).json();
    return [lines, wanted.map((share) => marking(lines, share).threshold)];
}"""

OFFERED = """async ([page, line, text, start, end]) => {
    const { alternatives } = await import("/static/api.js");
    return (await alternatives(page, line, { text, start, end })).alternatives.map(({ text }) => text);
}"""


def wrong_words(read: str, truth: str) -> list[tuple[int, int, int, str]]:
    """The number, place and true text of each wrong word of a reading, by the best alignment of characters.

    The true text is "" if it is not made of whole words, which no word can be replaced with.
    """
    ways = np.zeros((len(read) + 1, len(truth) + 1), dtype=np.int64)
    ways[:, 0], ways[0] = range(len(read) + 1), range(len(truth) + 1)
    for i, own in enumerate(read, 1):
        for j, other in enumerate(truth, 1):
            ways[i, j] = min(ways[i - 1, j] + 1, ways[i, j - 1] + 1, ways[i - 1, j - 1] + (own != other))
    i, j = len(read), len(truth)
    begins = {i: j}
    while i or j:
        if i and j and ways[i, j] == ways[i - 1, j - 1] + (read[i - 1] != truth[j - 1]):
            i, j = i - 1, j - 1
        elif i and ways[i, j] == ways[i - 1, j] + 1:
            i -= 1
        else:
            j -= 1
        begins[i] = j
    found, end = [], 0
    for number, word in enumerate(read.split()):
        start = read.index(word, end)
        end = start + len(word)
        theirs = truth[begins[start] : begins[end]].strip()
        if theirs != word:
            found.append((number, start, end, theirs if theirs and f" {theirs} " in f" {truth} " else ""))
    return found


def measure(tab: Tab, address: str, pages: list[dict[str, Any]], known: dict[tuple[str, str], str]) -> np.ndarray:
    """Words, wrong words, for each setting marked words and wrong ones among them; words asked about, and offered."""
    sums = np.zeros(2 + 2 * len(WANTED) + 2, dtype=np.int64)
    tab.goto(address)
    for page in pages:
        lines, thresholds = tab.evaluate(SEEN, [page["id"], WANTED])
        for line in lines:
            wrong = wrong_words(line["text"], known[page["name"], line["id"]])
            places = {number for number, *_ in wrong}
            sums[:2] += len(line["words"]), len(places)
            for setting, threshold in enumerate(thresholds):
                marked = [n for n, word in enumerate(line["words"]) if (word["confidence"] or 1) < threshold]
                sums[2 + 2 * setting : 4 + 2 * setting] += len(marked), len(places.intersection(marked))
            for _, start, end, truth in wrong:
                if truth:
                    offered = tab.evaluate(OFFERED, [page["id"], line["id"], line["text"], start, end])
                    sums[-2:] += 1, truth in offered
    return sums


def main(tables: list[Path], lines: Annotated[int, typer.Option(help="Lines of each table.")] = 150) -> None:
    """Print a row for each table, and one for all."""
    total = np.zeros(2 + 2 * len(WANTED) + 2, dtype=np.int64)
    settings = "".join(f"   {wanted:.0%}: looked at, found" for wanted in WANTED)
    print(f"{'table':20}  words  wrong{settings}   offered")  # noqa: T201
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for table in tables:
            with TemporaryDirectory() as place:
                known = put_pages(Path(place), list(open_samples(str(table)))[:lines])
                with served(Path(place), "--outlines", "given") as site:
                    site.until_read()
                    sums = measure(browser.new_page(), site.address, site.ask("GET", "/api/pages"), known)
            show(table.stem, sums)
            total += sums
        show("all", total)


def show(name: str, sums: np.ndarray) -> None:
    """Print a row."""
    words, wrong, *marks, asked, offered = sums.tolist()
    parts = "".join(
        f"{looked / max(words, 1):17.0%}{found / max(wrong, 1):7.0%}"
        for looked, found in zip(marks[::2], marks[1::2], strict=True)
    )
    print(f"{name:20}{words:7}{wrong:7}{parts}{offered / max(asked, 1):10.0%} of {asked}", flush=True)  # noqa: T201


if __name__ == "__main__":
    typer.run(main)
