"""Output files of commands: check their paths before any work is done, and write JSON and PNG."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drethtr.base.errors import ConfigError, DataError
from drethtr.base.files import make_folder, refuse_protected, write_bytes, write_text
from drethtr.cli.screen import echo

if TYPE_CHECKING:
    from PIL import Image

    from drethtr.datasets.layouts.layout import Layout

FIGURES = "drethtr figures 1"
"""The value of `format` in every JSON file of metrics."""


def refuse_places(*paths: Path | None) -> None:
    """Refuse paths where no file can be written."""
    for path in filter(None, paths):
        if not path.parent.is_dir():
            raise DataError(f"there is no folder {path.parent}", path)
        if path.is_dir():
            raise DataError(f"{path} is a folder; give a file to write")
        if not path.exists():
            make_folder(path.parent)  # or says that it is not writable


def refuse_ending(path: Path | None, *endings: str) -> None:
    """Refuse a file whose extension is not one of `endings`."""
    if path is not None and path.suffix.lower() not in endings:
        names = " or ".join(str(path.with_suffix(ending)) for ending in endings)
        raise ConfigError(f"the file name must end in {' or '.join(endings)}; name it {names}", path)


def refuse_existing(*paths: Path | None, force: bool, inputs: Sequence[str] = ()) -> None:
    """Refuse to replace a file without --force, and to replace an input at all."""
    for path in filter(None, paths):
        if path.exists():
            from drethtr.datasets.open import path_and_split
            from drethtr.pages.inputs import is_input

            # One may be a split, `lines.train.jsonl#train`.
            if is_input(path, [path_and_split(name)[0] for name in inputs]):
                raise DataError(f"{path} is an input, which is never overwritten; choose another output")
            if not force:
                raise DataError(f"{path} exists; choose another output or use --force")
        refuse_protected(path)


def refuse_among_tables(output: Path, source: Path, layout: "Layout") -> None:
    """Refuse a table in a folder of tables: it would replace one of them, or the next run would read it.

    Raises:
        DataError: if `source` is such a folder, and `output` inside it.
    """
    from drethtr.datasets.layouts.hugging_face import HuggingFace

    if isinstance(layout, HuggingFace) and output.resolve().is_relative_to(source.resolve()):
        raise DataError(f"{output} is inside {source}, where the next run would read it; write it elsewhere")


def refuse_results(*paths: Path | None, force: bool, inputs: Sequence[str] = ()) -> None:
    """Refuse paths of results: where no file can be written, one may not be replaced, or two would be the same."""
    refuse_places(*paths)
    places = [realpath(path) for path in paths if path is not None]
    if twice := [place for place in places if places.count(place) > 1]:
        raise ConfigError(f"two results would be written to {twice[0]}; give each a file of its own")
    refuse_existing(*paths, force=force, inputs=inputs)


@contextmanager
def printed_after(result: str) -> Iterator[None]:
    """Print a result after its files are written, or have failed: a full disk or a closed pipe costs one, not both."""
    try:
        yield
    finally:
        echo(result)


def write_json(path: Path, figures: Mapping[str, Any]) -> None:
    """Write metrics as JSON.

    Raises:
        DataError: if they cannot be written.
    """
    write_text(path, json.dumps({"format": FIGURES, **figures}, ensure_ascii=False, indent=1) + "\n")


def write_png(path: Path, picture: "Image.Image") -> None:
    """Write a picture atomically.

    Raises:
        DataError: if it cannot be written.
    """
    content = BytesIO()
    picture.save(content, "PNG")
    write_bytes(path, content.getvalue())
