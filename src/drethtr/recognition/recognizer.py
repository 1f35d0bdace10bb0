"""A trained model, ready to read: line images in, readings out.

Every figure of the package comes through here: validation, test and users' lines are read by the same code.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from drethtr.base.errors import ConfigError, DataError
from drethtr.images.line import ImageSource, Line, load_line, name_of
from drethtr.network.device import device_called
from drethtr.network.precision import Precision
from drethtr.recognition.adapter_file import load_named
from drethtr.recognition.batching import in_groups
from drethtr.recognition.confidence.checks import Observation
from drethtr.recognition.confidence.evidence import features_of
from drethtr.recognition.confidence.ink import inked_columns
from drethtr.recognition.model_file import SHIPPED, Model
from drethtr.recognition.piece_reader import PieceReader, ReadPiece
from drethtr.recognition.reading import Reading
from drethtr.recognition.search.decoder import MOST_ALTERNATIVES, Decoder
from drethtr.recognition.search.strategies import default_decoder
from drethtr.recognition.stitching import stitch
from drethtr.research.drift import DriftTold
from drethtr.sharing.folder import locate, upload, write_folder

Item = TypeVar("Item")

READ_TOGETHER = 256
"""Lines read at a time, if memory has room for them: enough for batches of like width."""


class Recognizer:
    """Reads lines with one model and one decoder.

    Args:
        model: From `load_model`; its network is used as it is, on its device.
        decoder: How text is found, a value such as `CTC()`; by default what reads best with this model.
        precision: In which numbers the network computes; `Precision.BFLOAT16` is faster on processors that compute
            with it.
        alternatives: How many other texts to give for each line that is short enough to be read in one piece; the
            text that was read stands before them, with its score.

    Raises:
        CheckpointError: if the model has to be calibrated again.
        ConfigError: if the model has no part that `decoder` needs, or the decoder not so many alternatives; or a name
            is given for `decoder` or `precision`.
    """

    def __init__(
        self,
        model: Model,
        decoder: Decoder | None = None,
        *,
        precision: Precision = Precision.FLOAT32,
        alternatives: int = 0,
    ) -> None:
        refuse_names(decoder, precision)
        self.model = model
        chosen = decoder or model.trust.decoder or default_decoder(model.network)
        self.decoder = model.trust.fitted(chosen)
        self.decoder.check(model.network)
        model.check_trust()
        if not 0 <= alternatives <= MOST_ALTERNATIVES:
            raise ConfigError(f"alternatives must be 0 to {MOST_ALTERNATIVES}, not {alternatives}")
        if alternatives > self.decoder.most_alternatives:
            raise ConfigError(
                f"{self.decoder!r} gives at most {self.decoder.most_alternatives} alternatives, not {alternatives}; "
                f"use another decoder, such as joint or beam:{alternatives + 1}"
            )
        self.precision = precision
        self.pieces = PieceReader(model, self.decoder, precision, alternatives)

    @classmethod
    def load(
        cls,
        path: str | Path | None = None,
        *,
        adapter: str | Path | None = None,
        decoder: Decoder | None = None,
        device: torch.device | str = "cpu",
        precision: Precision = Precision.FLOAT32,
        alternatives: int = 0,
    ) -> Self:
        """The shipped model, or the one in the file `path`, with the small changes in the file `adapter`.

        `path` alone may be an adapter, too: its model is then the file beside it, or the shipped one. `device` is what
        torch calls it: "cpu", "cuda", "cuda:1", "mps".

        Raises:
            CheckpointError: if a file is missing, damaged, of another version, or no model; the adapter is of another
                model; or the model has to be calibrated again.
            ConfigError: if the model has no part that `decoder` needs, or the decoder not so many alternatives; or a
                name is given for `decoder` or `precision`, or no name of a device.
        """
        refuse_names(decoder, precision)
        model = load_named(Path(path) if path is not None else SHIPPED, adapter, device_called(device))
        return cls(model, decoder, precision=precision, alternatives=alternatives)

    @classmethod
    def from_pretrained(
        cls,
        source: str | Path,
        *,
        revision: str | None = None,
        adapter: str | Path | None = None,
        decoder: Decoder | None = None,
        device: torch.device | str = "cpu",
        precision: Precision = Precision.FLOAT32,
        alternatives: int = 0,
    ) -> Self:
        """The model of a repository of the Hugging Face hub, `OWNER/NAME`, or in a folder or file on this machine.

        All else is as for `load`.

        Raises:
            CheckpointError: if there is none, or it cannot be used; ConfigError as `load`.
            MissingExtraError: if a repository is named and huggingface_hub is not installed.
        """
        return cls.load(
            locate(source, revision),
            adapter=adapter,
            decoder=decoder,
            device=device,
            precision=precision,
            alternatives=alternatives,
        )

    def save_pretrained(self, folder: str | Path) -> None:
        """Write into a folder what `push_to_hub` uploads: the model, and a README made from its card.

        Raises:
            DataError: if the folder has a README of something else.
        """
        write_folder(self.model, Path(folder))

    def push_to_hub(self, repository: str, *, private: bool = False) -> str:
        """Upload the model and its README to `OWNER/NAME` on the Hugging Face hub; returns the address of the commit.

        Raises:
            MissingExtraError: if huggingface_hub is not installed.
        """
        return upload(self.model, repository, private=private)

    def watch_drift(self, tell: Callable[[float], object]) -> None:
        """From now on, tell after every batch how far both forms of the decoder are apart on its texts; slow.

        In bfloat16, a narrow network then decodes text in float32, as it does where it writes.
        """
        watched = DriftTold(self.decoder, tell)
        self.pieces = PieceReader(self.model, watched, self.precision, self.pieces.alternatives)

    @property
    def model_hash(self) -> str:
        """SHA-256 of all of the model that decides a reading, see `Model.hash`."""
        return self.model.hash

    def read(self, images: Sequence[ImageSource]) -> list[Reading]:
        """Read line images: paths, encoded bytes, Pillow images or arrays; in the order given.

        The answer for a line does not depend on the lines beside it.

        Raises:
            DataError: naming the image that cannot be used.
            CheckpointError: if the model's numbers overflow.
            ConfigError: if it is one image, and no sequence of them.
        """
        if isinstance(images, str | bytes | Path | Image.Image | np.ndarray):
            raise ConfigError("read takes a list of images; for one of them, [reading] = recognizer.read([image])")
        return self.read_lines([self.open_line(image) for image in images])

    def read_lines(self, lines: Sequence[Line]) -> list[Reading]:
        """The same for what `open_line` has opened, or `check_line` has let pass.

        Raises:
            CheckpointError: if the model's numbers overflow.
        """
        parts = self.pieces.prepare_all(lines)
        of_line: list[list[ReadPiece]] = [[] for _ in lines]
        for part, read in zip(parts, self.pieces.read(parts), strict=True):
            of_line[part.line].append(read)
        return list(map(self.judge, lines, of_line))

    def read_each(
        self, images: Iterable[tuple[Item, ImageSource | DataError]], *, together: int = READ_TOGETHER
    ) -> Iterator[tuple[Item, Reading | DataError]]:
        """Read any number of images, at most so many `together`: each item with its reading, or why there is none.

        Images are taken as they are needed, and only a group of them is in memory. An error in the place of an image
        is handed on.

        Raises:
            CheckpointError: if the model's numbers overflow. What is wrong with an image is yielded, not raised.
        """
        lines = ((item, self.line_or_error(image)) for item, image in images)
        return self.read_opened(lines, together=together)

    def read_opened(
        self, lines: Iterable[tuple[Item, Line | DataError]], *, together: int = READ_TOGETHER
    ) -> Iterator[tuple[Item, Reading | DataError]]:
        """The same for what `open_line` has opened, or `check_line` has let pass.

        Raises:
            CheckpointError: as `read_each`.
        """
        for group in in_groups(lines, together):
            readings = iter(self.read_lines([line for _, line in group if not isinstance(line, DataError)]))
            for item, line in group:
                yield item, line if isinstance(line, DataError) else next(readings)

    def line_or_error(self, image: ImageSource | DataError) -> Line | DataError:
        """The line of an image, or the reason why there is none."""
        try:
            return image if isinstance(image, DataError) else self.open_line(image)
        except DataError as error:
            return error

    def open_line(self, image: ImageSource) -> Line:
        """A line that can be read: dark on light, whatever the image was.

        Raises:
            DataError: naming the image, if it cannot be used or is too long for its height.
        """
        line = load_line(image)
        try:
            self.check_line(line)
        except DataError as error:
            raise DataError(f"{name_of(image)}: {error}") from error
        return line

    def check_line(self, line: Line) -> None:
        """Check that a line can be read.

        Raises:
            DataError: if it is empty, too high, or too long for its height.
        """
        self.pieces.most_columns(line)

    def impressions(self, lines: Sequence[Line]) -> NDArray[np.float64]:
        """What lines look like to the network, (lines, features): the mean over the pieces of a line."""
        if not lines:
            return np.empty((0, features_of(self.model.network)))
        parts = self.pieces.prepare_all(lines)
        of_line: list[list[NDArray[np.float64]]] = [[] for _ in lines]
        for part, impression in zip(parts, self.pieces.impressions(parts), strict=True):
            of_line[part.line].append(impression)
        return np.stack([np.mean(pieces, axis=0) for pieces in of_line])

    def judge(self, line: Line, pieces: Sequence[ReadPiece]) -> Reading:
        """The reading of a line, its confidences calibrated, with all doubts about it."""
        reading = stitch([(piece.piece, piece.characters) for piece in pieces])
        if len(pieces) == 1:
            reading = replace(reading, alternatives=pieces[0].alternatives)
        drafts = [(piece.piece, piece.draft) for piece in pieces if piece.draft is not None]
        seen = Observation(
            height=line.shape[0],
            inked=inked_columns(line),
            characters=reading.characters,
            unwritten=tuple(place for piece in pieces for place in piece.unwritten),
            draft=stitch(drafts).text if drafts else None,
            ended=all(piece.known.ended for piece in pieces),
            impression=np.mean([piece.known.impression for piece in pieces], axis=0),
        )
        return replace(self.model.trust.calibrated(reading, self.decoder), flags=self.model.trust.flags(seen))


def refuse_names(decoder: object, precision: object) -> None:
    """Refuse what the command line takes, where Python takes a value.

    Raises:
        ConfigError: saying what to give.
    """
    if not isinstance(decoder, Decoder | None):
        raise ConfigError(
            f"decoder={decoder!r} is no decoder; give a value, as in decoder=CTC(): "
            "from drethtr import CTC, Beam, Greedy, Joint, VerifiedDrafts"
        )
    if not isinstance(precision, Precision):
        known = " or ".join(map(str, Precision))
        raise ConfigError(f"precision={precision!r} is no precision; give {known}: from drethtr import Precision")
