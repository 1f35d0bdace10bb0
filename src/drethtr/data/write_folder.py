"""Samples written to a folder, each an image beside its text, for people to look at."""

import re
from collections.abc import Iterable
from pathlib import Path

from drethtr.data.sample import Sample
from drethtr.data.write_parquet import png_of
from drethtr.errors import DataError

WRITTEN = re.compile(r"\d{6,}\.(png|gt\.txt)", re.ASCII)


def store_folder(samples: Iterable[Sample], folder: Path) -> None:
    """Write samples as `read_folder` reads them: `000000.png` beside `000000.gt.txt`, and so on.

    What an earlier call wrote to the folder is removed first.

    Raises:
        DataError: if the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if WRITTEN.fullmatch(path.name):
                path.unlink()
        for number, sample in enumerate(samples):
            (folder / f"{number:06}.png").write_bytes(png_of(sample))
            (folder / f"{number:06}.gt.txt").write_text(sample.text + "\n", encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {folder}: {error}") from error
