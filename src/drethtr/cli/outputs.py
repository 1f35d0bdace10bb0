"""Files that a command is told to write: which names are refused, and what the files hold."""

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drethtr.base.errors import ConfigError, DataError
from drethtr.base.outputs import refuse_protected, write_bytes, write_text

if TYPE_CHECKING:
    from PIL import Image

FIGURES = "drethtr figures 1"
"""The value of `format` in every JSON file of figures."""


def refuse_places(*paths: Path | None) -> None:
    """Refuse a place where no file can be written, before the work for it is done."""
    for path in filter(None, paths):
        if not path.parent.is_dir():
            raise DataError(f"{path}: there is no folder {path.parent}")
        if path.is_dir():
            raise DataError(f"{path} is a folder; give a file to write")


def refuse_ending(picture: Path | None, *endings: str) -> None:
    """Refuse a picture whose name promises a format that is not written."""
    if picture is not None and picture.suffix.lower() not in endings:
        names = " or ".join(str(picture.with_suffix(ending)) for ending in endings)
        raise ConfigError(f"{picture}: pictures are written here as {' or '.join(endings)}; name it {names}")


def refuse_existing(*paths: Path | None, force: bool, inputs: Sequence[str] = ()) -> None:
    """Refuse to replace a file unless the user gives --force; inputs are never replaced."""
    from drethtr.pages.inputs import is_input

    for path in filter(None, paths):
        if path.exists() and is_input(path, inputs):
            raise DataError(f"{path} is an input; it cannot be overwritten")
        if path.exists() and not force:
            raise DataError(f"{path} exists; choose another output or use --force")
        refuse_protected(path)


def refuse_results(*paths: Path | None, force: bool, inputs: Sequence[str] = ()) -> None:
    """Refuse places for results: where no file can be written, or one exists that may not be replaced."""
    refuse_places(*paths)
    refuse_existing(*paths, force=force, inputs=inputs)


def write_json(path: Path, figures: Mapping[str, Any]) -> None:
    """Write figures for programs.

    Raises:
        DataError: if they cannot be written.
    """
    write_text(path, json.dumps({"format": FIGURES, **figures}, ensure_ascii=False, indent=1) + "\n")


def write_png(path: Path, picture: "Image.Image") -> None:
    """Write a picture that is whole or not there.

    Raises:
        DataError: if it cannot be written.
    """
    content = BytesIO()
    picture.save(content, "PNG")
    write_bytes(path, content.getvalue())
