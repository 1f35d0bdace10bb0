"""The files to read that names of files and folders and patterns stand for."""

import re
from collections.abc import Mapping, Sequence, Set
from glob import escape, glob, has_magic, iglob
from pathlib import Path

from drethtr.base.archive import is_archive, unpacked
from drethtr.base.cache import is_address
from drethtr.base.errors import DataError
from drethtr.documents.beside import DESCRIPTION, IMAGES, image_beside, is_hidden, visible_below, without_number
from drethtr.documents.read import first_bytes, read_page
from drethtr.documents.read import made_here as read_here
from drethtr.images.page import made_here

PDF = ".pdf"

READABLE = frozenset({*IMAGES, PDF})
"""Endings of files with images of pages."""

TRANSCRIPTIONS = frozenset({DESCRIPTION, ".txt", ".tsv", ".jsonl"})
"""Endings of the files in a folder that hold its transcriptions."""

ROOT = re.compile(rb"<([\w.-]+:)?(PcGts|alto)\b")
"""The root element of PAGE or ALTO. It stands near the beginning, even of a file that is damaged further on."""


def find_inputs(
    inputs: Sequence[str], output: Path | None = None, endings: Sequence[str] = ()
) -> tuple[list[Path], list[DataError]]:
    """The files that names of files and folders and patterns stand for, each once, and an error for every bad name.

    Args:
        inputs: Names of files and folders, patterns, and addresses, which are fetched. Of a folder, subfolders are not
            read; of a ZIP file, they are.
        output: A folder for results. If it is also an input, results of an earlier run are not taken for inputs.
        endings: How those results end.
    """
    found: dict[Path, None] = {}
    errors = []
    for name in inputs:
        try:
            found |= dict.fromkeys(files_of(name, output, endings))
        except DataError as error:
            errors.append(error)
    return list(found), errors


def files_of(name: str, output: Path | None = None, endings: Sequence[str] = ()) -> list[Path]:
    """The files that one name or pattern stands for, sorted; see `find_inputs`.

    Raises:
        DataError: if there are none, or they cannot be accessed.
    """
    try:
        return named_files(name, output, endings)
    except OSError as error:
        raise DataError(f"{error.filename or name}: cannot be accessed: {error.strerror}") from error


def named_files(name: str, output: Path | None, endings: Sequence[str]) -> list[Path]:
    """What `files_of` returns; errors of the file system pass.

    Raises:
        DataError: if there are none.
        OSError: if they cannot be accessed.
    """
    if not name.strip():
        raise DataError("an empty name is given; give a file, or . for this folder")
    if is_address(name):
        from drethtr.pages.addresses import file_at

        return [file_at(name)]
    path = Path(name)
    if path.is_dir():
        return in_folder(path, endings if output is not None and output.resolve() == path.resolve() else ())
    if path.exists():
        return in_archive(path) if is_archive(path) else [path]
    if not has_magic(name):
        raise DataError(f"{name}: no such file")
    matches = [Path(match) for match in sorted(glob(name, recursive=True))]  # noqa: PTH207 - may be absolute
    files = [file for file in matches if file.is_file()]
    if not files:
        raise DataError(f"{name}: matches no file")
    return [inside for file in files for inside in (in_archive(file) if is_archive(file) else [file])]


def in_folder(folder: Path, endings: Sequence[str] = ()) -> list[Path]:
    """What there is to read in a folder, without results of earlier runs."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and not is_hidden(file))
    results = results_among(files, endings) | searchable_copies(files)
    files = [file for file in files if file not in results]
    found = to_read(files, described_images(files))
    if not found:
        endings = ", ".join(sorted(READABLE))
        raise DataError(f"{folder}: no images in this folder ({endings}){deeper(folder, READABLE)}")
    return found


def in_archive(path: Path) -> list[Path]:
    """What there is to read in a ZIP file, in its subfolders too, as unpacked into a folder of this process.

    Exports may describe a page in PAGE and in ALTO: of two files for an image, the first counts that a person wrote.
    """
    files = [file for file in visible_below(unpacked(path)) if file.is_file()]
    described, done = {}, set()
    for file, image in described_images(sorted(files, key=read_here)).items():
        if image is None or image not in done:
            described[file] = image
            done.add(image)
    found = to_read(files, described)
    if not found:
        raise DataError(f"{path}: no images in this ZIP file ({', '.join(sorted(READABLE))})")
    return found


def to_read(files: Sequence[Path], described: Mapping[Path, Path | None]) -> list[Path]:
    """Images, PDFs, and files that describe a page, which replace their images."""
    images = set(described.values())
    return [file for file in files if file in described or (file.suffix.lower() in READABLE and file not in images)]


def results_among(files: Sequence[Path], endings: Sequence[str]) -> set[Path]:
    """Files named like the result for an image or PDF among them, or for one of its pages."""
    results: set[Path] = set()
    for kinds in (IMAGES, (PDF,)):  # in this order, as a PDF may be the result for an image
        stems = {file.stem for file in files if file.suffix.lower() in kinds and file not in results}
        for file in files:
            names = [file.name.removesuffix(ending) for ending in endings if file.name.endswith(ending)]
            if file.suffix.lower() not in kinds and stems.intersection([*names, *map(without_number, names)]):
                results.add(file)
    return results


def searchable_copies(files: Sequence[Path]) -> set[Path]:
    """PDFs that drethtr made, beside the images that they were made of."""
    scans = {file.stem for file in files if file.suffix.lower() in IMAGES}
    return {file for file in files if file.suffix.lower() == PDF and file.stem in scans and made_here(file)}


def deeper(folder: Path, endings: Set[str]) -> str:
    """How to name the images in subfolders, if there are any."""
    pattern = f"{escape(str(folder))}/**/*"
    for name in iglob(pattern, recursive=True):  # noqa: PTH207 - as the pattern will be
        if (ending := Path(name).suffix).lower() in endings:
            return f"; subfolders are not read: name them, or give '{pattern}{ending}'"
    return ""


def described_images(files: Sequence[Path]) -> Mapping[Path, Path | None]:
    """Each PAGE or ALTO file with the image it describes, None if that is missing; other XML, as METS, is left out.

    A damaged file stands for the image of its name, so that it is reported when it is read.
    """
    described: dict[Path, Path | None] = {}
    for file in files:
        if file.suffix.lower() != DESCRIPTION:
            continue
        try:
            image = read_page(file).image
        except DataError:
            if not is_description(file):
                continue
            image = ""
        try:
            described[file] = image_beside(file, image)
        except DataError:
            described[file] = None
    return described


def is_description(file: Path) -> bool:
    """Whether a file begins as PAGE or ALTO does, or cannot be opened to find out."""
    try:
        head = first_bytes(file)
    except DataError:
        return True
    return ROOT.search(head.replace(b"\0", b"")) is not None  # in UTF-16 every other byte is 0


def is_input(path: Path, inputs: Sequence[str]) -> bool:
    """Whether a file is read for one of the inputs: files, patterns, and folders of images and transcriptions."""
    matches = [match for name in inputs for match in (name, *glob(name, recursive=True))]  # noqa: PTH207 - as typed
    found, place = {Path(match).resolve() for match in matches}, path.resolve()
    in_folders = path.suffix.lower() in {*IMAGES, PDF, *TRANSCRIPTIONS}
    return place in found or (in_folders and not found.isdisjoint(place.parents))
