"""The output folder: Parquet files, written atomically, and lists of unreadable rows.

The folder is one table, since readers of Parquet folders skip names that begin with `_` or `.`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import SEEK_END, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drethtr.base.errors import DataError, first_line
from drethtr.base.files import UNFINISHED, atomic_write, remove_unfinished, unfinished_name
from drethtr.base.links import open_ordinary
from drethtr.base.urls import Location, local_path, locate, reaching

if TYPE_CHECKING:
    from pyarrow import Schema, Table

JOB = "_job.json"
QUARANTINE = "_quarantine"
WRITTEN = re.compile(r"part-\d{6,}\.(parquet|jsonl)")
"""Names of the files of parts and of their unreadable rows."""

END = b"PAR1"
"""The last bytes of a complete Parquet file."""


def columns(carried: "Schema", *, posteriors: bool = False) -> "Schema":
    """The columns of the output.

    input, row      the input file and the row in it; each pair occurs once
    text            the reading, empty if there is an error
    confidence      expected share of correct characters; null if there is an error
    calibrated      whether confidences are calibrated probabilities
    flags           warnings about the line, with positions in pixels from the left
    error           why the row could not be read; otherwise null
    model, drethtr  hash of the model, version of the program

    With `posteriors`, for an index; null if there is an error:
    posteriors      probabilities of other characters (`PackedLines`)
    width, height   of the line in pixels
    """
    import pyarrow as pa

    flag = pa.struct([("kind", pa.string()), ("reason", pa.string()), ("left", pa.float32()), ("right", pa.float32())])
    own = [
        ("input", pa.string()),
        ("row", pa.int64()),
        ("text", pa.string()),
        ("confidence", pa.float64()),
        ("calibrated", pa.bool_()),
        ("flags", pa.list_(flag)),
        ("error", pa.string()),
        ("model", pa.string()),
        ("drethtr", pa.string()),
    ]
    for_index = [("posteriors", pa.binary()), ("width", pa.int32()), ("height", pa.int32())] if posteriors else []
    return pa.schema([*own, *for_index, *carried])


@dataclass(frozen=True)
class Output:
    """A folder, by path or URL, and the columns of its table, of which the last `carried` are copied from the input."""

    folder: str
    schema: "Schema"
    carried: int = 0

    def at(self, *names: str) -> Location:
        """The folder, or a path in it."""
        system, path = locate(self.folder)
        return Location(system, "/".join((path.rstrip("/"), *names)))

    def write_part(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write a part, its list of unreadable rows first, so that a finished part is never without it.

        Raises:
            DataError: if it cannot be written.
        """
        from pyarrow.parquet import write_table

        table = BytesIO()
        write_table(self.table(rows), table)
        bad = [{"input": row["input"], "row": row["row"], "error": row["error"]} for row in rows if row["error"]]
        if bad:
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in bad)
            self.write(lines.encode(), QUARANTINE, f"{name}.jsonl")
        else:
            self.remove(QUARANTINE, f"{name}.jsonl")  # from an attempt that was killed before the images were fixed
        self.write(table.getvalue(), f"{name}.parquet")

    def table(self, rows: Sequence[Mapping[str, Any]]) -> "Table":
        """Rows as a table. Carried values are arrays of length 1, since pyarrow scalars lack some types and nulls."""
        import pyarrow as pa

        own = len(self.schema) - self.carried
        table = pa.Table.from_pylist(list(rows), pa.schema(list(self.schema)[:own]))
        for carried in list(self.schema)[own:]:
            table = table.append_column(carried, pa.concat_arrays([row[carried.name] for row in rows]))
        return table

    @contextmanager
    def doing(self, what: str, *names: str) -> Iterator[Location]:
        """The folder, or a path in it, for a block that does something there.

        Raises:
            DataError: naming the path, for errors of the file system, of which remote ones have some of their own.
        """
        place = self.at(*names)
        try:
            with reaching(self.folder):
                yield place
        except OSError as error:
            raise DataError(f"cannot be {what}: {first_line(error)}", place.path) from error

    def write(self, content: bytes, *names: str) -> None:
        """Write a file atomically; concurrent writers of the same file all succeed, and the last one wins."""
        from fsspec.implementations.local import LocalFileSystem

        with self.doing("written", *names) as (system, path):
            if isinstance(system, LocalFileSystem):  # moving a file is not atomic on Windows
                with atomic_write(Path(path)) as whole:
                    whole.write_bytes(content)
                return
            folder = path.rpartition("/")[0]
            unfinished = f"{folder}/{unfinished_name()}"
            system.makedirs(folder, exist_ok=True)
            system.pipe_file(unfinished, content)
            system.mv(unfinished, path)

    def remove(self, *names: str) -> None:
        """Remove a file, if it exists."""
        with self.doing("removed", *names) as (system, path), suppress(FileNotFoundError):  # removed by another process
            if system.exists(path):
                system.rm_file(path)

    def names(self, *below: str) -> list[str]:
        """The names of the files in the folder, or in a subfolder."""
        with self.doing("listed", *below) as (system, path):
            system.invalidate_cache()
            try:
                return [str(entry).rpartition("/")[2] for entry in system.ls(path, detail=False)]
            except FileNotFoundError:
                return []

    def parts(self) -> set[str]:
        """The names of the finished parts."""
        return {name.removesuffix(".parquet") for name in self.names() if name.endswith(".parquet")}

    def is_cut_short(self, name: str) -> bool:
        """Whether the file of a finished part lacks its end, as after an interrupted copy.

        Always False for a remote folder, where it would take a request per part, and files are complete or absent.

        Raises:
            DataError: if it cannot be read.
        """
        if (folder := local_path(self.folder)) is None:
            return False
        file = f"{name}.parquet"
        with self.doing("read", file), open_ordinary(folder / file) as part:
            part.seek(max(part.seek(0, SEEK_END) - len(END), 0))
            return part.read() != END

    def part(self, name: str) -> bytes:
        """The content of a finished part.

        Raises:
            DataError: if it cannot be read.
        """
        with self.doing("read", f"{name}.parquet") as (system, path):
            content: bytes = system.cat_file(path)
        return content

    def job(self) -> dict[str, Any] | None:
        """The settings of the job in this folder; None if there is none yet.

        Raises:
            DataError: if they are damaged.
        """
        with self.doing("read", JOB) as (system, path):
            try:  # not from the list of all parts, since this is called for each of them
                content = system.cat_file(path)
            except FileNotFoundError:
                return None
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise DataError(f"cannot be read: {first_line(error)}", path) from error
        if not isinstance(found, dict):
            raise DataError("has no settings of a job", path)
        return found

    def quarantined(self) -> int:
        """Number of unreadable rows of the finished parts."""
        there = self.parts()
        kept = [name for name in self.names(QUARANTINE) if name.removesuffix(".jsonl") in there]
        with self.doing("read", QUARANTINE) as (system, path):
            return sum(system.cat_file(f"{path}/{name}").count(b"\n") for name in kept)

    def clear(self, *, everything: bool) -> None:
        """Remove temporary files of killed workers, or `everything` that a job has written; nothing else.

        On remote storage, temporary files of running workers look the same, so none may be running. The settings are
        removed last, so that after an interruption the folder is still recognized as a job.
        """
        from fsspec.implementations.local import LocalFileSystem

        for below in ((QUARANTINE,), ()):
            system, path = self.at(*below)
            if isinstance(system, LocalFileSystem):
                remove_unfinished(Path(path))
            for name in sorted(self.names(*below), key=lambda name: name == JOB):
                written = name == JOB or WRITTEN.fullmatch(name)
                unfinished = UNFINISHED.fullmatch(name) and not isinstance(system, LocalFileSystem)
                if unfinished or (everything and written):
                    self.remove(*below, name)
