"""What a backbone makes of a line."""

from typing import NamedTuple


class Features(NamedTuple):
    """Tokens (N, width), and those of their channels (N, draft_width) that the CTC draft reads from."""

    tokens: str
    width: int
    draft: str
    draft_width: int
