"""The output of a backbone."""

from typing import NamedTuple


class Features(NamedTuple):
    """Tokens (N, width), and the channels (N, draft_width) for the CTC draft."""

    tokens: str
    width: int
    draft: str
    draft_width: int
