"""The IAM Handwriting Database, lines: English, 13,353 lines by 657 writers.

Layout of the distribution (with or without the folder `data` around it):

    ascii/lines.txt                        id, segmentation, gray level, components, box, words joined by |
    ascii/forms.txt                        form, writer, ...
    lines/a01/a01-000u/a01-000u-00.png     or all images in one folder
    xml/a01-000u.xml                       the same texts with their spaces as written

The splits are separate lists (`train.uttlist`, `trainset.txt`, ...) of line or form names; put them beside the data, or
pass their folder with `--splits`.

Source: Marti and Bunke, IJDAR 5 (2002); documentation inside ascii/lines.txt and ascii/forms.txt.
"""

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.datasets.layouts.layout import Layout, needed, within
from drethtr.datasets.sample import Entry, LeftOut, Sample
from drethtr.datasets.text_files import read_annotations, rows_of

TABLES = ("ascii/lines.txt", "data/ascii/lines.txt", "lines.txt")
FORMS = ("ascii/forms.txt", "data/ascii/forms.txt", "forms.txt")
IMAGES = ("lines", "data/lines")
XML = ("xml", "data/xml")

KNOWN: Mapping[tuple[int, ...], str] = {
    (6161, 966, 2915): "Aachen (RWTH)",
    (6482, 976, 2915): "Aachen test set with 6,482 training lines, as Teklia, VAN and HTR-VT use it",
    (6161, 900, 1861): "large writer-independent task, validation set 1",
    (6161, 940, 1861): "large writer-independent task, validation set 2",
    (6161, 1840, 1861): "large writer-independent task, both validation sets",
    (9652, 1840, 1861): "9,652 training lines, whose forms are also in val and test: metrics on it are too good",
}


@dataclass(frozen=True)
class IAM(Layout):
    """Texts of ascii/lines.txt, in which punctuation is separated by spaces."""

    name = "iam"
    description = "ascii/lines.txt and lines/"
    convention = "words of ascii/lines.txt joined by spaces, so punctuation is detached: 'Gaitskell , from'"
    known = KNOWN

    def recognizes(self, source: Path) -> bool:
        return within(source, *TABLES) is not None and within(source, *IMAGES) is not None

    def entries(self, source: Path) -> Iterator[Entry]:
        table, images, writers = needed(source, *TABLES), needed(source, *IMAGES), writers_of(source)
        for number, row in rows_of(table):
            if row.startswith("#"):
                continue
            fields = row.split(" ", maxsplit=8)
            if len(fields) != 9:
                raise DataError(f"{len(fields)} fields, expected 9: {row[:60]!r}", f"{table} line {number}")
            yield line(fields[0], fields[8].replace("|", " "), images, writers)


@dataclass(frozen=True)
class IAMAsWritten(Layout):
    """Texts of xml/, with spaces as the writer left them."""

    name = "iam-xml"
    description = "xml/ and lines/"
    convention = "texts of xml/, with punctuation attached to words as written: 'Gaitskell, from'"
    known = KNOWN

    def recognizes(self, source: Path) -> bool:
        return within(source, *XML) is not None and within(source, *IMAGES) is not None

    def entries(self, source: Path) -> Iterator[Entry]:
        folder, images = needed(source, *XML), needed(source, *IMAGES)
        for path in sorted(folder.glob("*.xml")):
            try:
                form = read_annotations(path)
            except DataError as error:
                yield LeftOut(str(path), "not a form", error.reason)
                continue
            writers = {form.get("id", path.stem): form.get("writer-id", "")}
            for found in form.iter("line"):
                yield line(found.get("id", ""), html.unescape(found.get("text", "")), images, writers)


def line(name: str, text: str, images: Path, writers: dict[str, str]) -> Entry:
    """A line, if its image exists; `a01-000u-00` is line 00 of form `a01-000u` in folder `a01`."""
    form = name.rpartition("-")[0]
    image = within(images, f"{form[:3]}/{form}/{name}.png", f"{name}.png")
    if image is None:
        return LeftOut(str(images / f"{name}.png"), "no image")
    return Sample(image, text, "iam", "en", page=form, hand=writers.get(form), key=str(image), id=name)


def writers_of(source: Path) -> dict[str, str]:
    """The writer of each form, if forms.txt exists.

    Raises:
        DataError: naming a row without a writer.
    """
    writers: dict[str, str] = {}
    table = within(source, *FORMS)
    for number, row in rows_of(table) if table else ():
        if row.startswith("#"):
            continue
        fields = row.split()
        if len(fields) < 2:
            raise DataError(f"expected a form and its writer: {row[:60]!r}", f"{table} line {number}")
        writers[fields[0]] = fields[1]
    return writers
