"""A trained model, ready to read: line images in, readings out.

Every metric of the package comes through here: validation, test and users' lines are read by the same code.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import NoReturn, Self, TypedDict, TypeVar

import numpy as np
from PIL import Image

from drethtr.base.config import check_number
from drethtr.base.errors import CheckpointError, ConfigError, DataError, or_error
from drethtr.base.processors import free_processors
from drethtr.documents.document import Provenance
from drethtr.images.line import ImageSource, Line, is_line_shaped, name_of, open_line, page_for_line
from drethtr.language.languages import ALL_LANGUAGES, choose_languages
from drethtr.recognition.backends import AUTO, open_network
from drethtr.recognition.batching import in_groups
from drethtr.recognition.confidence.calibration import Calibration
from drethtr.recognition.confidence.checks import Observation
from drethtr.recognition.confidence.evidence import Features, feature_count, line_features
from drethtr.recognition.confidence.ink import Ink
from drethtr.recognition.decoding.strategies import (
    CTC,
    MAX_ALTERNATIVES,
    Greedy,
    Strategy,
    decoder_name,
    strategy_named,
)
from drethtr.recognition.model.adapter import load_named
from drethtr.recognition.model.file import SHIPPED, Model
from drethtr.recognition.pieces import PieceReader, ReadPiece, reading_of, stitch
from drethtr.recognition.posteriors import Posteriors, joined
from drethtr.recognition.protocol import Network, Precision, precision_named
from drethtr.recognition.reading import DOUBTFUL, Reading, Readings

Item = TypeVar("Item")

SINGLE = (str, bytes, Path, Image.Image, np.ndarray)
"""The classes of `ImageSource`."""

OPENERS = 4
"""Maximum number of threads that open files, each with a child process: one opens about 1,000 lines a second."""

AHEAD = 4
"""Files that are opened ahead for each of these threads, so few because each may be large."""

READ_TOGETHER = 256
"""Lines read at a time, if memory has room for them: enough to keep threads busy, or for batches of similar width."""

STEPS_PER_HEIGHT = 8
"""Steps per line height of the posteriors of blank paper, which the network does not see: about as on other lines."""


class LoadOptions(TypedDict, total=False):
    """The options of `Recognizer.load`."""

    adapter: str | Path | None
    decoder: Strategy | str | None
    language: str
    precision: Precision | str
    device: str
    threads: int | None
    alternatives: int
    doubtful: float
    posteriors: bool


class Recognizer:
    """Reads lines with one model and one strategy.

    Args:
        model: A model from `load_model`.
        decoder: The decoder: a name such as "joint", or a strategy such as `CTC()`; by default the one that
            `drethtr model calibrate` chose for this model, else CTC, or Greedy without a CTC head.
        network: The network; by default the one that `load` would open. Training passes the network it trains.
        precision: Precision of the network: "float32", "int8" or "bfloat16".
        device: "cpu", "cuda", "cuda:1", "mps"; "auto" is a GPU that CUDA can use, else the CPU.
        threads: Number of lines to read in parallel on a CPU; by default one for each free processor.
        alternatives: Number of alternative texts for each line short enough to be read in one piece; the reading
            itself comes before them, with its score.
        doubtful: Words with less confidence than this are marked as doubtful.
        posteriors: Keep the posteriors of each line, for an index (`drethtr.search`).

    Raises:
        CheckpointError: if the model must be recalibrated, or its weights do not fit its network.
        ConfigError: if a name is unknown, the model lacks a part that `decoder` needs, or the decoder cannot give so
            many alternatives.
        MissingExtraError: if torch is needed and not installed.
    """

    def __init__(
        self,
        model: Model,
        decoder: Strategy | str | None = None,
        *,
        network: Network | None = None,
        precision: Precision | str = Precision.FLOAT32,
        device: str = AUTO,
        threads: int | None = None,
        alternatives: int = 0,
        doubtful: float = DOUBTFUL,
        posteriors: bool = False,
    ) -> None:
        if not isinstance(model, Model):
            raise ConfigError(f"Recognizer takes a model from load_model, not {model!r}; for a file: Recognizer.load")
        chosen = strategy_named(decoder) if isinstance(decoder, str) else decoder
        if not isinstance(chosen, Strategy | None):
            raise ConfigError(f"decoder must be a name such as 'joint', or a strategy such as CTC(), not {decoder!r}")
        check_number("threads", 1 if threads is None else threads)
        check_number("alternatives", alternatives)
        check_number("doubtful", doubtful, Real)
        if threads is not None and threads < 1:
            raise ConfigError(f"threads must be at least 1, not {threads}; leave it out for one per free processor")
        if not 0 <= alternatives <= MAX_ALTERNATIVES:
            raise ConfigError(f"alternatives must be between 0 and {MAX_ALTERNATIVES}, not {alternatives}")
        if not 0 <= doubtful <= 1:
            raise ConfigError(f"doubtful must be between 0 and 1, not {doubtful}")
        self.precision = precision_named(precision)
        self.model = model
        self.threads = threads or free_processors()
        self.network = network or open_network(model, device, self.precision, self.threads)
        has_ctc = self.network.dimensions.steps_per_token is not None
        # What the user asked for, else what calibration found best, else what works with any network.
        best = chosen or model.record.strategy or (CTC() if has_ctc else Greedy())
        self.strategy = model.record.completed(best)
        if self.strategy.needs_ctc and not has_ctc:
            raise ConfigError("this model has no CTC head; use another decoder, such as greedy")
        check_record(model, self.network)
        if alternatives > self.strategy.most_alternatives:
            raise ConfigError(
                f"{self.strategy!r} gives at most {self.strategy.most_alternatives} alternatives, not {alternatives}; "
                f"use another decoder, such as joint or beam:{alternatives + 1}"
            )
        self.doubtful = doubtful
        if posteriors and not has_ctc:
            raise ConfigError("this model has no CTC head, so it has no posteriors; use another model")
        self.pieces = PieceReader(model, self.network, self.strategy, alternatives, posteriors=posteriors)

    def __repr__(self) -> str:
        model, decoder = self.model.identity, decoder_name(self.strategy)
        return f"<Recognizer: model {model}, decoder {decoder}, {self.precision.value}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Recognizer cannot be pickled; load one in each process")

    @classmethod
    def load(
        cls,
        path: str | Path | None = None,
        *,
        adapter: str | Path | None = None,
        decoder: Strategy | str | None = None,
        language: str = ALL_LANGUAGES,
        precision: Precision | str = Precision.FLOAT32,
        device: str = AUTO,
        threads: int | None = None,
        alternatives: int = 0,
        doubtful: float = DOUBTFUL,
        posteriors: bool = False,
    ) -> Self:
        """Load the shipped model, or the one in the file `path`, with the adapter in the file `adapter`.

        `path` may also be an adapter: its model is then the file beside it, or the shipped one. `language` selects
        languages of the model, such as "fr" or "en,de", and text files with words to favor; by default each line is
        read in the language that fits it best. The other arguments are those of the class.

        Raises:
            CheckpointError: if a file is missing, damaged, of another version, or no model; the adapter is of another
                model; or the model has to be calibrated again.
            ConfigError: as the class, or if the model does not know a language.
            DataError: if a text file cannot be used.
            MissingExtraError: as the class.
        """
        file = Path(path) if path is not None else SHIPPED
        model = load_named(file, adapter)
        languages = choose_languages(model.languages, model.tokenizer, language)
        try:
            return cls(
                replace(model, languages=languages),
                decoder,
                precision=precision,
                device=device,
                threads=threads,
                alternatives=alternatives,
                doubtful=doubtful,
                posteriors=posteriors,
            )
        except CheckpointError as error:
            raise error.of(file) from error

    def read(self, images: Iterable[ImageSource]) -> list[Reading]:
        """Read line images (paths, encoded bytes, Pillow images or arrays), in the order given.

        The result for a line does not depend on the other lines. Each reading keeps the image that was given, as
        `Reading.image`, and a notebook shows the list line by line.

        Raises:
            DataError: naming the image that cannot be used or is a page, or its number if it has no name.
            CheckpointError: if the model's activations are not finite.
            ConfigError: if it is a single image instead of several.
        """
        if isinstance(images, SINGLE):
            raise ConfigError("read takes a list of images; for a single image: [reading] = recognizer.read([image])")
        images = list(images)
        lines: list[Line] = []
        for place, (_, line) in enumerate(self._opened((None, image) for image in images)):
            if isinstance(line, DataError):
                raise line if isinstance(images[place], str | Path) else line.of(f"images[{place}]")
            lines.append(line)
        readings = self.read_lines(lines)
        return Readings(replace(reading, image=image) for reading, image in zip(readings, images, strict=True))

    def read_lines(self, lines: Sequence[Line]) -> list[Reading]:
        """Read lines from `open_line`, or others that it would not refuse, in the order given.

        Raises:
            CheckpointError: if the model's activations are not finite.
        """
        if len(lines) < self.network.workers:
            return self._read_group(lines)  # the threads share the pieces of long lines
        # Each thread prepares, reads and judges whole lines; if one thread did that for all, the others would wait.
        columns = list(map(self.pieces.most_columns, lines))
        return self.pieces.map_groups(lines, columns, partial(self._read_group, threads=1))

    def _read_group(self, lines: Sequence[Line], *, threads: int | None = None) -> list[Reading]:
        """Read some lines together, on as many threads as the network has workers, or on `threads`."""
        inks = list(map(Ink.of, lines))
        # Blank paper skips the network: a page file of a few hundred bytes may mark thousands of lines on blank paper.
        written = [number for number, ink in enumerate(inks) if not ink.blank]
        pieces = self.pieces.prepare_all([lines[number] for number in written])
        of_line: list[list[ReadPiece]] = [[] for _ in lines]
        for piece, read in zip(pieces, self.pieces.read(pieces, threads=threads), strict=True):
            of_line[written[piece.line]].append(read)
        return list(map(self.judge, lines, of_line, inks))

    def read_each(
        self, images: Iterable[tuple[Item, ImageSource | DataError]], *, together: int = READ_TOGETHER
    ) -> Iterator[tuple[Item, Reading | DataError]]:
        """Read any number of images, up to `together` at a time: yields each item with its reading, or the error.

        Images are consumed as needed: only one group of them is in memory, and a few files that are opened ahead. A
        page gives an error; an error in place of an image is passed through.

        Raises:
            CheckpointError: if the model's activations are not finite. Errors of images are yielded, not raised.
            ConfigError: if `together` is not a whole number from 1.
            TypeError: if an image comes without an item.
        """
        return self.read_opened(self._opened(images), together=together)

    def _opened(
        self, images: Iterable[tuple[Item, ImageSource | DataError]]
    ) -> Iterator[tuple[Item, Line | DataError]]:
        """Each item with its line or error, in order. Several threads open files, a few ahead of the next one."""
        threads = min(self.network.workers, OPENERS)
        waiting = deque[tuple[Item, Future[Line | DataError]]]()
        with ThreadPoolExecutor(threads) as pool:
            for pair in images:
                if isinstance(pair, SINGLE):  # a name of two letters and an image of two rows are not pairs
                    raise TypeError("read_each takes pairs: ((path, path) for path in paths), or use enumerate(paths)")
                item, image = pair
                # Images already in memory are used at once; Pillow images are not thread-safe.
                is_file = threads > 1 and isinstance(image, str | bytes | Path)
                if is_file:
                    waiting.append((item, pool.submit(self.line_or_error, image)))
                while len(waiting) > (AHEAD * threads if is_file else 0):
                    first, line = waiting.popleft()
                    yield first, line.result()
                if not is_file:
                    yield item, self.line_or_error(image)
            for first, line in waiting:
                yield first, line.result()

    def read_opened(
        self, lines: Iterable[tuple[Item, Line | DataError]], *, together: int = READ_TOGETHER
    ) -> Iterator[tuple[Item, Reading | DataError]]:
        """Like `read_each`, for lines from `open_line`, or others that `refuse_unreadable` accepts.

        Args:
            together: Maximum number of lines to read at a time.

        Raises:
            CheckpointError, ConfigError: as `read_each`.
        """
        check_number("together", together)
        if together < 1:
            raise ConfigError(f"together must be at least 1, not {together}")
        for group in in_groups(lines, together):
            readings = iter(self.read_lines([line for _, line in group if not isinstance(line, DataError)]))
            for item, line in group:
                yield item, line if isinstance(line, DataError) else next(readings)

    def line_or_error(self, image: ImageSource | DataError) -> Line | DataError:
        """The line of an image, or the error; an image with the shape of a page is an error."""
        return image if isinstance(image, DataError) else or_error(self.open_alone, image)

    def open_alone(self, image: ImageSource) -> Line:
        """Like `open_line`, for an image that nobody has declared to be a line.

        Raises:
            DataError: as `open_line`, or if the image has the shape of a page.
        """
        line = self.open_line(image)
        height, width = line.shape
        if not is_line_shaped(width, height):
            raise page_for_line(
                name_of(image), "use drethtr transcribe; in Python transcribe_page, or read_lines for a very large line"
            )
        return line

    def open_line(self, image: ImageSource) -> Line:
        """The line of an image, dark on light.

        Raises:
            DataError: naming the image, if it cannot be used or is too long for its height.
        """
        line = open_line(image)
        try:
            self.refuse_unreadable(line)
        except DataError as error:
            raise error.of(name_of(image)) from error
        return line

    def refuse_unreadable(self, line: Line) -> None:
        """Refuse a line that cannot be read.

        Raises:
            DataError: if it is empty, too tall, or too long for its height.
        """
        self.pieces.most_columns(line)

    def line_features(self, lines: Sequence[Line]) -> Features:
        """Features for out-of-distribution detection, (lines, features): means over the pieces of each line."""
        if not lines:
            return np.empty((0, feature_count(self.network.dimensions)))
        pieces = self.pieces.prepare_all(lines)
        of_line: list[list[Features]] = [[] for _ in lines]
        found = self.pieces.map_views(pieces, lambda _, view: line_features(view))
        for piece, features in zip(pieces, found, strict=True):
            of_line[piece.line].append(features)
        return np.stack([np.mean(some, axis=0) for some in of_line])

    @property
    def settings(self) -> dict[str, str]:
        """Decoder and precision, named as on the command line."""
        return {"decoder": decoder_name(self.strategy), "precision": self.precision.value}

    def provenance(self) -> Provenance:
        """The provenance of results made by this recognizer."""
        return Provenance.now(self.model.identity)

    @property
    def calibration(self) -> Calibration | None:
        """The calibration of confidences, if the model was calibrated for this strategy and precision."""
        return self.model.record.calibration(self.strategy, self.precision)

    def judge(self, line: Line, pieces: Sequence[ReadPiece], ink: Ink) -> Reading:
        """The reading of a line, with calibrated confidences and flags; empty for blank paper.

        Args:
            pieces: The readings of its pieces; may be empty for blank paper, where the language model would invent
                words.
            ink: The ink of the line.
        """
        pieces = () if ink.blank else pieces
        reading = stitch([(piece.piece, piece.characters) for piece in pieces]) if pieces else reading_of(())
        # Alternatives are texts of a whole piece; those of several pieces could not be joined to texts of the line.
        if len(pieces) == 1:
            reading = replace(reading, alternatives=pieces[0].alternatives)
        kept = [(piece.piece, piece.posteriors) for piece in pieces if piece.posteriors is not None]
        if kept:
            reading = replace(reading, posteriors=joined(kept))
        elif self.pieces.keeps_posteriors:
            reading = replace(reading, posteriors=Posteriors.empty(line.shape[0] / STEPS_PER_HEIGHT))
        # Flags are judged by the draft of the same pieces, stitched like the text it is compared with.
        drafts = [(piece.piece, piece.draft) for piece in pieces if piece.draft is not None]
        seen = Observation(
            height=line.shape[0],
            inked=ink.columns,
            characters=reading.characters,
            unknown=tuple(place for piece in pieces for place in piece.unknown),
            draft=stitch(drafts).text if drafts else None,
            ended=all(piece.ended for piece in pieces),
            features=np.mean([piece.features for piece in pieces], axis=0) if pieces else np.zeros(0),
        )
        if (calibration := self.calibration) is not None:
            reading = calibration(reading)
        return replace(reading, flags=self.model.record.flags(seen), doubtful=self.doubtful)


def check_record(model: Model, network: Network) -> None:
    """Refuse out-of-distribution detection that was fitted on other line features than the network gives."""
    known, seen = model.record.unlike_training, feature_count(network.dimensions)
    if known is not None and len(known.alike.weights) != seen:
        raise CheckpointError(
            f"model {model.identity}: out-of-distribution detection expects {len(known.alike.weights)} line "
            f"features, but the network gives {seen}; recalibrate the model"
        )
