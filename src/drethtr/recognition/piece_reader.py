"""Pieces of lines in, their characters out: prepared, seen, decoded, as one batch or alone with the same result.

Between opening a line and judging its reading, which is `Recognizer`'s.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from drethtr.base.errors import CheckpointError
from drethtr.images.line import Line
from drethtr.images.pieces import Piece, cut
from drethtr.images.prepare import Prepared
from drethtr.network.network import ImageMemory
from drethtr.network.precision import Precision
from drethtr.recognition.batching import group_by_width, in_memory, stack
from drethtr.recognition.confidence.evidence import LineEvidence, gather, impressions
from drethtr.recognition.model_file import Model
from drethtr.recognition.reading import Alternative, Character, Evidence
from drethtr.recognition.search.decoded import Decoded
from drethtr.recognition.search.decoder import Decoder
from drethtr.text.tokenizer import UNK

MAX_COLUMNS = 3600
"""Longer prepared lines are read in pieces; the longest the shipped model was trained on."""

BATCH_LINES = 64
CPU_COLUMNS, GPU_COLUMNS = 8_000, 24_000
"""Columns of a batch, all views of its lines together: few enough for the caches of a CPU, enough to fill a GPU."""


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
    """What was found on a piece of a line.

    tokens     ids of what was written
    unwritten  left and right edge of each character that was read there, and is not in the alphabet
    draft      what the image alone gave where a decoder wrote the text
    """

    piece: Piece
    tokens: tuple[int, ...]
    characters: tuple[Character, ...]
    unwritten: tuple[tuple[float, float], ...]
    alternatives: tuple[Alternative, ...]
    draft: tuple[Character, ...] | None
    known: LineEvidence


class PieceReader:
    """Reads pieces with one model and one decoder; the arguments are those of `Recognizer`."""

    def __init__(
        self,
        model: Model,
        decoder: Decoder,
        precision: Precision,
        alternatives: int = 0,
    ) -> None:
        self.model = model
        self.decoder = decoder
        self.preparations = tuple(map(model.preparation.at_width, decoder.widths))
        self.networks = precision.prepare(model.network, stepwise=decoder.stepwise)
        self.alternatives = alternatives
        self.device = next(self.networks.image.parameters()).device

    def read(self, parts: Sequence[Part]) -> list[ReadPiece]:
        """Read any number of parts, those of like width together, as many as fit into memory."""
        found: dict[int, ReadPiece] = {}
        for group in self.groups(parts):
            decoded = in_memory(self.decode, [parts[i] for i in group])
            found |= {i: self.read_piece(*result, parts[i]) for i, result in zip(group, decoded, strict=True)}
        return [found[number] for number in range(len(parts))]

    def groups(self, parts: Sequence[Part]) -> Iterator[list[int]]:
        """Numbers of parts that are read as one batch."""
        columns = CPU_COLUMNS if self.device.type == "cpu" else GPU_COLUMNS
        return group_by_width([sum(view.shape[1] for view in part.views) for part in parts], columns, BATCH_LINES)

    @torch.inference_mode()
    def encoded(self, parts: Sequence[Part]) -> Iterator[tuple[list[int], ImageMemory]]:
        """Any number of parts as the decoder sees them first, batch by batch: their numbers, and their memory."""
        for group in self.groups(parts):
            yield group, self.encode([parts[i].prepared for i in group])

    @torch.inference_mode()
    def impressions(self, parts: Sequence[Part]) -> list[NDArray[np.float64]]:
        """What any number of parts look like to the network, (features,) each."""
        found: dict[int, NDArray[np.float64]] = {}
        for group, memory in self.encoded(parts):
            found |= zip(group, impressions(memory), strict=True)
        return [found[number] for number in range(len(parts))]

    def prepare_all(self, lines: Sequence[Line]) -> list[Part]:
        """The parts of some lines, which are numbered from 0."""
        return [part for number, line in enumerate(lines) for part in self.prepare(number, line)]

    def prepare_whole(self, lines: Sequence[Line]) -> list[Part]:
        """The same of those lines only that are read in one piece."""
        prepared = (self.prepare(number, line) for number, line in enumerate(lines))
        return [pieces[0] for pieces in prepared if len(pieces) == 1]

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
        images, widths = stack(lines)
        memory = self.networks.encode_image(images.to(self.device), widths.to(self.device))
        ctc = () if memory.ctc is None else (memory.ctc.refined,)
        refuse_overflow((*chain.from_iterable(memory.layers), *ctc), self.model)
        return memory

    @torch.inference_mode()
    def decode(self, parts: Sequence[Part]) -> list[tuple[Decoded, LineEvidence]]:
        """Tokens of some prepared lines, as one batch, and what is known of them."""
        memory, *others = (self.encode(view) for view in zip(*(part.views for part in parts), strict=True))
        decoded = self.decoder.decode_views(self.networks.text, [memory, *others], self.alternatives, self.model.ngrams)
        refuse_overflow([torch.tensor(line.confidences) for line in decoded], self.model)
        return list(zip(decoded, gather(memory, decoded), strict=True))

    def read_piece(self, decoded: Decoded, known: LineEvidence, part: Part) -> ReadPiece:
        """Tokens as characters on the line."""
        edges = self.edges(decoded, part)
        unknown = (place for token, place in zip(decoded.tokens, edges, strict=True) if token == UNK)
        unwritten = tuple(place for place in unknown if part.piece.shares(*place))
        characters = self.characters(decoded, edges, known.tokens)
        draft = None if decoded.draft is None else self.characters(decoded.draft, self.edges(decoded.draft, part))
        others = self.alternative_texts(decoded)
        return ReadPiece(part.piece, decoded.tokens, characters, unwritten, others, draft, known)

    def alternative_texts(self, decoded: Decoded) -> tuple[Alternative, ...]:
        """The alternatives; of those that differ in white space at the ends only, the first."""
        scores: dict[str, float] = {}
        for other in decoded.alternatives:
            scores.setdefault(self.model.tokenizer.decode(other.tokens).strip(), other.score)
        return tuple(Alternative(text, score) for text, score in scores.items())

    def edges(self, decoded: Decoded, part: Part) -> list[tuple[float, float]]:
        """Where tokens stand on the line, from their places on the image tokens."""
        left, right = part.piece.left, part.piece.right
        scale = (right - left) / part.prepared.shape[1] * self.model.network.backbone.columns_per_token
        if self.model.network.ctc is None and decoded.spans:
            scale = (right - left) / decoded.spans[-1][1]  # over all the decoder sees, also a canvas around the line
        return [(min(left + begin * scale, right), min(left + end * scale, right)) for begin, end in decoded.spans]

    def characters(
        self, decoded: Decoded, edges: Sequence[tuple[float, float]], evidence: Sequence[Evidence] = ()
    ) -> tuple[Character, ...]:
        """Tokens as characters, which share the place of their token."""
        characters = []
        for place, (token, (left, right)) in enumerate(zip(decoded.tokens, edges, strict=True)):
            text = self.model.tokenizer.decode([token])
            known = evidence[place] if evidence else None
            inside = np.linspace(left, right, len(text) + 1).tolist()
            for character, (begin, end) in zip(text, pairwise(inside), strict=True):
                characters.append(Character(character, decoded.confidences[place], begin, end, known))
        return tuple(characters)


def refuse_overflow(numbers: Iterable[Tensor], model: Model) -> None:
    """Refuse what would be read as silence, or break a decoder.

    Raises:
        CheckpointError: if any of the numbers is not finite.
    """
    if not torch.stack([part.isfinite().all() for part in numbers]).all():
        raise CheckpointError(
            f"model {model.identity}: its numbers overflow on these lines, for its weights are too large; train it anew"
        )
