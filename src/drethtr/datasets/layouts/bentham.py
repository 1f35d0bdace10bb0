"""The Bentham papers of the ICFHR-2014 competition: English, 18th and 19th century.

    BenthamDatasetR0-GT/Partitions/TrainLines.lst, ValidationLines.lst, TestLines.lst
    BenthamDatasetR0-GT/Images/Lines/002_080_001_02_01.png
    BenthamDatasetR0-GT/Transcriptions/002_080_001_02_01.txt

Source: Sánchez, Romero, Toselli and Vidal, ICFHR 2014.
"""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from drethtr.base.errors import DataError
from drethtr.datasets.layouts.layout import Layout, needed, within
from drethtr.datasets.sample import Entry, LeftOut, Sample
from drethtr.datasets.text_files import NOT_ONE_LINE, read_transcription, rows_of

ROOTS = ("BenthamDatasetR0-GT", "gt", ".")
PARTITIONS = {"train": "TrainLines.lst", "val": "ValidationLines.lst", "test": "TestLines.lst"}


@dataclass(frozen=True)
class Bentham(Layout):
    """Lines of the three official partitions."""

    name = "bentham"
    description = "Partitions/TrainLines.lst, Images/Lines/ and Transcriptions/ of ICFHR-2014"
    convention = "HTML entities resolved; lines with tags (<gap/>) are marked as not clean and excluded from evaluation"
    known: ClassVar = {(9198, 1415, 860): "ICFHR-2014"}

    def recognizes(self, source: Path) -> bool:
        return within(source, *(f"{root}/Partitions/{PARTITIONS['train']}" for root in ROOTS)) is not None

    def entries(self, source: Path) -> Iterator[Entry]:
        root = needed(source, *(f"{root}/Partitions" for root in ROOTS)).parent
        for split, file in PARTITIONS.items():
            for _, row in rows_of(needed(root, f"Partitions/{file}")):
                yield entry(root, row.strip(), split)


def entry(root: Path, name: str, split: str) -> Entry:
    """One line; its name begins with box, folio and page."""
    image = within(root, f"Images/Lines/{name}.png")
    text = within(root, f"Transcriptions/{name}.txt")
    if image is None:
        return LeftOut(str(root / f"Images/Lines/{name}.png"), "no image")
    if text is None:
        return LeftOut(str(root / f"Transcriptions/{name}.txt"), "no transcription")
    try:
        written = read_transcription(text)
    except DataError as error:
        return LeftOut(str(text), NOT_ONE_LINE, error.reason)
    return Sample(
        image,
        html.unescape(written),
        "bentham",
        "en",
        page="_".join(name.split("_")[:3]),
        clean="<" not in written,
        key=str(image),
        id=name,
        split=split,
    )
