"""What a worker does: load a model, read parts, write the results; and the base class of engines, which run workers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from drethtr.base.errors import ConfigError, DataError, DrethtrError
from drethtr.base.version import __version__
from drethtr.bulk.inputs import InputRow, Part, printable
from drethtr.bulk.output import Output
from drethtr.images.line import Line
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.packed import PackedLines

TRIES = 3
"""Attempts at a part whose workers are killed: one image may need more memory than there is, every time."""

MAX_UNWRITTEN = 3
"""Consecutive parts that a worker fails to write before it gives up: a busy store recovers, a full disk does not."""


class PartOutcome(NamedTuple):
    """The outcome of a part: how many rows it has, how many are unreadable or flagged, or why it is missing."""

    number: int
    rows: int
    bad: int = 0
    flagged: int = 0
    failure: str = ""


class OpenedRow(NamedTuple):
    """A row whose image was opened, and the size of the line in pixels."""

    row: InputRow
    width: int
    height: int


@dataclass(frozen=True)
class Work:
    """What a worker needs, sent to other processes and machines.

    load            creates the recognizer, on a `device` if it is given one; it must be picklable
    model, version  the model hash and package version required of every worker
    settings        of the job, as the folder of the output has them
    """

    load: Callable[..., Recognizer]
    output: Output
    model: str
    version: str
    settings: Mapping[str, Any]

    def begin(self) -> "PartReader":
        """Load the model.

        Raises:
            DrethtrError: if it cannot be loaded, or model or version differ from those of the job.
        """
        recognizer = self.load()
        # Machines of a cluster may have other installations, and one table must not mix the readings of two models.
        for what, found, wanted in (
            ("model", recognizer.model.hash, self.model),
            ("drethtr", __version__, self.version),
        ):
            if found != wanted:
                raise DrethtrError(f"a worker has {what} {found}, but the job uses {wanted}; they must be equal")
        return PartReader(recognizer, self.output, self.settings)


class Engine(ABC):
    """Distributes parts over processes or machines; it knows nothing about rows and files."""

    @abstractmethod
    def run(self, parts: Sequence[Part], work: Work) -> Iterator[PartOutcome]:
        """Read all parts, and yield the outcome of each as it finishes.

        Killed workers are replaced, and their parts are read again.

        Raises:
            DrethtrError: if no worker can start, or results cannot be written.
        """


@dataclass
class PartReader:
    """Reads parts one by one.

    settings   as of `Work`
    unwritten  consecutive parts that could not be written
    """

    recognizer: Recognizer
    output: Output
    settings: Mapping[str, Any]
    unwritten: int = 0

    def read(self, part: Part) -> PartOutcome:
        """Read a part and write the results; if it cannot be read or written, the outcome says why.

        Raises:
            DataError: if the results of `MAX_UNWRITTEN` consecutive parts cannot be written.
            ConfigError: if another job has begun in the folder of the output.
        """
        try:
            opened = map(self.opened, part.rows.read())
            rows = [self.row(*result) for result in self.recognizer.read_opened(opened)]
        except (DataError, OSError) as error:
            return lost(part, str(error))
        if len(rows) != part.rows.count:
            return lost(part, f"only {len(rows)} of them exist; the file has changed")
        try:
            self.refuse_other_job()
            self.output.write_part(part.name, rows)
        except DataError as error:
            self.unwritten += 1
            if self.unwritten == MAX_UNWRITTEN:
                raise
            return lost(part, str(error))
        self.unwritten = 0
        bad, flagged = (sum(bool(row[column]) for row in rows) for column in ("error", "flags"))
        return PartOutcome(part.number, len(rows), bad, flagged)

    def refuse_other_job(self) -> None:
        """Refuse to mix results with those of a job that has been begun in the same folder since, with `--force`.

        Raises:
            ConfigError: if there is one.
            DataError: if the folder cannot be read.
        """
        if self.output.job() != self.settings:
            raise ConfigError(
                f"{self.output.folder} is no longer for this job: it was removed, or another one was begun"
            )

    def opened(self, row: InputRow) -> tuple[OpenedRow, Line | DataError]:
        """A row without its image, and the line opened from the image."""
        line = self.recognizer.line_or_error(row.image)
        height, width = (0, 0) if isinstance(line, DataError) else line.shape
        # The encoded image is dropped here: rows wait in memory until their batch is read.
        return OpenedRow(row._replace(image=b""), width, height), line

    def row(self, opened: OpenedRow, result: Reading | DataError) -> dict[str, Any]:
        """The output row for a result."""
        row = opened.row
        values: dict[str, Any] = {"text": "", "confidence": None, "calibrated": None, "flags": [], "error": None}
        if isinstance(result, DataError):
            values["error"] = printable(str(result))
        else:
            values |= {name: getattr(result, name) for name in ("text", "confidence", "calibrated")}
            values["flags"] = [asdict(flag) for flag in result.flags]
        stamp: dict[str, Any] = {"model": self.recognizer.model.hash, "drethtr": __version__}
        if isinstance(result, Reading) and result.posteriors is not None:
            packed = PackedLines.of([result.posteriors]).content
            stamp |= {"posteriors": packed, "width": opened.width, "height": opened.height}
        return {"input": row.input, "row": row.number, **values, **stamp, **row.carried}


def lost(part: Part, reason: str) -> PartOutcome:
    """The outcome of a part that could not be read or written."""
    return PartOutcome(part.number, 0, failure=f"{part.rows.describe()}: {reason}")
