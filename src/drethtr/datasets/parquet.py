"""Parquet files of samples, with images stored as in Hugging Face `datasets`: rows in, and files out."""

import errno
import json
import reprlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from math import isnan
from os import SEEK_END
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from PIL import Image

from drethtr.base.credentials import without_credentials
from drethtr.base.errors import DataError, MissingExtraError
from drethtr.base.files import atomic_write
from drethtr.base.links import is_near
from drethtr.base.urls import beside, is_url, local_path, open_file, out_of_archive, reaching
from drethtr.datasets.growth import refuse_growth
from drethtr.datasets.sample import MAX_TEXT, Entry, LeftOut, Sample, content_of
from drethtr.documents.names import stored
from drethtr.text.normalize import Normalization

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "image": ("image", "im"),
    "text": ("text",),
    "lang": ("language", "lang"),
    "page": ("page",),
    "hand": ("hand", "shelfmark"),
    "kind": ("writing_type",),
    "set": ("set",),
    "id": ("id",),
    "clean": ("clean",),
}
"""Possible names of each column. A shelfmark is used as the hand, the closest information in CATMuS."""

REQUIRED = ("image", "text")

ROWS_READ = 256  # in memory at a time; an image of a line takes some ten kB

READ_AHEAD = 1 << 20
"""Bytes of a column to fetch at a time, instead of whole row groups."""

PASSING = ("EIO", "ESTALE", "EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EBUSY", "ETIMEDOUT", "EHOSTDOWN", "ENOTCONN")
NOT_NOW = frozenset(getattr(errno, name, 0) for name in PASSING)  # not all of them exist on every system
"""System errors that concern the connection or the system rather than the file."""

MAX_IMAGE_BYTES = 200_000_000
"""Maximum bytes of an encoded image, since a URL may never end. Most lines have a few thousand."""

ROWS_TOGETHER = 500
"""Rows of a row group that is written: few, since streamed training holds several groups in memory."""
STRINGS = ("text", "set", "lang", "page", "hand", "id")

STARTS = {b"\x89PNG": ".png", b"\xff\xd8": ".jpg", b"II*": ".tif", b"MM\0*": ".tif", b"RIFF": ".webp", b"BM": ".bmp"}
"""Extensions of image files, by their first bytes."""


@contextmanager
def open_parquet(name: str) -> Iterator["ParquetFile"]:
    """A Parquet file at a path or URL; errors while it is read are raised as `DataError`.

    Read it with `use_threads=False`: beside torch, a process that ends soon after arrow's threads may abort.

    Raises:
        DataError: if it is damaged, or unpacks to too much.
        MissingExtraError: without pyarrow.
    """
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError("pyarrow", "batch") from error
    try:
        with (
            reaching(name),
            open_file(name) as stream,
            ParquetFile(stream, buffer_size=READ_AHEAD, pre_buffer=False) as file,
        ):
            refuse_growth(file, name, stream.seek(0, SEEK_END))
            yield file
    except UnicodeDecodeError as error:
        raise DataError(f"contains text that is not UTF-8; rewrite the file: {error}", name) from error
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"cannot be read as Parquet: {error}", name) from error


def rows_in(
    file: "ParquetFile", name: str, groups: Sequence[int] | None = None, columns: Container[str] = COLUMNS
) -> Iterator[dict[str, Any]]:
    """The rows of an open file by our names of its columns, with the names of classes instead of their numbers.

    Args:
        file: The file, whose path or URL is `name`.
        groups: Only rows of these row groups.
        columns: Only cells of these columns, by our names.

    Raises:
        DataError: if a required column is missing, or one occurs twice.
    """
    theirs = {ours: column for ours, column in columns_in(file, name).items() if ours in columns}
    classes = class_names(file.schema_arrow.metadata or {})
    for batch in file.iter_batches(ROWS_READ, groups, list(theirs.values()), use_threads=False):
        for cells in batch.to_pylist():
            yield {ours: named_class(cells[column], classes.get(column, ())) for ours, column in theirs.items()}


def columns_in(file: "ParquetFile", name: str) -> dict[str, str]:
    """The names that a file gives to our columns.

    Raises:
        DataError: if a required column is missing, naming the existing ones, or if one occurs twice.
    """
    present = file.schema_arrow.names
    for column in (column for names in COLUMNS.values() for column in names):
        if present.count(column) > 1:
            raise DataError(f"has several columns {column!r}; rename all but one of them", name)
    found = {ours: next((column for column in names if column in present), "") for ours, names in COLUMNS.items()}
    if missing := [ours for ours in REQUIRED if not found[ours]]:
        raise DataError(f"no column {' or '.join(COLUMNS[missing[0]])}; it has {', '.join(present)}", name)
    return {ours: column for ours, column in found.items() if column}


def class_names(metadata: Mapping[bytes, bytes]) -> dict[str, Sequence[str]]:
    """The class names of integer-coded columns, if the file was written by `datasets`."""
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        named = {column: feature["names"] for column, feature in features.items() if "names" in feature}
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return {}
    return {column: names for column, names in named.items() if isinstance(names, list)}


def named_class(cell: Any, names: Sequence[str]) -> Any:
    """The name of the class of an integer-coded cell, None for -1 (unlabeled), or the cell itself."""
    if names and cell == -1:
        return None
    return names[cell] if isinstance(cell, int) and 0 <= cell < len(names) else cell


def entry_of(row: dict[str, Any], file: str, number: int, named_after: Path, normalize: Normalization) -> Entry:
    """The sample of a row from `rows_in`, counted from 0, or why the row cannot be used.

    Args:
        named_after: The place that names the set if the row does not; handwritten, printed and typed lines of a set
            are separate sets.
    """
    key = key_of(file, number)
    try:
        text, image = text_of(row["text"], key), image_of(row["image"], file, key)
        clean = is_clean(row.get("clean"), key)
    except DataError as error:
        return LeftOut(key, "unusable row", error.reason)
    except OSError as error:
        return LeftOut(key, "unusable row", str(error).removeprefix(f"{key}: "))
    named = word(row.get("set"))
    of_set = "_".join(filter(None, (named or named_after.name, word(row.get("kind")))))
    return Sample(
        image=image,
        text=normalize(text),
        set=of_set,
        language=word(row.get("lang")),
        page=word(row.get("page")),
        hand=word(row.get("hand")),
        clean=clean,
        key=key,
        id=word(row.get("id")),
        named_after=None if named else named_after.parent / of_set,
    )


def key_of(file: str, number: int) -> str:
    """The name of a row in messages."""
    return without_credentials(f"{file} row {number}")


def text_of(cell: Any, key: str) -> str:
    """The text in a cell.

    Raises:
        DataError: if it is not a string, or too long for a line.
    """
    if not isinstance(cell, str):
        raise DataError(f"text is {shortened(cell)}, not a string", key)
    if len(cell) > MAX_TEXT:
        raise DataError(f"text has {len(cell):,} characters, more than {MAX_TEXT:,}: a row is one line", key)
    return cell


def is_clean(cell: Any, key: str) -> bool:
    """Whether a cell marks its text as clean; an empty cell does.

    Raises:
        DataError: if it is not a boolean.
    """
    if cell in (None, 0, 1):  # which include false and true in Python
        return cell is None or bool(cell)
    raise DataError(f"clean is {shortened(cell)}; expected true, false, 1, 0 or nothing", key)


def shortened(cell: Any) -> str:
    """A cell for a message: it may hold a whole image, or a list of them."""
    return reprlib.repr(cell)


def word(cell: Any) -> str | None:
    """The name in a cell; pages and classes are often integers, and floats if the column has empty cells."""
    if isinstance(cell, float):
        cell = None if isnan(cell) else int(cell) if cell.is_integer() else cell
    return None if cell is None else str(cell)


def image_of(cell: Any, file: str, key: str) -> bytes | Path:
    """The encoded image in a cell of a file, or the result of `image_at` if the cell has a path or URL.

    A local table may not cause downloads, nor open files elsewhere; a table at a URL may name files at its own origin.

    Raises:
        DataError: also if there is no image.
        OSError: as `image_at`.
    """
    encoded = cell.get("bytes") if isinstance(cell, dict) else cell
    if isinstance(encoded, bytes):
        return encoded
    name = cell.get("path") if isinstance(cell, dict) else cell
    if not name:
        raise DataError("no image", key)
    if not isinstance(name, str):
        raise DataError(f"image is {shortened(name)}; expected bytes, a path, or a struct of both", key)
    place = beside(file, name)
    table, image = local_path(file), local_path(place)
    if table is None:
        if image is not None or origin(place) != origin(file):
            raise DataError(f"image {name} is not where its table is, {origin(file)}; download both", key)
    elif image is None or not is_near(image, table.parent):
        raise DataError(f"image {name} is neither in the folder of its table nor in the one above; put it there", key)
    return image_at(place, key)


def origin(url: str) -> str:
    """The scheme and the host, or bucket, of a URL; the archive that it is in, if it is."""
    _, archive = out_of_archive(url)
    return archive or "/".join(url.split("/", 3)[:3])


def image_at(place: str, key: str) -> bytes | Path:
    """The path of an image file that can be opened, or the content of a URL.

    Raises:
        DataError: if there is no such file, or it cannot be an image.
        OSError: if it cannot be read now, because of the network or the system.
    """
    if not is_url(place):
        path = Path(place)
        try:
            if not path.is_file():
                raise DataError(f"image {path} does not exist", key)
            with path.open("rb") as file:
                file.read(1)
        except OSError as error:
            if error.errno in NOT_NOW:
                raise OSError(f"{key}: image {path} cannot be read now: {error.strerror}") from error
            raise DataError(f"image {path} cannot be read: {error.strerror}", key) from error
        return path
    content = bytearray()
    try:
        with reaching(place), open_file(place) as stream:
            while len(content) <= MAX_IMAGE_BYTES and (more := stream.read(READ_AHEAD)):
                content += more
    except FileNotFoundError as error:
        raise DataError(f"image {place} does not exist", key) from error
    except OSError as error:
        raise OSError(f"{key}: image {place} cannot be read now: {error}") from error
    if len(content) > MAX_IMAGE_BYTES:
        raise DataError(f"{place} has more than {MAX_IMAGE_BYTES:,} bytes, too many for a line image", key)
    return bytes(content)


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
                # Opened here, since arrow cannot open files whose names are not UTF-8.
                stream = opened.enter_context(unfinished.open("wb"))
                self.writer = ParquetWriter(stream, self.schema, compression="none")
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
    """Write samples as rows that `open_samples` reads.

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
        "image": {"bytes": image, "path": stored(f"{sample.set}_{number:06}{ending}")},
        "text": sample.text,
        "set": stored(sample.set),
        "lang": sample.language,
        "page": sample.page and stored(sample.page),
        "hand": sample.hand,
        "id": sample.id and stored(sample.id),
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


def png_of(sample: Sample) -> bytes:
    """The line image as PNG."""
    stream = BytesIO()
    Image.fromarray(sample.line()).save(stream, "PNG")
    return stream.getvalue()
