"""Samples written to a Parquet file, with images as Hugging Face `datasets` stores them."""

import json
from collections.abc import Iterable
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image

from drethtr.data.sample import Sample
from drethtr.errors import DataError, MissingExtraError

ROWS_TOGETHER = 500
STRINGS = ("text", "set", "lang", "page", "hand")


def store_parquet(samples: Iterable[Sample], path: Path) -> None:
    """Write samples as `read_parquet` reads them; the file appears under its name only when complete.

    Raises:
        DataError: if the file cannot be written.
        MissingExtraError: without pyarrow.
    """
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise MissingExtraError("pyarrow", "train") from error
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    fields = [("image", image), *((name, pa.string()) for name in STRINGS), ("clean", pa.bool_())]
    schema = pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features()}})})
    unfinished = path.with_name(f".{path.name}.unfinished")
    rows = (row_of(sample, number) for number, sample in enumerate(samples))
    try:
        with ParquetWriter(unfinished, schema, compression="none") as writer:
            while some := list(islice(rows, ROWS_TOGETHER)):
                writer.write_table(pa.Table.from_pylist(some, schema))
        unfinished.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def features() -> dict[str, dict[str, str]]:
    """What the columns mean to Hugging Face `datasets`."""
    strings = {name: {"_type": "Value", "dtype": "string"} for name in STRINGS}
    return {"image": {"_type": "Image"}, **strings, "clean": {"_type": "Value", "dtype": "bool"}}


def row_of(sample: Sample, number: int) -> dict[str, Any]:
    """One row of the table."""
    return {
        "image": {"bytes": png_of(sample), "path": f"{sample.set}_{number:06}.png"},
        "text": sample.text,
        "set": sample.set,
        "lang": sample.language,
        "page": sample.page,
        "hand": sample.hand,
        "clean": sample.clean,
    }


def png_of(sample: Sample) -> bytes:
    """The line image as PNG."""
    stream = BytesIO()
    Image.fromarray(sample.line()).save(stream, "PNG")
    return stream.getvalue()
