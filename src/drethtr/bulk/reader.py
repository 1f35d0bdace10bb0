"""What a worker does: hold a model, read parts, write them."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from drethtr.base.errors import DataError, DrethtrError
from drethtr.base.version import __version__
from drethtr.bulk.output import Output
from drethtr.bulk.plan import Part
from drethtr.bulk.rows import InputRow, printable
from drethtr.images.line import Line, is_line_shaped, name_of, page_for_line
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer


class PartOutcome(NamedTuple):
    """What became of the part of this number: its rows, how many are bad or flagged, or why it is not there."""

    number: int
    rows: int
    bad: int = 0
    flagged: int = 0
    failure: str = ""


@dataclass(frozen=True)
class Work:
    """All that a worker must know; it travels to other processes and machines.

    load            makes the recognizer anew, and can be pickled
    model, version  hash of the model and version of this package that all workers must have
    """

    load: Callable[[], Recognizer]
    output: Output
    model: str
    version: str

    def begin(self) -> "PartReader":
        """Load the model.

        Raises:
            DrethtrError: if it cannot be loaded, or is another one than that of the job.
        """
        recognizer = self.load()
        for what, found, wanted in (
            ("model", recognizer.model.hash, self.model),
            ("drethtr", __version__, self.version),
        ):
            if found != wanted:
                raise DrethtrError(f"a worker has {what} {found}, but the job is for {wanted}; give it the same")
        return PartReader(recognizer, self.output)


@dataclass(frozen=True)
class PartReader:
    """Reads parts, one after another."""

    recognizer: Recognizer
    output: Output

    def read(self, part: Part) -> PartOutcome:
        """Read a part and write it.

        Raises:
            DataError: if it cannot be written. That it cannot be read is in the outcome.
        """
        try:
            lines = ((row._replace(image=b""), self.line_of(row.image)) for row in part.rows.read())
            found = [self.row(*result) for result in self.recognizer.read_opened(lines)]
        except (DataError, OSError) as error:
            return lost(part, str(error))
        if len(found) != part.rows.count:
            return lost(part, f"only {len(found)} of them are there; the file has changed")
        self.output.write_part(part.name, found)
        bad, flagged = (sum(bool(row[column]) for row in found) for column in ("error", "flags"))
        return PartOutcome(part.number, len(found), bad, flagged)

    def line_of(self, image: bytes | Path | DataError) -> Line | DataError:
        """The line of an image, or the reason why there is none; a page is none."""
        line = self.recognizer.line_or_error(image)
        if isinstance(image, DataError) or isinstance(line, DataError):
            return line
        height, width = line.shape
        if is_line_shaped(width, height):
            return line
        return page_for_line(name_of(image), "drethtr transcribe reads pages")

    def row(self, row: InputRow, result: Reading | DataError) -> dict[str, Any]:
        """An output row."""
        values = refused(result) if isinstance(result, DataError) else told(result)
        stamp = {"model": self.recognizer.model.hash, "drethtr": __version__}
        return {"input": row.input, "row": row.number, **values, **stamp, **row.carried}


def lost(part: Part, reason: str) -> PartOutcome:
    """The outcome of a part that is not there."""
    return PartOutcome(part.number, 0, failure=f"{part.rows.describe()}: {reason}")


def told(reading: Reading) -> dict[str, Any]:
    """What is known of a line that was read."""
    return {
        "text": reading.text,
        "confidence": reading.confidence,
        "calibrated": reading.calibrated,
        "flags": [asdict(flag) for flag in reading.flags],
        "error": None,
    }


def refused(error: DataError) -> dict[str, Any]:
    """What is known of a line that could not be read."""
    return {"text": "", "confidence": None, "calibrated": None, "flags": [], "error": printable(str(error))}
