"""Folders of line images beside text files of the same name: kraken, OCRopus, Tesseract, Calamari, OCR-D.

Folders may be nested. One named train, val or test is a split, also if it is given alone; any other is the page of its
lines.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from unicodedata import normalize

from drethtr.base.errors import DataError
from drethtr.base.files import atomic_write
from drethtr.datasets.layouts.layout import Layout
from drethtr.datasets.parquet import png_of
from drethtr.datasets.sample import Entry, LeftOut, Sample
from drethtr.datasets.splits import collection_of, folder_split, split_of_folder
from drethtr.datasets.text_files import NOT_ONE_LINE, read_transcription
from drethtr.documents.beside import IMAGES, is_hidden, visible_below

GROUND_TRUTH = ".gt.txt"
TRANSCRIPTIONS = (GROUND_TRUTH, ".txt")
"""Endings of text files; the first that exists is used."""

UNTRANSCRIBED = "no transcription"

VARIANTS = ("", ".raw", ".dew", ".bin", ".nrm")
"""Suffixes that OCRopus puts before the extension of an image, by preference: the scanned line, then copies of it."""

WRITTEN = re.compile(r"\d{6,}\.(png|gt\.txt)", re.ASCII)


@dataclass(frozen=True)
class Kraken(Layout):
    """Line images with their texts at any depth, recognized by a `.gt.txt`, or by an image with its `.txt`.

    transcribed  whether to skip folders below the source in which no image has a text
    """

    transcribed: bool = False

    name = "kraken"
    description = "line images beside .gt.txt or .txt files of the same name, at any depth"

    def recognizes(self, source: Path) -> bool:
        below = set(visible_below(source)) if source.is_dir() else set()
        return any(
            path.name.endswith(GROUND_TRUTH) or (path.suffix.lower() in IMAGES and path.with_suffix(".txt") in below)
            for path in below
        )

    def entries(self, source: Path) -> Iterator[Entry]:
        if not source.is_dir():
            raise DataError("is a file; give the folder of line images", source)
        for folder in [source, *(path for path in visible_below(source) if path.is_dir())]:
            entries = list(lines_in(folder, source))
            untranscribed = (isinstance(entry, LeftOut) and entry.reason == UNTRANSCRIBED for entry in entries)
            if self.transcribed and folder != source and all(untranscribed):
                continue
            yield from entries


def lines_in(folder: Path, source: Path) -> Iterator[Entry]:
    """The lines of one folder, sorted by the names of their images.

    The text of `a.1.png` is in `a.1.gt.txt` or `a.1.txt`: only the last extension is replaced, and that of a variant.
    """
    # By names only, so that a file that cannot be opened, such as a broken link, is reported as unusable, not missing.
    names = {path.name for path in folder.iterdir() if not (is_hidden(path) or path.is_dir())}
    texts = {normalize("NFC", name): name for name in sorted(names)}  # on macOS, accents may be decomposed
    owned: dict[str, list[tuple[int, str]]] = {}
    for name in sorted(name for name in names if Path(name).suffix.lower() in IMAGES):
        stem = Path(name).stem
        wanted = (
            (order, stem.removesuffix(variant) + ending)
            for order, variant in enumerate(VARIANTS)
            if stem.endswith(variant)
            for ending in TRANSCRIPTIONS
        )
        known = ((order, text if text in names else texts.get(normalize("NFC", text))) for order, text in wanted)
        order, text = next((found for found in known if found[1]), (0, None))
        if text is None:
            expected = " or ".join(stem + ending for ending in TRANSCRIPTIONS)
            yield LeftOut(str(folder / name), UNTRANSCRIBED, f"{UNTRANSCRIBED}; expected {expected} beside it")
        else:
            owned.setdefault(text, []).append((order, name))
    for text, images in owned.items():
        yield line_of(folder / text, images, source)
    for lonely in sorted(name for name in names - owned.keys() if name.endswith(GROUND_TRUTH)):
        yield LeftOut(str(folder / lonely), "no image of that name beside it")


def line_of(text: Path, images: list[tuple[int, str]], source: Path) -> Entry:
    """The line of a text file and its images, each with its place among `VARIANTS`, of which the first is used."""
    (order, image), *others = sorted(images)
    if others and others[0][0] == order:
        return LeftOut(str(text), "belongs to two images", f"belongs to two images, {image} and {others[0][1]}")
    try:
        written = read_transcription(text)
    except DataError as error:
        return LeftOut(str(text), NOT_ONE_LINE, error.reason)
    folder, collection = text.parent, collection_of(source)
    return Sample(
        folder / image,
        written,
        collection.name,
        page="/".join(part for part in folder.relative_to(source).parts if not folder_split(part)) or None,
        key=str(folder / image),
        id=text.name.removesuffix(".txt").removesuffix(".gt"),
        split=split_of_folder(folder, source),
        named_after=collection,
    )


def store_folder(samples: Iterable[Sample], folder: Path) -> None:
    """Write samples for people to look at: `000000.png` beside `000000.gt.txt`, and so on.

    Files of an earlier call are removed once the first sample is made.

    Raises:
        DataError: if the folder cannot be written.
    """
    made = ((png_of(sample), sample.text + "\n") for sample in samples)
    first = list(islice(made, 1))  # errors that affect all samples show up here, before old files are removed
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if WRITTEN.fullmatch(path.name):
                path.unlink()
        for number, (png, text) in enumerate(chain(first, made)):
            with atomic_write(folder / f"{number:06}.png") as unfinished:
                unfinished.write_bytes(png)
            with atomic_write(folder / f"{number:06}.gt.txt") as unfinished:
                unfinished.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot be written: {error}", folder) from error
