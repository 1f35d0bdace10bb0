"""A trained model, ready to read: line images in, readings out.

Every figure of the package comes through here: validation, test and users' lines are read by the same code.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

import torch

from drethtr.batching import group_by_width, stack
from drethtr.checkpoint import Model, load_model
from drethtr.decoding.strategies import Decoded, Decoder, default_decoder
from drethtr.images.line import ImageSource, Line, load_line
from drethtr.images.pieces import Piece, cut
from drethtr.images.prepare import Prepared
from drethtr.reading import Character, Reading

SHIPPED = Path(__file__).parent / "models" / "compact.safetensors"
"""The model inside the package."""

MAX_COLUMNS = 3600
"""Longer prepared lines are read in pieces; the longest the shipped model was trained on."""

BATCH_COLUMNS = 24_000
BATCH_LINES = 64


class Part(NamedTuple):
    """A prepared piece of one of the lines to read."""

    line: int
    piece: Piece
    prepared: Prepared


class Recognizer:
    """Reads lines with one model and one decoder.

    Args:
        model: From `load_model`; its network is used as it is, on its device.
        decoder: How text is found, from `drethtr.decoding`; by default the most accurate the model has.
    """

    def __init__(self, model: Model, decoder: Decoder | None = None) -> None:
        self.model = model
        self.decoder = decoder or default_decoder(model.network)
        self.decoder.check(model.network)

    @classmethod
    def load(
        cls, path: str | Path | None = None, *, decoder: Decoder | None = None, device: torch.device | str = "cpu"
    ) -> Self:
        """The shipped model, or the one in the file `path`.

        Raises:
            CheckpointError: if the file is missing, damaged, of another version, or no model.
            ConfigError: if the model has no part that `decoder` needs.
        """
        return cls(load_model(Path(path) if path is not None else SHIPPED, device), decoder)

    def read(self, images: Sequence[ImageSource]) -> list[Reading]:
        """Read line images: paths, encoded bytes, Pillow images or arrays; in the order given.

        The answer for a line does not depend on the lines beside it.

        Raises:
            DataError: naming the image that cannot be used.
        """
        lines = [load_line(image) for image in images]
        parts = [part for number, line in enumerate(lines) for part in self.prepare(number, line)]
        found: list[Reading | None] = [None] * len(parts)
        widths = [part.prepared.shape[1] for part in parts]
        for group in group_by_width(widths, BATCH_COLUMNS, BATCH_LINES):
            decoded = self.decode([parts[i].prepared for i in group])
            for i, result in zip(group, decoded, strict=True):
                found[i] = self.reading(result, parts[i], lines[parts[i].line].shape[1])
        pieces: list[list[tuple[Piece, Reading]]] = [[] for _ in lines]
        for part, reading in zip(parts, found, strict=True):
            assert reading is not None
            pieces[part.line].append((part.piece, reading))
        return [stitch(read) for read in pieces]

    def prepare(self, number: int, line: Line) -> list[Part]:
        """A line as the network sees it, in pieces if it is too long."""
        columns = self.model.preparation.columns(line.shape[1], line.shape[0])
        longest = round(line.shape[1] * MAX_COLUMNS / columns)
        return [
            Part(number, piece, self.model.preparation(line[:, piece.left : piece.right]))
            for piece in cut(line, longest)
        ]

    @torch.inference_mode()
    def decode(self, lines: Sequence[Prepared]) -> list[Decoded]:
        """Tokens of some prepared lines, as one batch."""
        network = self.model.network
        device = next(network.parameters()).device
        images, widths = stack(lines)
        memory = network.encode_image(images.to(device), widths.to(device))
        return self.decoder.decode(network, memory)

    def reading(self, decoded: Decoded, part: Part, line_width: int) -> Reading:
        """Tokens with their places on the image tokens, as characters with their edges on the line."""
        width = part.piece.right - part.piece.left
        scale = width / part.prepared.shape[1] * self.model.network.backbone.columns_per_token
        characters = []
        for token, confidence, (left, right) in zip(decoded.tokens, decoded.confidences, decoded.spans, strict=True):
            text = self.model.tokenizer.decode([token])
            step = (right - left) / max(len(text), 1)
            for number, character in enumerate(text):
                edges = (left + number * step, left + (number + 1) * step)
                places = (min(part.piece.left + edge * scale, part.piece.right) for edge in edges)
                characters.append(Character(character, confidence, *places))
        return reading_of(characters)


def reading_of(characters: Sequence[Character]) -> Reading:
    """The reading that consists of these characters, less white space at its ends."""
    first, last = 0, len(characters)
    while first < last and characters[first].text.isspace():
        first += 1
    while last > first and characters[last - 1].text.isspace():
        last -= 1
    kept = tuple(characters[first:last])
    confidence = sum(character.confidence for character in kept) / len(kept) if kept else 1.0
    return Reading("".join(character.text for character in kept), confidence, kept)


def stitch(pieces: Sequence[tuple[Piece, Reading]]) -> Reading:
    """One reading from those of overlapping pieces: each character is taken from the piece whose share it stands in."""
    if len(pieces) == 1:
        return pieces[0][1]
    kept = [
        character
        for piece, reading in pieces
        for character in reading.characters
        if piece.begin <= (character.left + character.right) / 2 < piece.end
    ]
    return reading_of(kept)
