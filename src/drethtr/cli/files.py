"""The files that commands read and write."""

from collections.abc import Sequence
from pathlib import Path

from drethtr.errors import DataError


def find_images(inputs: Sequence[str]) -> tuple[list[Path], list[DataError]]:
    """The image files that a person means by names of files, of folders and by patterns, each once.

    A name that leads nowhere is returned as an error, so that the others can still be read.
    """
    found: dict[Path, None] = {}
    errors = []
    for name in inputs:
        try:
            found |= dict.fromkeys(images_of(name))
        except DataError as error:
            errors.append(error)
    return list(found), errors


def images_of(name: str) -> list[Path]:
    """The image files of one file, folder or pattern, sorted.

    Raises:
        DataError: if there are none.
    """
    from glob import glob, has_magic

    from drethtr.data.sources.folder import IMAGES

    path = Path(name)
    if path.is_dir():
        images = sorted(file for file in path.iterdir() if file.suffix.lower() in IMAGES and file.is_file())
        if not images:
            raise DataError(f"{name}: no images in this folder ({', '.join(sorted(IMAGES))})")
        return images
    if path.exists():
        return [path]
    if not has_magic(name):
        raise DataError(f"{name}: no such file")
    matches = [Path(match) for match in sorted(glob(name, recursive=True))]  # noqa: PTH207 - may be absolute
    files = [file for file in matches if file.is_file()]
    if not files:
        raise DataError(f"{name}: matches no file")
    return files


def plan_outputs(images: Sequence[Path], folder: Path, ending: str, *, force: bool) -> dict[Path, Path]:
    """Where the result for each image goes: `folder`, under the image's name.

    Raises:
        DataError: if two images would share a file, or one exists and `force` is false.
    """
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file; --output is the folder to write to")
    owners: dict[Path, Path] = {}
    for image in images:
        path = folder / f"{image.stem}.{ending}"
        if (owner := owners.setdefault(path, image)) != image:
            raise DataError(f"{owner} and {image} would both be written to {path}; read them in two runs")
        if path.exists() and not force:
            raise DataError(f"{path} exists; choose another --output or give --force")
    return {image: path for path, image in owners.items()}


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file that is either whole or not there.

    Raises:
        DataError: if it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        unfinished.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from error
