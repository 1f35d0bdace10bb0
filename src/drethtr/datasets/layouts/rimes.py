"""RIMES, the lines of the ICDAR 2011 competition: French letters.

    training_2011.xml, eval_2011_annotated.xml      DocumentList / SinglePage FileName / Paragraph / Line Value Top ...
    images_gray/train2011-0.png, ...                from training_2011_gray.tar and eval_2011_gray.tar

Lines are cut from the letters, so their images are new PNG files with unchanged pixels. The competition defines no
validation lines: the last fifteenth of the training letters is used, which is 100 of 1,500 as in VAN (10,532 / 801 /
778 lines); `--splits` selects others.

Source: Grosicki and El Abed, ICDAR 2011; README of the Vertical Attention Network.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree

from PIL import Image

from drethtr.datasets.layouts.layout import Layout, needed, within
from drethtr.datasets.sample import Entry, LeftOut, Sample
from drethtr.datasets.text_files import read_annotations
from drethtr.images.decode import DECODING_ERRORS, FORMATS

TRAINING = "training_2011.xml"
TEST = "eval_2011_annotated.xml"
LETTERS_PER_VALIDATION_LETTER = 15  # as in VAN, see above


@dataclass(frozen=True)
class Rimes(Layout):
    """Lines cut from the letters of the two annotation files."""

    name = "rimes"
    description = f"{TRAINING}, {TEST} and images_gray/"
    convention = "texts as annotated; the last fifteenth of the training letters is validation, as in VAN"
    known: ClassVar = {
        (10532, 801, 778): "VAN: the last 100 training letters are validation",
        (10188, 1138, 778): "Teklia",
        (9947, 1333, 778): "the 100 validation letters of VAN's paragraphs",
    }

    def recognizes(self, source: Path) -> bool:
        return within(source, TRAINING) is not None and within(source, TEST) is not None

    def entries(self, source: Path) -> Iterator[Entry]:
        letters = sorted(letters_of(needed(source, TRAINING)), key=number_of)
        first = len(letters) - len(letters) // LETTERS_PER_VALIDATION_LETTER
        for place, letter in enumerate(letters):
            yield from lines_of(letter, source, "train" if place < first else "val")
        for letter in letters_of(needed(source, TEST)):
            yield from lines_of(letter, source, "test")


def letters_of(path: Path) -> list[ElementTree.Element]:
    """The pages of an annotation file."""
    return list(read_annotations(path).iter("SinglePage"))


def number_of(letter: ElementTree.Element) -> tuple[int, str]:
    """A sort key that orders letters by number: train2011-9 before train2011-10."""
    name = Path(letter.get("FileName", "")).stem
    return int((re.findall(r"\d+", name) or ["0"])[-1]), name


def lines_of(letter: ElementTree.Element, source: Path, split: str) -> Iterator[Entry]:
    """The lines of one letter."""
    name = letter.get("FileName", "")
    file = Path(name)
    places = (name, f"images_gray/{file.name}", f"training_2011/{name}", f"eval_2011/{name}") if name else ()
    image = within(source, *places)
    if image is None:
        yield LeftOut(str(source / name), "no image of the letter")
        return
    try:
        with Image.open(image, formats=FORMATS) as opened:
            opened.load()
            for number, line in enumerate(letter.iter("Line")):
                yield cut(line, opened, split, file.stem, f"{image.with_suffix('')}-{number}.png", str(number))
    except DECODING_ERRORS:
        yield LeftOut(str(image), "image of the letter cannot be read")


def cut(line: ElementTree.Element, letter: Image.Image, split: str, page: str, key: str, name: str) -> Entry:
    """One line; the few boxes with swapped edges are corrected."""
    try:
        top, bottom, left, right = (int(line.attrib[edge]) for edge in ("Top", "Bottom", "Left", "Right"))
    except (KeyError, ValueError):
        return LeftOut(key, "no box")
    top, bottom = sorted((top, bottom))
    left, right = sorted((left, right))
    box = (max(left, 0), max(top, 0), min(right + 1, letter.width), min(bottom + 1, letter.height))
    if box[0] >= box[2] or box[1] >= box[3]:
        return LeftOut(key, "box outside the letter")
    stream = BytesIO()
    letter.crop(box).save(stream, "PNG")
    text = html.unescape(line.get("Value", ""))
    return Sample(stream.getvalue(), text, "rimes", "fr", page=page, key=key, id=name, split=split)
