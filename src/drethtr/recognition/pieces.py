"""Pieces of lines in, their characters out: prepared, encoded and decoded, together or alone with the same result.

`Recognizer` opens lines before and judges readings after.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from drethtr.base.errors import CheckpointError
from drethtr.images.line import Line
from drethtr.images.pieces import Piece, cut
from drethtr.images.prepare import Prepared
from drethtr.recognition.batching import in_memory
from drethtr.recognition.confidence.evidence import Features, LineEvidence, gather, line_features
from drethtr.recognition.model_file import Model
from drethtr.recognition.network import Network
from drethtr.recognition.posteriors import Posteriors, token_texts
from drethtr.recognition.reading import Alternative, Character, Evidence
from drethtr.recognition.search.decoded import Decoded, LogProbs
from drethtr.recognition.search.strategy import Strategy, View
from drethtr.text.tokenizer import UNK

Result = TypeVar("Result")

MAX_COLUMNS = 3600
"""Longer prepared lines are read in pieces; the longest the shipped model was trained on."""


class PreparedPiece(NamedTuple):
    """A piece of one of the lines to read, prepared at each width at which the strategy sees it."""

    line: int
    piece: Piece
    views: tuple[Prepared, ...]

    @property
    def prepared(self) -> Prepared:
        """As it is seen first."""
        return self.views[0]


class ReadPiece(NamedTuple):
    """What was found on a piece of a line.

    tokens     ids of what was written
    unwritten  left and right edge of each character that was read there, and is not in the alphabet
    draft      what the CTC head read where a decoder wrote the text
    posteriors what else it may say, if that is asked for
    """

    piece: Piece
    tokens: tuple[int, ...]
    characters: tuple[Character, ...]
    unwritten: tuple[tuple[float, float], ...]
    alternatives: tuple[Alternative, ...]
    draft: tuple[Character, ...] | None
    known: LineEvidence
    posteriors: Posteriors | None = None


class PieceReader:
    """Reads pieces with one network and one strategy; the arguments are those of `Recognizer`."""

    def __init__(
        self, model: Model, network: Network, strategy: Strategy, alternatives: int = 0, *, posteriors: bool = False
    ) -> None:
        self.model = model
        self.network = network
        self.strategy = strategy
        self.preparations = tuple(map(model.preparation.at_width, strategy.stretches))
        self.alternatives = alternatives
        self.texts = token_texts(model.tokenizer) if posteriors else None

    @property
    def keeps_posteriors(self) -> bool:
        """Whether it keeps what else each line may say."""
        return self.texts is not None

    def read(self, pieces: Sequence[PreparedPiece]) -> list[ReadPiece]:
        """Read any number of pieces, grouped as suits the network and on as many threads as it has workers."""
        return self.in_groups(pieces, self.read_group)

    def in_groups(
        self, pieces: Sequence[PreparedPiece], work: Callable[[Sequence[PreparedPiece]], list[Result]]
    ) -> list[Result]:
        """What some work gives for each piece, done in groups as suits the network and on as many threads."""
        groups = list(self.network.groups([sum(view.shape[1] for view in piece.views) for piece in pieces]))
        found: dict[int, Result] = {}
        for group, done in zip(
            groups, self.on_threads([[pieces[i] for i in group] for group in groups], work), strict=True
        ):
            found |= zip(group, done, strict=True)
        return [found[number] for number in range(len(pieces))]

    def on_threads(
        self,
        groups: Sequence[Sequence[PreparedPiece]],
        work: Callable[[Sequence[PreparedPiece]], list[Result]],
    ) -> Iterator[list[Result]]:
        """The work done for each group, in order."""
        workers = min(self.network.workers, len(groups))
        if workers <= 1:
            yield from (in_memory(work, group) for group in groups)
            return
        with ThreadPoolExecutor(workers) as threads:
            yield from threads.map(lambda group: in_memory(work, group), groups)

    def views(self, pieces: Sequence[PreparedPiece]) -> Iterator[tuple[list[int], View]]:
        """Any number of pieces as the strategy sees them first, group by group: their numbers, and their view."""
        for group in self.network.groups([piece.prepared.shape[1] for piece in pieces]):
            yield group, self.view([pieces[i].prepared for i in group])

    def line_features(self, pieces: Sequence[PreparedPiece]) -> list[Features]:
        """What any number of pieces look like to the network, (features,) each."""
        found: dict[int, Features] = {}
        for group, view in self.views(pieces):
            found |= zip(group, line_features(view), strict=True)
        return [found[number] for number in range(len(pieces))]

    def prepare_all(self, lines: Sequence[Line]) -> list[PreparedPiece]:
        """The pieces of some lines, which are numbered from 0."""
        return [piece for number, line in enumerate(lines) for piece in self.prepare(number, line)]

    def prepare_whole(self, lines: Sequence[Line]) -> list[PreparedPiece]:
        """Those lines that are read in one piece."""
        prepared = (self.prepare(number, line) for number, line in enumerate(lines))
        return [pieces[0] for pieces in prepared if len(pieces) == 1]

    def prepare(self, number: int, line: Line) -> list[PreparedPiece]:
        """A line as the network sees it, in pieces if it is too long."""
        columns = self.most_columns(line)
        widest = min(MAX_COLUMNS, self.network.dimensions.widest or MAX_COLUMNS)
        # Columns are rounded down, for a piece as for the line, so one more of them makes sure that pieces fit.
        longest = line.shape[1] if columns <= widest else line.shape[1] * widest // (columns + 1)
        return [
            PreparedPiece(number, piece, tuple(p(line[:, piece.left : piece.right]) for p in self.preparations))
            for piece in cut(line, longest)
        ]

    def most_columns(self, line: Line) -> int:
        """The columns of a line where it is seen widest.

        Raises:
            DataError: if it is empty, too high, or too long for its height.
        """
        return max(prepare.columns(line.shape[1], line.shape[0]) for prepare in self.preparations)

    def view(self, lines: Sequence[Prepared]) -> View:
        """Some prepared lines as the network sees them.

        Raises:
            CheckpointError: if the model's activations are not finite.
        """
        memory = self.network.encode(lines)
        if not all(np.isfinite(part).all() for part in chain([memory.mean], memory.ctc or ())):
            raise overflow(self.model)
        return View.of(memory)

    def read_group(self, pieces: Sequence[PreparedPiece]) -> list[ReadPiece]:
        """Some pieces, together.

        Raises:
            CheckpointError: if the model's activations are not finite.
            MemoryError: if they do not fit into memory together.
        """
        views = [self.view(view) for view in zip(*(piece.views for piece in pieces), strict=True)]
        try:
            decoded = self.strategy.find(self.network, views, self.alternatives, self.model.languages)
        except FloatingPointError as error:
            raise overflow(self.model) from error
        known = gather(views[0], decoded, self.model.languages)
        read = list(map(self.read_piece, decoded, known, pieces))
        if self.texts is None:
            return read
        possible = map(self.posteriors, views[0].scores.lines, pieces)
        return [piece._replace(posteriors=line) for piece, line in zip(read, possible, strict=True)]

    def posteriors(self, log_probs: LogProbs, piece: PreparedPiece) -> Posteriors:
        """What a piece may say, by the log-probabilities (steps, V) of the CTC head."""
        assert self.texts is not None, "a recognizer that keeps posteriors knows what its tokens say"
        columns = self.network.dimensions.columns_per_token / (self.network.dimensions.steps_per_token or 1)
        step = (piece.piece.right - piece.piece.left) / piece.prepared.shape[1] * columns
        return Posteriors.of(log_probs, self.texts, step)

    def read_piece(self, decoded: Decoded, known: LineEvidence, piece: PreparedPiece) -> ReadPiece:
        """Tokens as characters on the line."""
        edges = self.edges(decoded, piece)
        unknown = (place for token, place in zip(decoded.tokens, edges, strict=True) if token == UNK)
        unwritten = tuple(place for place in unknown if piece.piece.shares(*place))
        characters = self.characters(decoded, edges, known.tokens)
        draft = None if decoded.draft is None else self.characters(decoded.draft, self.edges(decoded.draft, piece))
        others = self.alternative_texts(decoded)
        return ReadPiece(piece.piece, decoded.tokens, characters, unwritten, others, draft, known)

    def alternative_texts(self, decoded: Decoded) -> tuple[Alternative, ...]:
        """The alternatives; of those that differ in white space at the ends only, the first."""
        scores: dict[str, float] = {}
        for other in decoded.alternatives:
            scores.setdefault(self.model.tokenizer.decode(other.tokens).strip(), other.score)
        return tuple(Alternative(text, score) for text, score in scores.items())

    def edges(self, decoded: Decoded, piece: PreparedPiece) -> list[tuple[float, float]]:
        """Where tokens stand on the line, from their places on the image tokens."""
        left, right = piece.piece.left, piece.piece.right
        scale = self.scale(piece)
        if self.network.dimensions.steps_per_token is None and decoded.spans:
            scale = (right - left) / decoded.spans[-1][1]  # over all the decoder sees, also a canvas around the line
        return [(min(left + begin * scale, right), min(left + end * scale, right)) for begin, end in decoded.spans]

    def scale(self, piece: PreparedPiece) -> float:
        """Pixels of the line between one image token and the next."""
        width = piece.piece.right - piece.piece.left
        return float(width / piece.prepared.shape[1] * self.network.dimensions.columns_per_token)

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


def overflow(model: Model) -> CheckpointError:
    """What to say of numbers that would read as silence, or break a strategy."""
    return CheckpointError(f"model {model.identity}: non-finite activations on these lines; check or retrain the model")
