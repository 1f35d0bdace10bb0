"""A trained model, ready to read: line images in, readings out.

Every figure of the package comes through here: validation, test and users' lines are read by the same code.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from drethtr.adapter_file import load_named
from drethtr.batching import group_by_width, in_groups, in_memory, stack
from drethtr.checkpoint import SHIPPED, Model
from drethtr.decoding.decoded import Decoded
from drethtr.decoding.drift import text_drift
from drethtr.decoding.strategies import MOST_ALTERNATIVES, Decoder, default_decoder
from drethtr.errors import CheckpointError, ConfigError, DataError
from drethtr.images.line import ImageSource, Line, load_line, name_of
from drethtr.images.pieces import Piece, cut
from drethtr.images.prepare import Prepared
from drethtr.model.device import device_called
from drethtr.model.network import ImageMemory
from drethtr.model.precision import Precision
from drethtr.reading import Alternative, Character, Evidence, Reading
from drethtr.sharing.folder import locate, upload, write_folder
from drethtr.stitching import stitch
from drethtr.trust.checks import Observation
from drethtr.trust.evidence import LineEvidence, features_of, gather
from drethtr.trust.evidence import impressions as impressions_of
from drethtr.trust.ink import inked_columns

Item = TypeVar("Item")

MAX_COLUMNS = 3600
"""Longer prepared lines are read in pieces; the longest the shipped model was trained on."""

BATCH_COLUMNS = 24_000
BATCH_LINES = 64


class Part(NamedTuple):
    """A piece of one of the lines to read, prepared at each width that the decoder wants to see."""

    line: int
    piece: Piece
    views: tuple[Prepared, ...]

    @property
    def prepared(self) -> Prepared:
        """As the decoder sees it first."""
        return self.views[0]


class ReadPiece(NamedTuple):
    """What was found on a piece of a line; `draft` is what the image alone gave where a decoder wrote the text."""

    piece: Piece
    characters: tuple[Character, ...]
    alternatives: tuple[Alternative, ...]
    draft: tuple[Character, ...] | None
    known: LineEvidence


class Recognizer:
    """Reads lines with one model and one decoder.

    Args:
        model: From `load_model`; its network is used as it is, on its device.
        decoder: How text is found, a value such as `CTC()`; by default what reads best with this model.
        precision: In which numbers the network computes; `Precision.BFLOAT16` is faster on processors that compute
            with it.
        alternatives: How many other texts to give for each line that is short enough to be read in one piece; the
            text that was read stands before them, with its score.
        on_drift: Told, after every batch, how far the parallel and the recurrent form are apart on its texts, see
            `drethtr.decoding.drift`; this takes longer than reading. In bfloat16, a narrow network then decodes text
            in float32, as it does where it writes.
    """

    def __init__(
        self,
        model: Model,
        decoder: Decoder | None = None,
        *,
        precision: Precision = Precision.FLOAT32,
        alternatives: int = 0,
        on_drift: Callable[[float], object] | None = None,
    ) -> None:
        refuse_names(decoder, precision)
        self.model = model
        chosen = decoder or model.trust.decoder or default_decoder(model.network)
        self.decoder = chosen.fitted(model.trust.decoder)
        self.decoder.check(model.network)
        model.check_trust()
        if not 0 <= alternatives <= MOST_ALTERNATIVES:
            raise ConfigError(f"alternatives must be 0 to {MOST_ALTERNATIVES}, not {alternatives}")
        if alternatives > self.decoder.most_alternatives:
            raise ConfigError(
                f"{self.decoder!r} gives at most {self.decoder.most_alternatives} alternatives, not {alternatives}; "
                f"use another decoder, such as joint or beam:{alternatives + 1}"
            )
        self.preparations = tuple(map(model.preparation.at_width, self.decoder.widths))
        self.precision = precision
        self.networks = precision.prepare(model.network, stepwise=self.decoder.stepwise or on_drift is not None)
        self.alternatives = alternatives
        self.on_drift = on_drift

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
        on_drift: Callable[[float], object] | None = None,
    ) -> Self:
        """The shipped model, or the one in the file `path`, with the small changes in the file `adapter`.

        `path` alone may be an adapter, too: its model is then the file beside it, or the shipped one. `device` is what
        torch calls it: "cpu", "cuda", "cuda:1", "mps".

        Raises:
            CheckpointError: if a file is missing, damaged, of another version, or no model; the adapter is of another
                model; or the model has to be calibrated again.
            ConfigError: if the model has no part that `decoder` needs; or a name is given for `decoder` or `precision`,
                or no name of a device.
        """
        refuse_names(decoder, precision)
        model = load_named(Path(path) if path is not None else SHIPPED, adapter, device_called(device))
        return cls(model, decoder, precision=precision, alternatives=alternatives, on_drift=on_drift)

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
        on_drift: Callable[[float], object] | None = None,
    ) -> Self:
        """The model of a repository of the Hugging Face hub, `OWNER/NAME`, or in a folder or file on this machine.

        All else is as for `load`.

        Raises:
            CheckpointError: if there is none, or it cannot be used; ConfigError and MissingExtraError as `load`.
        """
        return cls.load(
            locate(source, revision),
            adapter=adapter,
            decoder=decoder,
            device=device,
            precision=precision,
            alternatives=alternatives,
            on_drift=on_drift,
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
        """The same for what `open_line` has opened, so that this can be done elsewhere."""
        parts = [part for number, line in enumerate(lines) for part in self.prepare(number, line)]
        pieces: list[list[ReadPiece]] = [[] for _ in lines]
        found: dict[int, ReadPiece] = {}
        for group in groups(parts):
            read = in_memory(self.decode, [parts[i] for i in group])
            found |= {i: self.read_piece(*result, parts[i]) for i, result in zip(group, read, strict=True)}
        for number, part in enumerate(parts):
            pieces[part.line].append(found[number])
        return [self.judge(line, of_line) for line, of_line in zip(lines, pieces, strict=True)]

    def read_each(
        self, images: Iterable[tuple[Item, ImageSource | DataError]], most: int
    ) -> Iterator[tuple[Item, Reading | DataError]]:
        """Read any number of images, at most `most` together: each item with its reading, or why there is none."""
        for group in in_groups(((item, self.line_or_error(image)) for item, image in images), most):
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
        """A line that can be read.

        Raises:
            DataError: naming the image, if it cannot be used or is too long for its height.
        """
        line = load_line(image)
        try:
            self.most_columns(line)
        except DataError as error:
            raise DataError(f"{name_of(image)}: {error}") from error
        return line

    @torch.inference_mode()
    def impressions(self, lines: Sequence[Line]) -> NDArray[np.float64]:
        """What lines look like to the network, (lines, features): the mean over the pieces of a line."""
        if not lines:
            return np.empty((0, features_of(self.model.network)))
        parts = [part for number, line in enumerate(lines) for part in self.prepare(number, line)]
        found: dict[int, NDArray[np.float64]] = {}
        for group in groups(parts):
            found |= zip(group, impressions_of(self.encode([parts[i].prepared for i in group])), strict=True)
        of_line: list[list[NDArray[np.float64]]] = [[] for _ in lines]
        for number, part in enumerate(parts):
            of_line[part.line].append(found[number])
        return np.stack([np.mean(pieces, axis=0) for pieces in of_line])

    def prepare(self, number: int, line: Line) -> list[Part]:
        """A line as the network sees it, in pieces if it is too long."""
        columns = self.most_columns(line)
        widest = min(MAX_COLUMNS, self.model.network.backbone.widest or MAX_COLUMNS)
        # Columns are rounded down, for a piece as for the line, so one more of them makes sure that pieces fit.
        longest = line.shape[1] if columns <= widest else line.shape[1] * widest // (columns + 1)
        return [
            Part(number, piece, tuple(prepare(line[:, piece.left : piece.right]) for prepare in self.preparations))
            for piece in cut(line, longest)
        ]

    def most_columns(self, line: Line) -> int:
        """The columns of a line where it is seen widest.

        Raises:
            DataError: if it is empty, too high, or too long for its height.
        """
        return max(prepare.columns(line.shape[1], line.shape[0]) for prepare in self.preparations)

    def encode(self, lines: Sequence[Prepared]) -> ImageMemory:
        """Some prepared lines as the decoder sees them."""
        device = next(self.networks.image.parameters()).device
        images, widths = stack(lines)
        memory = self.networks.encode_image(images.to(device), widths.to(device))
        ctc = () if memory.ctc is None else (memory.ctc.refined,)
        refuse_overflow((*chain.from_iterable(memory.layers), *ctc), self.model)
        return memory

    @torch.inference_mode()
    def decode(self, parts: Sequence[Part]) -> list[tuple[Decoded, LineEvidence]]:
        """Tokens of some prepared lines, as one batch, and what is known of them."""
        memory, *others = (self.encode(view) for view in zip(*(part.views for part in parts), strict=True))
        decoded = self.decoder.decode_views(self.networks.text, [memory, *others], self.alternatives)
        refuse_overflow([torch.tensor(line.confidences) for line in decoded], self.model)
        if self.on_drift is not None:
            self.on_drift(max(text_drift(self.networks.text, [line.tokens for line in decoded], memory)))
        return list(zip(decoded, gather(memory, decoded), strict=True))

    def read_piece(self, decoded: Decoded, known: LineEvidence, part: Part) -> ReadPiece:
        """Tokens as characters on the line."""
        characters = self.characters(decoded, part, known.tokens)
        draft = None if decoded.draft is None else self.characters(decoded.draft, part)
        return ReadPiece(part.piece, characters, self.alternative_texts(decoded), draft, known)

    def alternative_texts(self, decoded: Decoded) -> tuple[Alternative, ...]:
        """The alternatives; of those that differ in white space at the ends only, the first."""
        scores: dict[str, float] = {}
        for other in decoded.alternatives:
            scores.setdefault(self.model.tokenizer.decode(other.tokens).strip(), other.score)
        return tuple(Alternative(text, score) for text, score in scores.items())

    def characters(self, decoded: Decoded, part: Part, evidence: Sequence[Evidence] = ()) -> tuple[Character, ...]:
        """Tokens with their places on the image tokens, as characters with their edges on the line."""
        width = part.piece.right - part.piece.left
        scale = width / part.prepared.shape[1] * self.model.network.backbone.columns_per_token
        if self.model.network.ctc is None and decoded.spans:
            scale = width / decoded.spans[-1][1]  # spread over all that the decoder sees, also a canvas around the line
        characters = []
        for place, token in enumerate(decoded.tokens):
            text, (left, right) = self.model.tokenizer.decode([token]), decoded.spans[place]
            known = evidence[place] if evidence else None
            step = (right - left) / max(len(text), 1)
            edges = [part.piece.left + (left + number * step) * scale for number in range(len(text) + 1)]
            inside = [min(edge, part.piece.right) for edge in edges]
            for character, (begin, end) in zip(text, pairwise(inside), strict=True):
                characters.append(Character(character, decoded.confidences[place], begin, end, known))
        return tuple(characters)

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


def refuse_overflow(numbers: Iterable[Tensor], model: Model) -> None:
    """Refuse what would be read as silence, or break a decoder.

    Raises:
        CheckpointError: if any of the numbers is not finite.
    """
    if not torch.stack([part.isfinite().all() for part in numbers]).all():
        raise CheckpointError(
            f"model {model.identity}: its numbers overflow on these lines, for its weights are too large; train it anew"
        )


def groups(parts: Sequence[Part]) -> Iterator[list[int]]:
    """Numbers of parts that are read as one batch."""
    return group_by_width([sum(view.shape[1] for view in part.views) for part in parts], BATCH_COLUMNS, BATCH_LINES)
