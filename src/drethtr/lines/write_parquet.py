"""Write samples to a Parquet file, with images stored as in Hugging Face `datasets`."""

import json
from collections.abc import Iterable
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from PIL import Image

from drethtr.base.errors import DataError, MissingExtraError
from drethtr.base.files import atomic_write
from drethtr.lines.sample import Sample, content_of

ROWS_TOGETHER = 500
STRINGS = ("text", "set", "lang", "page", "hand", "id")


class ParquetStore:
    """A Parquet file that samples are added to; it appears under its name only when complete.

    Raises:
        DataError: if the file cannot be written.
        MissingExtraError: without pyarrow.
    """

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow as pa
            from pyarrow.parquet import ParquetWriter
        except ImportError as error:
            raise MissingExtraError("pyarrow", "batch") from error
        image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        fields = [("image", image), *((name, pa.string()) for name in STRINGS), ("clean", pa.bool_())]
        self.schema = pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features()}})})
        self.path = path
        self.rows: list[dict[str, Any]] = []
        self.lines = 0
        try:
            with ExitStack() as opened:
                unfinished = opened.enter_context(atomic_write(path))
                self.writer = ParquetWriter(unfinished, self.schema, compression="none")
                opened.push(self.finish)
                self.opened = opened.pop_all()
        except OSError as error:
            raise DataError(f"cannot be written: {error}", path) from error

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        self.rows.append(row_of(sample, self.lines))
        self.lines += 1
        if len(self.rows) == ROWS_TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows."""
        import pyarrow as pa

        try:
            self.writer.write_table(pa.Table.from_pylist(self.rows, self.schema))
        except OSError as error:
            raise DataError(f"cannot be written: {error}", self.path) from error
        self.rows = []

    def finish(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the file, after writing the buffered rows unless there was an error."""
        try:
            if kind is None and self.rows:
                self.flush()
        finally:
            self.writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.opened.__exit__(kind, error, trace)
        except OSError as failed:
            raise DataError(f"cannot be written: {failed}", self.path) from failed


def store_parquet(samples: Iterable[Sample], path: Path) -> None:
    """Write samples in the form that `read_parquet` reads.

    Raises:
        DataError: if the file cannot be written.
        MissingExtraError: without pyarrow.
    """
    with ParquetStore(path) as store:
        for sample in samples:
            store.add(sample)


def features() -> dict[str, dict[str, str]]:
    """The types of the columns for Hugging Face `datasets`."""
    strings = {name: {"_type": "Value", "dtype": "string"} for name in STRINGS}
    return {"image": {"_type": "Image"}, **strings, "clean": {"_type": "Value", "dtype": "bool"}}


def row_of(sample: Sample, number: int) -> dict[str, Any]:
    """One row of the table."""
    image, ending = encoded(sample)
    return {
        "image": {"bytes": image, "path": f"{sample.set}_{number:06}{ending}"},
        "text": sample.text,
        "set": sample.set,
        "lang": sample.language,
        "page": sample.page,
        "hand": sample.hand,
        "id": sample.id,
        "clean": sample.clean,
    }


def encoded(sample: Sample) -> tuple[bytes, str]:
    """The image as stored, and its file extension: encoded images keep their bytes, pixels become PNG.

    Raises:
        DataError: naming the sample, if its file cannot be read.
    """
    if isinstance(sample.image, bytes):
        return sample.image, ending_of(sample.image)
    if isinstance(sample.image, Path):
        return content_of(sample.image, sample.key), sample.image.suffix
    return png_of(sample), ".png"


def ending_of(image: bytes) -> str:
    """The usual extension of a file with this content, judged by its first bytes."""
    return next((ending for start, ending in STARTS.items() if image.startswith(start)), ".img")


STARTS = {b"\x89PNG": ".png", b"\xff\xd8": ".jpg", b"II*": ".tif", b"MM\0*": ".tif", b"RIFF": ".webp", b"BM": ".bmp"}


def png_of(sample: Sample) -> bytes:
    """The line image as PNG."""
    stream = BytesIO()
    Image.fromarray(sample.line()).save(stream, "PNG")
    return stream.getvalue()
