"""The files that a person means by names of files and folders and by patterns."""

import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from drethtr.base.errors import DataError

PDF = ".pdf"
UNREADABLE = (".heic", ".heif")
"""Images as telephones keep them: they cannot be read, but are not passed over in silence."""

ROOT = re.compile(rb"<([\w.-]+:)?(PcGts|alto)\b")
"""The root element of PAGE or ALTO, which stands near the beginning, whatever is wrong further on."""


def find_images(
    inputs: Sequence[str], output: Path | None = None, endings: Sequence[str] = ()
) -> tuple[list[Path], list[DataError]]:
    """The files that a person means by names of files, of folders and by patterns, each once.

    A name that leads nowhere is returned as an error, so that the others can still be read. Of the folder `output`,
    results with these endings that an earlier run has written are no inputs.
    """
    found: dict[Path, None] = {}
    errors = []
    for name in inputs:
        try:
            found |= dict.fromkeys(images_of(name, output, endings))
        except DataError as error:
            errors.append(error)
    return list(found), errors


def images_of(name: str, output: Path | None = None, endings: Sequence[str] = ()) -> list[Path]:
    """The files of one file, folder or pattern, sorted; see `find_images`.

    Raises:
        DataError: if there are none, or the system does not let them be seen.
    """
    try:
        return named_files(name, output, endings)
    except OSError as error:
        raise DataError(f"{error.filename or name}: cannot be accessed: {error.strerror}") from error


def named_files(name: str, output: Path | None, endings: Sequence[str]) -> list[Path]:
    """The same, with the errors of the system."""
    from glob import glob, has_magic

    if not name.strip():
        raise DataError("an empty name is given; give a file, or . for this folder")
    path = Path(name)
    if path.is_dir():
        return in_folder(path, endings if output is not None and output.resolve() == path.resolve() else ())
    if path.exists():
        return [path]
    if not has_magic(name):
        raise DataError(f"{name}: no such file")
    matches = [Path(match) for match in sorted(glob(name, recursive=True))]  # noqa: PTH207 - may be absolute
    files = [file for file in matches if file.is_file()]
    if not files:
        raise DataError(f"{name}: matches no file")
    return files


def in_folder(folder: Path, endings: Sequence[str] = ()) -> list[Path]:
    """Images, PDFs, and files that describe a page, which then stand for their images; results apart."""
    from drethtr.documents.beside import IMAGES, is_hidden

    files = sorted(file for file in folder.iterdir() if file.is_file() and not is_hidden(file))
    results = results_among(files, endings) | searchable_copies(files)
    files = [file for file in files if file not in results]
    described = described_images(files)
    readable = {*IMAGES, PDF}
    found = [file for file in files if file in described or file.suffix.lower() in {*readable, *UNREADABLE}]
    found = [file for file in found if file not in described.values()]
    if not found:
        endings = ", ".join(sorted(readable))
        raise DataError(f"{folder}: no images in this folder ({endings}){deeper(folder, readable)}")
    return found


def results_among(files: Sequence[Path], endings: Sequence[str]) -> set[Path]:
    """Those with the name of a result for an image or a PDF among them, or for one of its pages."""
    from drethtr.documents.beside import IMAGES, without_number

    results: set[Path] = set()
    for kinds in (IMAGES, (PDF,)):  # in this order, as a PDF may be the result for an image
        stems = {file.stem for file in files if file.suffix.lower() in kinds and file not in results}
        for file in files:
            names = [file.name.removesuffix(ending) for ending in endings if file.name.endswith(ending)]
            if file.suffix.lower() not in kinds and stems.intersection([*names, *map(without_number, names)]):
                results.add(file)
    return results


def searchable_copies(files: Sequence[Path]) -> set[Path]:
    """PDFs that drethtr made, beside the images of which it made them."""
    from drethtr.documents.beside import IMAGES
    from drethtr.images.page import made_here

    scans = {file.stem for file in files if file.suffix.lower() in IMAGES}
    return {file for file in files if file.suffix.lower() == PDF and file.stem in scans and made_here(file)}


def deeper(folder: Path, endings: Set[str]) -> str:
    """How to name the images in subfolders, if there are any."""
    from glob import escape, iglob

    pattern = f"{escape(str(folder))}/**/*"
    for name in iglob(pattern, recursive=True):  # noqa: PTH207 - as the pattern will be
        if (ending := Path(name).suffix).lower() in endings:
            return f"; subfolders are not read: name them, or give '{pattern}{ending}'"
    return ""


def described_images(files: Sequence[Path]) -> Mapping[Path, Path | None]:
    """For each file that is PAGE or ALTO, the image it describes; other XML, such as METS, is passed over.

    None where that image is missing. To a damaged file belongs the image of its name: who reads it says what is wrong.
    """
    from drethtr.documents.beside import DESCRIPTION, image_beside
    from drethtr.documents.read import read_page

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
    """Whether a file begins as PAGE or ALTO does, or cannot even be opened to see."""
    from drethtr.documents.read import load

    try:
        head = load(file)
    except DataError:
        return True
    return ROOT.search(head.replace(b"\0", b"")) is not None  # in UTF-16 every other byte is 0


def is_input(path: Path, inputs: Sequence[str]) -> bool:
    """Whether a file is read for one of the inputs: files, patterns, and folders, of which images are read."""
    from glob import glob

    from drethtr.documents.beside import IMAGES

    matches = [match for name in inputs for match in (name, *glob(name, recursive=True))]  # noqa: PTH207 - as typed
    found, place = {Path(match).resolve() for match in matches}, path.resolve()
    return place in found or (path.suffix.lower() in IMAGES and not found.isdisjoint(place.parents))
