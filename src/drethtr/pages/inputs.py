"""Find the files to read: names of files and folders, patterns, ZIP files and addresses become paths."""

import os
from collections.abc import Callable, Mapping, Sequence, Set
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from drethtr.base.archive import is_archive, unpack_once
from drethtr.base.cache import ADDRESS, as_name, place_of
from drethtr.base.errors import DataError
from drethtr.base.files import is_folder, is_there, leads_nowhere, write_bytes
from drethtr.base.urls import as_address, is_address, is_url, parts_of
from drethtr.documents.beside import (
    DESCRIPTION,
    IMAGES,
    PDF,
    SEVERAL,
    image_beside,
    page_stem,
    part_of,
    visible_below,
    walk_visible,
    without_number,
)
from drethtr.documents.formats import FORMATS
from drethtr.documents.read import SPACE, by_trust, first_bytes
from drethtr.pages.catalog import Catalog, Facts, Kind
from drethtr.pages.record import RECORD

READABLE = frozenset({*IMAGES, PDF})
"""Extensions of files with images of pages."""

TRANSCRIPTIONS = frozenset({DESCRIPTION, ".txt", ".tsv", ".jsonl"})
"""Extensions of files with transcriptions."""

SAYS_NOTHING = frozenset({"manifest", "mets", "iiif", "presentation", "api", "info", "default"})
"""Parts of addresses that do not distinguish the volumes of a library."""

BEGINNINGS = ((b"{", ".json"), (b"<", ".xml"), (b"%PDF", PDF))
"""First bytes of files, with the extensions of their names."""


def find_inputs(
    inputs: Sequence[str],
    output: Path | None = None,
    endings: Sequence[str] = (),
    *,
    recursive: bool = False,
    catalog: Catalog | None = None,
) -> tuple[list[Path], list[DataError]]:
    """The files of some inputs, each once, and an error for every input that cannot be used.

    Args:
        inputs: Names of files and folders, patterns, and addresses, which are fetched; ZIP files are unpacked.
        output: A folder for results. If it is also an input, results of an earlier run are not inputs.
        endings: Extensions of those results.
        recursive: Include subfolders.
        catalog: Knows what files are; by default they are opened.
    """
    catalog = catalog or Catalog()
    found: dict[Path, None] = {}
    errors: list[DataError] = []
    for name in inputs:
        try:
            if recursive and is_folder(Path(name)):
                found |= dict.fromkeys(in_tree(Path(name), output, endings, errors.append, catalog))
            else:
                found |= dict.fromkeys(files_of_input(name, output, endings, catalog))
        except DataError as error:
            errors.append(error)
    return list(found), errors


def files_of_input(
    name: str, output: Path | None = None, endings: Sequence[str] = (), catalog: Catalog | None = None
) -> list[Path]:
    """The files of one input, sorted; see `find_inputs`.

    Raises:
        DataError: if there are none, or they cannot be accessed.
    """
    try:
        return named_files(name, output, endings, catalog or Catalog())
    except OSError as error:
        raise DataError(f"cannot be accessed: {error.strerror}", error.filename or name) from error


def named_files(name: str, output: Path | None, endings: Sequence[str], catalog: Catalog) -> list[Path]:
    """The files of one input; errors of the file system are not converted.

    Raises:
        DataError: if there are none.
        OSError: if they cannot be accessed.
    """
    if not name.strip():
        raise DataError("an input name is empty; give a file, or . for this folder")
    if is_address(name):
        return [file_at(as_address(name))]
    path = Path(name)
    if path.is_dir():
        return in_folder(path, endings if is_same(path, output) else (), catalog)
    if path.exists():
        if path.suffix.lower() == ".parquet":
            raise DataError(
                "is a table of lines, not of pages; drethtr batch reads it, with --posteriors for drethtr index", name
            )
        return in_archive(path, catalog) if is_archive(path) else [path]
    if is_url(name):
        raise DataError("only http:// and https:// addresses can be read; give a path, or download it first", name)
    if not has_magic(name):
        raise DataError("no such file or folder", name)
    matches = [Path(match) for match in sorted(glob(name, recursive=True))]  # noqa: PTH207 - may be absolute
    files = [file for file in matches if file.is_file() or leads_nowhere(file)]
    if not files:
        raise DataError("matches no file", name)
    return [inside for file in files for inside in (in_archive(file, catalog) if is_archive(file) else [file])]


def in_tree(
    top: Path, output: Path | None, endings: Sequence[str], report: Callable[[DataError], object], catalog: Catalog
) -> list[Path]:
    """The files of a folder and its subfolders, except hidden ones and the one for results; see `pages_in`.

    Args:
        report: Called with folders that cannot be opened.

    Raises:
        DataError: if there is nothing.
    """
    found: list[Path] = []

    def refused(error: OSError) -> None:
        report(DataError(f"cannot be accessed: {error.strerror}", error.filename))

    for name, below, _ in os.walk(top, onerror=refused):
        folder = Path(name)
        results = None if output is None else output / folder.relative_to(top)
        below[:] = sorted(part for part in below if not part.startswith(".") and not is_same(folder / part, output))
        found += pages_in(folder, endings if is_same(folder, results) else (), catalog)
    if not found:
        raise DataError(f"no images in this folder or below it ({', '.join(sorted(READABLE))})", top)
    return found


def is_same(folder: Path, other: Path | None) -> bool:
    """Whether two paths are the same folder."""
    return other is not None and folder.resolve() == other.resolve()


def in_folder(folder: Path, endings: Sequence[str], catalog: Catalog) -> list[Path]:
    """The files of a folder; see `pages_in`.

    Raises:
        DataError: if there is nothing.
    """
    if found := pages_in(folder, endings, catalog):
        return found
    some_below = are_below(folder, READABLE | {DESCRIPTION})
    there = "; subfolders have some: read them with --recursive" if some_below else ""
    raise DataError(f"no images in this folder ({', '.join(sorted(READABLE))}), nor PAGE or ALTO files{there}", folder)


def pages_in(folder: Path, endings: Sequence[str], catalog: Catalog) -> list[Path]:
    """Images, PDFs, and descriptions of pages, which replace their images; without results of earlier runs."""
    files = catalog.folders.files(folder)
    # Results of an earlier run may lie beside the scans; read as inputs, they would multiply with each run.
    results = results_among(files, endings) | searchable_copies(files, catalog)
    results |= lesser_copies(files, results, catalog)
    return to_read([file for file in files if file not in results], catalog)


def in_archive(path: Path, catalog: Catalog) -> list[Path]:
    """The files of a ZIP file, including subfolders, unpacked into a folder of this process.

    Raises:
        DataError: if there is nothing, or it cannot be unpacked.
    """
    files = [file for file in visible_below(unpack_once(path)) if file.is_file()]
    found = to_read(files, catalog)
    if not found:
        raise DataError(f"no images in this ZIP file ({', '.join(sorted(READABLE))})", path)
    return found


def to_read(files: Sequence[Path], catalog: Catalog) -> list[Path]:
    """Images, PDFs, and descriptions of pages, which replace their images; of several for a page, the best."""
    described = described_images(files, catalog)
    images, best = set(described.values()), best_descriptions(described, catalog)
    return [file for file in files if file in best or (file.suffix.lower() in READABLE and file not in images)]


def best_descriptions(described: Mapping[Path, Path | None], catalog: Catalog) -> set[Path]:
    """The best file of each page, and all files without an image; of equally good ones, the first."""
    best: dict[tuple[Path, str], Path] = {}
    for file in sorted(described, key=lambda file: by_trust(file, catalog.is_ours(file))[:2]):
        if (image := described[file]) is not None:
            best.setdefault((image, page_stem(file) if image.suffix.lower() in SEVERAL else ""), file)
    return {*best.values(), *(file for file, image in described.items() if image is None)}


def results_among(files: Sequence[Path], endings: Sequence[str]) -> set[Path]:
    """Files with the name of a result for another of the files, or for one of its pages."""
    results: set[Path] = set()
    if not endings:
        return results
    for kinds in (IMAGES, (PDF,)):  # in this order, as a PDF may be the result for an image
        stems = {file.stem for file in files if file.suffix.lower() in kinds and file not in results}
        for file in files:
            names = [file.name.removesuffix(ending) for ending in endings if file.name.endswith(ending)]
            if file.suffix.lower() not in kinds and stems.intersection([*names, *map(without_number, names)]):
                results.add(file)
    return results


def lesser_copies(files: Sequence[Path], results: Set[Path], catalog: Catalog) -> set[Path]:
    """ALTO files of ours beside results in PAGE: a scan is not replaced by the worse of its files."""
    page, alto = FORMATS["page"].ending, FORMATS["alto"].ending
    pages = {file: file.with_name(file.name.removesuffix(alto) + page) for file in files if file.name.endswith(alto)}
    return {file for file, of_page in pages.items() if of_page in results and catalog.is_ours(file)}


def searchable_copies(files: Sequence[Path], catalog: Catalog | None = None) -> set[Path]:
    """PDFs that drethtr made, if the images or files that they were made from are also among the files."""
    if not (pdfs := [file for file in files if file.suffix.lower() == PDF]):
        return set()
    scans = {file.stem for file in files if file.suffix.lower() in IMAGES}
    files_of_pages = scans | {file.stem for file in pdfs}
    copies = [file for file in pdfs if file.stem in scans or part_of(file.stem) in files_of_pages]
    return set(filter((catalog or Catalog()).is_ours, copies))


def are_below(top: Path, endings: Set[str], output: Path | None = None) -> bool:
    """Whether subfolders have files of these kinds; hidden folders and those of results do not count."""

    def is_of_results(folder: Path) -> bool:
        return is_same(folder, output) or is_there(folder / RECORD)

    for here, entries in walk_visible(top):
        between = [folder for folder in (here, *here.parents) if folder != top and folder.is_relative_to(top)]
        has_some = between and any(Path(entry.name).suffix.lower() in endings for entry in entries)
        if has_some and not any(map(is_of_results, between)):
            return True
    return False


def described_images(files: Sequence[Path], catalog: Catalog) -> Mapping[Path, Path | None]:
    """Each PAGE or ALTO file with its image, None if that is missing; other XML, such as METS, is left out.

    A damaged file is matched with the image of the same name, so that the error is reported when it is read.
    """
    described: dict[Path, Path | None] = {}
    for file in files:
        if file.suffix.lower() != DESCRIPTION:
            continue
        try:
            facts = catalog.facts(file)
        except DataError:
            facts = Facts(Kind.DESCRIPTION)
        if facts.kind is not Kind.DESCRIPTION:
            continue
        try:
            described[file] = image_beside(file, facts.image, catalog.folders.find, catalog.images)
        except DataError:
            described[file] = None
    return described


def is_input(path: Path, inputs: Sequence[str]) -> bool:
    """Whether one of the inputs includes a file: files, patterns, and folders of images and transcriptions."""
    matches = [match for name in inputs for match in (name, *glob(name, recursive=True))]  # noqa: PTH207 - as typed
    found, place = {Path(match).resolve() for match in matches}, path.resolve()
    in_folders = path.suffix.lower() in {*IMAGES, PDF, *TRANSCRIPTIONS}
    return place in found or (in_folders and not found.isdisjoint(place.parents))


def file_at(address: str) -> Path:
    """Fetch the file at an address into the user's cache folder; an unchanged file is left as it is.

    Raises:
        DataError: if it cannot be fetched.
    """
    from drethtr.base import web  # with all of HTTP behind it

    content = web.WEB.fetch([address])
    path = place_of(address, stem_of(address) + ending_of(address, content))
    if not (is_there(path) and first_bytes(path, len(content) + 1) == content):
        write_bytes(path.with_name(ADDRESS), address.encode())
        write_bytes(path, content)
    return path


def stem_of(address: str) -> str:
    """The name for results: the last part of an address that distinguishes the volume from others of its library."""
    parts = parts_of(unquote(address))
    names = [PurePosixPath(part).stem for part in parts.path.split("/") if part]
    telling = [name for name in names if name.lower() not in SAYS_NOTHING]
    if parts.query and names and names[-1].lower() in SAYS_NOTHING:
        telling.append(parts.query)
    return as_name(telling[-1] if telling else parts.hostname or "") or "volume"


def ending_of(address: str, content: bytes) -> str:
    """The extension of a file: by its content, else as in its address."""
    begin = content[:64].lstrip(SPACE + b"\xef\xbb\xbf")
    kind = next((ending for head, ending in BEGINNINGS if begin.startswith(head)), None)
    return kind or PurePosixPath(parts_of(address).path).suffix or ".jpg"
