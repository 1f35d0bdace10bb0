"""Read pieces of lines: prepare, encode and decode them. Reading pieces together or alone gives the same result.

`Recognizer` opens the lines before, and judges the readings after.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from drethtr.base.errors import CheckpointError
from drethtr.images.line import Line
from drethtr.images.prepare import Piece, Prepared, cut
from drethtr.recognition.batching import in_parts_that_fit
from drethtr.recognition.confidence.evidence import Features, gather, line_features
from drethtr.recognition.decoding.decoded import Decoded, View
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.model.file import Model
from drethtr.recognition.posteriors import Posteriors, token_texts
from drethtr.recognition.protocol import Network
from drethtr.recognition.reading import Alternative, Character, Evidence, Reading
from drethtr.text.tokenizer import UNK

Item = TypeVar("Item")
Result = TypeVar("Result")

LONGEST_PIECE = 3600
"""Columns of a prepared line; longer ones are read in pieces. The shipped model was trained on none longer."""


class PreparedPiece(NamedTuple):
    """A piece of line number `line`, prepared at each width that the strategy wants."""

    line: int
    piece: Piece
    views: tuple[Prepared, ...]

    @property
    def prepared(self) -> Prepared:
        """The piece at the first width, at which characters are placed."""
        return self.views[0]


class ReadPiece(NamedTuple):
    """The result of reading a piece of a line.

    tokens      ids of the text
    unknown     left and right edge of each character outside the alphabet
    draft       the CTC reading, if a decoder wrote the text
    ended       whether the decoder ended the text, rather than a length limit
    features    for out-of-distribution detection, (features,)
    posteriors  probabilities of other characters, if the recognizer keeps them
    """

    piece: Piece
    tokens: tuple[int, ...]
    characters: tuple[Character, ...]
    unknown: tuple[tuple[float, float], ...]
    alternatives: tuple[Alternative, ...]
    draft: tuple[Character, ...] | None
    ended: bool
    features: Features
    posteriors: Posteriors | None = None


class PieceReader:
    """Reads pieces with one network and one strategy; the arguments are those of `Recognizer`."""

    def __init__(
        self, model: Model, network: Network, strategy: Strategy, alternatives: int, *, posteriors: bool
    ) -> None:
        self.model = model
        self.network = network
        self.strategy = strategy
        self.preparations = tuple(map(model.preparation.at_width, strategy.stretches))
        self.alternatives = alternatives
        self.texts = token_texts(model.tokenizer) if posteriors else None

    @property
    def keeps_posteriors(self) -> bool:
        """Whether it keeps the posteriors of each line."""
        return self.texts is not None

    def read(self, pieces: Sequence[PreparedPiece], *, threads: int | None = None) -> list[ReadPiece]:
        """Read any number of pieces, in groups that suit the network, on as many threads as it has workers."""
        return self.map(pieces, self.read_together, threads=threads)

    def map(
        self,
        pieces: Sequence[PreparedPiece],
        work: Callable[[Sequence[PreparedPiece]], list[Result]],
        *,
        threads: int | None = None,
    ) -> list[Result]:
        """The result of `work` for each piece, in the groups and on the threads of `read`."""
        columns = [sum(view.shape[1] for view in piece.views) for piece in pieces]
        return self.map_groups(pieces, columns, partial(in_parts_that_fit, work), threads=threads)

    def map_groups(
        self,
        items: Sequence[Item],
        columns: Sequence[int],
        work: Callable[[Sequence[Item]], list[Result]],
        *,
        threads: int | None = None,
    ) -> list[Result]:
        """The result of `work` for each item, in groups that suit the network.

        Args:
            items: Lines or pieces.
            columns: The columns of each.
            threads: Threads to work on; by default as many as the network has workers.
        """
        # Groups come longest first, so that no thread is left with a long line at the end; results go back by number.
        groups = list(self.network.groups(columns))
        members = [[items[number] for number in group] for group in groups]
        threads = min(threads or self.network.workers, len(groups))
        if threads <= 1:
            done = list(map(work, members))
        else:
            with ThreadPoolExecutor(threads) as pool:
                done = list(pool.map(work, members))
        found = dict(zip(chain.from_iterable(groups), chain.from_iterable(done), strict=True))
        return [found[number] for number in range(len(items))]

    def map_views(
        self, pieces: Sequence[PreparedPiece], work: Callable[[Sequence[PreparedPiece], View], Iterable[Result]]
    ) -> list[Result]:
        """The result of `work` for each piece; `work` gets groups of pieces with their view at the first width."""
        return self.map(pieces, lambda group: list(work(group, self.view([piece.prepared for piece in group]))))

    def prepare_all(self, lines: Sequence[Line]) -> list[PreparedPiece]:
        """The pieces of some lines, numbered from 0."""
        return [piece for number, line in enumerate(lines) for piece in self.prepare(number, line)]

    def prepare_whole(self, lines: Sequence[Line]) -> list[PreparedPiece]:
        """The lines that are read in one piece."""
        prepared = (self.prepare(number, line) for number, line in enumerate(lines))
        return [pieces[0] for pieces in prepared if len(pieces) == 1]

    def prepare(self, number: int, line: Line) -> list[PreparedPiece]:
        """A line, prepared for the network; in pieces if it is too long."""
        columns = self.most_columns(line)
        widest = min(LONGEST_PIECE, self.network.dimensions.widest or LONGEST_PIECE)
        # All views of a piece must show the same ink, so the line is cut in its own pixels, as long as the widest view
        # allows. Columns are rounded down, for pieces as for the line; one more makes sure that every piece fits.
        longest = line.shape[1] if columns <= widest else line.shape[1] * widest // (columns + 1)
        return [
            PreparedPiece(number, piece, tuple(p(line[:, piece.left : piece.right]) for p in self.preparations))
            for piece in cut(line, longest)
        ]

    def most_columns(self, line: Line) -> int:
        """The columns of a line at its largest width.

        Raises:
            DataError: if it is empty, too tall, or too long for its height.
        """
        return max(prepare.columns(line.shape[1], line.shape[0]) for prepare in self.preparations)

    def view(self, lines: Sequence[Prepared]) -> View:
        """The view of some prepared lines.

        Raises:
            CheckpointError: if the model's activations are not finite.
        """
        memory = self.network.encode(lines)
        if not all(np.isfinite(part).all() for part in chain([memory.mean], memory.ctc or ())):
            raise overflow(self.model)
        return View.of(memory)

    def read_together(self, pieces: Sequence[PreparedPiece]) -> list[ReadPiece]:
        """Read some pieces together.

        Raises:
            CheckpointError: if the model's activations are not finite.
            MemoryError: if they do not fit into memory together.
        """
        # One pass for each width: all lines at the first width, then all at the second.
        views = [self.view(view) for view in zip(*(piece.views for piece in pieces), strict=True)]
        try:
            decoded = self.strategy.find(self.network, views, self.alternatives, self.model.languages)
        except FloatingPointError as error:
            raise overflow(self.model) from error
        evidence = gather(views[0], decoded, self.model.languages)
        read = list(map(self.read_piece, decoded, evidence, line_features(views[0]), pieces))
        if self.texts is None:
            return read
        ctc = views[0].scores
        widths = [self.scale(piece) / ctc.steps_per_token for piece in pieces]
        kept = [Posteriors.of(rows, self.texts, width) for rows, width in zip(ctc.lines, widths, strict=True)]
        return [piece._replace(posteriors=line) for piece, line in zip(read, kept, strict=True)]

    def read_piece(
        self, decoded: Decoded, evidence: Sequence[Evidence], features: Features, piece: PreparedPiece
    ) -> ReadPiece:
        """Tokens as characters on the line."""
        edges = self.edges(decoded, piece)
        unknown = tuple(
            place
            for token, place in zip(decoded.tokens, edges, strict=True)
            if token == UNK and piece.piece.shares(*place)
        )
        characters = self.characters(decoded, edges, evidence)
        draft = None if decoded.draft is None else self.characters(decoded.draft, self.edges(decoded.draft, piece))
        # Of alternatives that differ only in white space at the ends, the first.
        scores: dict[str, float] = {}
        for other in decoded.alternatives:
            scores.setdefault(self.model.tokenizer.decode(other.tokens).strip(), other.score)
        others = tuple(Alternative(text, score) for text, score in scores.items())
        return ReadPiece(piece.piece, decoded.tokens, characters, unknown, others, draft, decoded.ended, features)

    def edges(self, decoded: Decoded, piece: PreparedPiece) -> list[tuple[float, float]]:
        """Left and right edge of each token in pixels of the line, from its places on the image tokens."""
        left, right = piece.piece.left, piece.piece.right
        scale = self.scale(piece)
        # Without a CTC head, tokens are spread evenly over the image tokens, of which some may be padding.
        if self.network.dimensions.steps_per_token is None and decoded.spans:
            scale = (right - left) / decoded.spans[-1][1]  # the decoder may see a canvas around the line
        return [(min(left + begin * scale, right), min(left + end * scale, right)) for begin, end in decoded.spans]

    def scale(self, piece: PreparedPiece) -> float:
        """Pixels of the line per image token."""
        width = piece.piece.right - piece.piece.left
        return float(width / piece.prepared.shape[1] * self.network.dimensions.columns_per_token)

    def characters(
        self, decoded: Decoded, edges: Sequence[tuple[float, float]], evidence: Sequence[Evidence] = ()
    ) -> tuple[Character, ...]:
        """The characters of tokens; characters of one token share its place."""
        characters: list[Character] = []
        known: Sequence[Evidence | None] = evidence or [None] * len(decoded.tokens)
        for token, sure, (left, right), own in zip(decoded.tokens, decoded.confidences, edges, known, strict=True):
            text = self.model.tokenizer.decode([token])
            # Most tokens are one character; `linspace` for each took as long as the CTC search.
            inside = [left, right] if len(text) == 1 else np.linspace(left, right, len(text) + 1).tolist()
            characters += [
                Character(character, sure, begin, end, own)
                for character, (begin, end) in zip(text, pairwise(inside), strict=True)
            ]
        return tuple(characters)


def overflow(model: Model) -> CheckpointError:
    """The error for activations that would read as an empty line, or break a strategy."""
    return CheckpointError(f"model {model.identity}: non-finite activations on these lines; check or retrain the model")


def reading_of(characters: Sequence[Character]) -> Reading:
    """The reading made of these characters."""
    confidence = sum(character.confidence for character in characters) / max(len(characters), 1)
    return Reading("".join(character.text for character in characters), confidence, tuple(characters))


def stitch(pieces: Sequence[tuple[Piece, Sequence[Character]]]) -> Reading:
    """One reading from overlapping pieces: each character comes from the piece whose share it is in.

    White space at the ends of the line is dropped; for white space between shares see `between`.
    """
    line: list[Character] = []
    behind: Character | None = None
    for piece, characters in pieces:
        # Spaces belong to no share, since the pieces on both sides of a seam may place one in the other's share: of 40
        # seams, three lost or doubled a space that way (LOG.md, 2026-11-22, evening). `between` decides about them.
        own = [
            number
            for number, character in enumerate(characters)
            if not character.text.isspace() and piece.shares(character.left, character.right)
        ]
        if not own:
            behind = None
            continue
        first, last = own[0], own[-1]
        if line:
            line += between(line[-1], behind, characters[first - 1] if first else None, characters[first])
        line += characters[first : last + 1]
        behind = characters[last + 1] if last + 1 < len(characters) else None
    return reading_of(line)


def between(last: Character, behind: Character | None, before: Character | None, first: Character) -> list[Character]:
    """The space between the last character of a share and the first of the next, if there is one.

    Lines are cut where there is little ink, so often at a space, and either piece may see it in the share of the other.
    There is a space if one of them read it, right `behind` the last or `before` the first character. If neither read
    anything there, the gap is wide, or the letters overlap, as the pieces see them.
    """
    seen = [character for character in (behind, before) if character is not None]
    spaces = [character for character in seen if character.text.isspace()]
    left, right = sorted((last.right, first.left))
    return spaces[:1] if seen else [Character(" ", 1.0, left, right)]
