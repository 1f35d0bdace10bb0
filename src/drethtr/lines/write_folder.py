"""Write samples to a folder, each as an image beside its text, for people to look at."""

import re
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.base.files import atomic_write
from drethtr.lines.sample import Sample
from drethtr.lines.write_parquet import png_of

WRITTEN = re.compile(r"\d{6,}\.(png|gt\.txt)", re.ASCII)


def store_folder(samples: Iterable[Sample], folder: Path) -> None:
    """Write samples in the form that `read_folder` reads: `000000.png` beside `000000.gt.txt`, and so on.

    Files of an earlier call are removed once the first sample is made.

    Raises:
        DataError: if the folder cannot be written.
    """
    made = ((png_of(sample), sample.text + "\n") for sample in samples)
    first = list(islice(made, 1))  # errors that affect all samples show up here
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
