"""Measure the gain of "Learn from my corrections" on real lines.

After a person has confirmed some lines of a hand, how well are the others read? The lines of each page in a table are
drawn one below the other as a scan, with a PAGE file for their positions. `drethtr edit` reads the folder; the first
lines in page order are confirmed with their known texts through the API; it learns from them, and the new model is
adopted. Printed are the CER of all other lines before and after, and the processor minutes used in total.

    python docs/measure_learning.py LINES.parquet 25 50
"""

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image
from served import Site, served

from drethtr.datasets.open import open_samples
from drethtr.datasets.sample import Sample
from drethtr.documents.document import Document, Provenance, Scan, Sheet
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.points import Box
from drethtr.evaluation.metrics import score

MARGIN, GAP = 40, 16
"""Pixels around the lines of a page, and between them."""

BASELINE = 0.72
"""Position of the baseline in a line image, relative to its height."""


def put_page(folder: Path, name: str, samples: Sequence[Sample]) -> None:
    """Write the scan of a page, and a PAGE file with the positions of its lines."""
    images = [sample.line() for sample in samples]
    width = max(image.shape[1] for image in images) + 2 * MARGIN
    scan = np.full((sum(len(image) + GAP for image in images) + 2 * MARGIN, width), 255, dtype=np.uint8)
    top, lines = MARGIN, []
    for number, image in enumerate(images):
        box = Box(MARGIN, top, MARGIN + image.shape[1], top + len(image))
        scan[box.top : box.bottom, box.left : box.right] = image
        base = box.top + round(BASELINE * box.height)
        lines.append(TextLine(f"l{number}", box.polygon(), ((box.left, base), (box.right, base))))
        top = box.bottom + GAP
    picture = Image.fromarray(scan)
    picture.save(folder / f"{name}.png")
    page = Page(f"{name}.png", *picture.size, (Region("r1", tuple(lines)),))
    document = Document((Sheet(page, Scan(lambda: picture)),), Provenance.now("nobody"))
    (folder / f"{name}.page.xml").write_bytes(FORMATS["page"].write(document))


def put_pages(folder: Path, samples: Sequence[Sample]) -> dict[tuple[str, str], str]:
    """Write scans to a folder; returns the known text of each line by page name and line id."""
    known: dict[tuple[str, str], str] = {}
    for number, (_, lines) in enumerate(groupby(sorted(samples, key=lambda one: one.page or ""), lambda one: one.page)):
        of_page, name = list(lines), f"{number:03}"
        put_page(folder, name, of_page)
        known |= {(f"{name}.png", f"l{place}"): sample.text for place, sample in enumerate(of_page)}
    return known


def lines_of(site: Site) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Page id, page name and content of every line."""
    for row in site.ask("GET", "/api/pages"):
        for line in site.ask("GET", f"/api/pages/{row['id']}")["lines"]:
            yield row["id"], row["name"], line


def error_rate(site: Site, known: dict[tuple[str, str], str]) -> tuple[float, int]:
    """The CER of the unconfirmed lines, and their number."""
    pairs = [(known[name, line["id"]], line["text"]) for _, name, line in lines_of(site) if line["status"] == "read"]
    first, *rest = score([truth for truth, _ in pairs], [text for _, text in pairs])
    return sum(rest, first).cer, len(pairs)


def learn(samples: Sequence[Sample], confirmed: int) -> tuple[int, float, float, str]:
    """Confirm some lines and learn; returns the number of other lines, their CER before and after, and a message."""
    with TemporaryDirectory() as place:
        known = put_pages(Path(place), samples)
        with served(Path(place), "--outlines", "given") as site:
            site.until_read()
            for page, name, line in list(lines_of(site))[:confirmed]:
                change = {"text": known[name, line["id"]], "status": "confirmed"}
                site.ask("PUT", f"/api/pages/{page}/lines/{line['id']}", change, line["revision"])
            before, others = error_rate(site, known)
            job = site.ended(site.ask("POST", "/api/learn", {})["id"])
            if job["result"] is None:
                return others, before, before, job["error"] or job["message"]
            site.ask("POST", f"/api/jobs/{job['id']}/adopt")
            site.until_read()
            told = "{measured} cross-fitted: CER {cer_before:.1%} before, {cer_after:.1%} after".format(**job["result"])
            return others, before, error_rate(site, known)[0], told


def main() -> None:
    """Print a table."""
    samples = [sample for sample in open_samples(sys.argv[1]) if sample.clean]
    print("confirmed  others   before    after  processor minutes", flush=True)  # noqa: T201
    for confirmed in map(int, sys.argv[2:]):
        spent = minutes_of_processor()
        others, before, after, message = learn(samples, confirmed)
        spent = minutes_of_processor() - spent
        print(f"{confirmed:9d}{others:8d}{before:9.1%}{after:9.1%}{spent:19.1f}  {message}", flush=True)  # noqa: T201


def minutes_of_processor() -> float:
    """Processor minutes of all child processes that have ended."""
    used = os.times()
    return (used.children_user + used.children_system) / 60


if __name__ == "__main__":
    main()
