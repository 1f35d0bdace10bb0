"""Join the readings of overlapping pieces of a line (see `images/pieces.py`)."""

from collections.abc import Sequence

from drethtr.images.pieces import Piece
from drethtr.recognition.reading import Character, Reading


def reading_of(characters: Sequence[Character]) -> Reading:
    """The reading made of these characters."""
    confidence = sum(character.confidence for character in characters) / max(len(characters), 1)
    return Reading("".join(character.text for character in characters), confidence, tuple(characters))


def stitch(pieces: Sequence[tuple[Piece, Sequence[Character]]]) -> Reading:
    """One reading from overlapping pieces: each character is taken from the piece whose share it is in.

    White space at the ends of the line is dropped; for white space between shares see `between`.
    """
    line: list[Character] = []
    behind: Character | None = None
    for piece, characters in pieces:
        own = [number for number, character in enumerate(characters) if belongs(character, piece)]
        if not own:
            behind = None
            continue
        first, last = own[0], own[-1]
        if line:
            line += between(line[-1], behind, characters[first - 1] if first else None, characters[first])
        line += characters[first : last + 1]
        behind = characters[last + 1] if last + 1 < len(characters) else None
    return reading_of(line)


def belongs(character: Character, piece: Piece) -> bool:
    """Whether a character is in the share of a piece and not white space."""
    return not character.text.isspace() and piece.shares(character.left, character.right)


def between(last: Character, behind: Character | None, before: Character | None, first: Character) -> list[Character]:
    """The space between the last character of a share and the first of the next, if there is one.

    Lines are cut where there is little ink, so often at a space, and either piece may see it in the share of the other.
    There is a space if one of them read it, right `behind` the last or `before` the first character. If neither read
    anything there, the gap is wide.
    """
    seen = [character for character in (behind, before) if character is not None]
    spaces = [character for character in seen if character.text.isspace()]
    return spaces[:1] if seen else [Character(" ", 1.0, last.right, first.left)]
