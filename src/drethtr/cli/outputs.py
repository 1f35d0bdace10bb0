"""Places for results: which are refused, and files written there that are whole or not there."""

import json
import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from os import W_OK, X_OK, access
from pathlib import Path
from typing import TYPE_CHECKING, Any

import drethtr
from drethtr.base.atomic import atomic_write
from drethtr.base.errors import ConfigError, DataError
from drethtr.cli.inputs import is_input

if TYPE_CHECKING:
    from PIL import Image

FIGURES = "drethtr figures 1"
"""What every JSON file of figures says first."""

MADE_HERE = "<!-- made by drethtr -->\n"
"""How every chart and report begins; nobody sees it."""

EARLIER = {
    "json": re.compile(rb'\{\s*"format": "drethtr figures '),
    "png": re.compile(rb"\x89PNG.{0,99}tEXtSoftware\0drethtr", re.DOTALL),
    "svg": re.compile(MADE_HERE.encode() + rb"<svg "),
    "html": re.compile(MADE_HERE.encode() + rb"<!(?i:doctype) html>"),
    "md": re.compile(MADE_HERE.encode() + rb"# "),
}
"""How results of each kind begin; other files are not replaced by them."""

PICTURES = frozenset({"svg", "png"})
"""Kinds of results that are pictures, by their endings."""


def stem_of(path: Path) -> str:
    """What the outputs for a file are called, before their endings."""
    from drethtr.documents.beside import page_stem

    return page_stem(path)


def claim(owners: dict[Path, Path], path: Path, image: Path) -> None:
    """Note that the result for an image goes to `path`.

    Raises:
        DataError: if that of another one does.
    """
    if (owner := owners.setdefault(path, image)) != image:
        raise DataError(
            f"{owner} and {image} would both be written to {path}; read them in two runs, each into its own --output"
        )


def refuse_places(*paths: Path | None) -> None:
    """Refuse a place where no file can be written, before the work for it is done."""
    for path in filter(None, paths):
        if not path.parent.is_dir():
            raise DataError(f"{path}: there is no folder {path.parent}")
        if path.is_dir():
            raise DataError(f"{path} is a folder; name the file to write")


def refuse_ending(picture: Path | None, *endings: str) -> None:
    """Refuse a name that says another kind of picture than those that can be written."""
    if picture is not None and picture.suffix.lower() not in endings:
        names = " or ".join(str(picture.with_suffix(ending)) for ending in endings)
        raise ConfigError(f"{picture}: pictures are written here as {' or '.join(endings)}; name it {names}")


def refuse_existing(*paths: Path | None, force: bool, inputs: Sequence[str] = ()) -> None:
    """Refuse to replace what is there, unless a person says --force; inputs are never replaced."""
    for path in filter(None, paths):
        if path.exists() and is_input(path, inputs):
            raise DataError(f"{path} is an input; it cannot be overwritten")
        if path.exists() and not force:
            raise DataError(f"{path} exists; name another output or give --force")


def refuse_others(**results: Path | None) -> None:
    """Refuse places for results where no file can be written, or where one is that is not an earlier result.

    The kind of each result, of `EARLIER`, is its name here. Pictures must end in it, too.
    """
    refuse_places(*results.values())
    for kind in PICTURES & results.keys():
        refuse_ending(results[kind], f".{kind}")
    for kind, path in results.items():
        if path is not None and path.exists() and not is_earlier(path, kind):
            raise DataError(f"{path} exists and is not an earlier result of this kind; choose another name")


def is_earlier(path: Path, kind: str) -> bool:
    """Whether a file begins as results of a kind do."""
    from drethtr.documents.read import load

    return path.is_file() and EARLIER[kind].match(load(path)) is not None


def is_there(path: Path) -> bool:
    """Whether something has this name; what the system does not let be seen is not there, and fails when written."""
    try:
        return path.exists()
    except OSError:
        return False


def refuse_file(folder: Path) -> None:
    """Refuse a file where a folder for outputs is wanted."""
    if is_there(folder) and not folder.is_dir():
        raise DataError(f"{folder} is a file; name the folder to write to")


def make_folder(folder: Path) -> None:
    """Make a folder for outputs, if it is not there, and see that files can be written to it.

    Raises:
        DataError: if it cannot be made or written to, or a file is in its place.
    """
    refuse_file(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make the folder {folder}: {error.strerror}") from error
    if not access(folder, W_OK | X_OK):
        raise DataError(f"no files can be written to the folder {folder}; change its rights, or name another one")


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file that is either whole or not there; what UTF-8 lacks, as in odd file names, becomes `?`.

    Raises:
        DataError: if it cannot be written.
    """
    write_bytes(path, text.encode("utf-8", "replace"))


def write_json(path: Path, figures: Mapping[str, Any]) -> None:
    """Write figures for programs.

    Raises:
        DataError: if they cannot be written.
    """
    write_text(path, json.dumps({"format": FIGURES, **figures}, ensure_ascii=False, indent=1) + "\n")


def write_markup(path: Path, markup: str) -> None:
    """Write a chart or a report for people: SVG, HTML or Markdown.

    Raises:
        DataError: if it cannot be written.
    """
    write_text(path, MADE_HERE + markup)


def write_png(path: Path, picture: "Image.Image") -> None:
    """Write a picture that is either whole or not there.

    Raises:
        DataError: if it cannot be written.
    """
    from PIL.PngImagePlugin import PngInfo

    maker, content = PngInfo(), BytesIO()
    maker.add_text("Software", f"drethtr {drethtr.__version__}")
    picture.save(content, "PNG", pnginfo=maker)
    write_bytes(path, content.getvalue())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file that is either whole or not there, whatever stops the writing; one that it replaces lends its mode.

    Raises:
        DataError: if it cannot be written.
    """
    try:
        with atomic_write(path) as unfinished:
            unfinished.write_bytes(content)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from error
