"""Greedy decoding by reading a draft back instead of writing.

One pass of the parallel form says what the decoder would write behind every beginning of a draft. As far as it agrees,
the draft is what greedy decoding writes; then comes the decoder's own token, and behind it the rest of the draft,
aligned anew. A few passes take the place of as many steps as the text has tokens.

Source: speculative decoding (Leviathan et al., arXiv 2211.17192) with the CTC reading as the draft.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from drethtr.recognition.search.scorer import NetworkScorer
from drethtr.recognition.search.search import Hypothesis

ROUNDING = 256
"""How far, in units of the network's precision, two forms of one sum may differ: ten times what was seen."""


class Reader(Protocol):
    """Proposes drafts of one line, as `Continuation` does."""

    def after(self, beginning: Sequence[int]) -> list[int]:
        """The tokens that may follow."""


class Opinion(NamedTuple):
    """What the decoder would write behind each beginning of a text: N + 1 tokens for a text of N.

    tokens  the likeliest
    gains   their log-probabilities
    unsure  the next likely one is so near that rounding decides between them
    """

    tokens: list[int]
    gains: list[float]
    unsure: list[bool]


def opinions(scorer: NetworkScorer, texts: Sequence[Sequence[int]]) -> list[Opinion]:
    """What the decoder says of one text per line, in one pass."""
    logits = scorer.logits(texts)
    values, tokens = logits.topk(2, dim=-1)
    gains = values[..., 0] - logits.logsumexp(-1)
    unsure = values[..., 0] - values[..., 1] < rounding(logits, scorer.dtype)
    rows = zip(tokens[..., 0].tolist(), gains.tolist(), unsure.tolist(), texts, strict=True)
    return [Opinion(*(part[: len(text) + 1] for part in parts)) for *parts, text in rows]


def rounding(logits: Tensor, dtype: torch.dtype) -> Tensor:
    """What logits (..., V) may differ by between the parallel and the recurrent form in some precision, (...)."""
    largest = logits.masked_fill(logits.isneginf(), 0).abs().amax(-1)
    return ROUNDING * torch.finfo(dtype).eps * largest


def verify(
    scorer: NetworkScorer, readers: Sequence[Reader], limits: Tensor, *, end: int, passes: int
) -> list[Hypothesis | None]:
    """What greedy decoding writes on each line.

    None where more than `passes` would be needed, or rounding could decide between two tokens.

    Args:
        readers: One per line; what they read behind nothing is the first draft.
        limits: (lines,) longest text in tokens, the end included.
    """
    found: list[Hypothesis | None] = [None] * len(readers)
    drafts = dict(enumerate(reader.after(()) for reader in readers))
    longest = limits.tolist()
    for _ in range(passes):
        open_lines = list(drafts)
        kept = scorer if len(drafts) == len(readers) else scorer.keep(torch.tensor(open_lines, device=limits.device))
        for line, opinion in zip(open_lines, opinions(kept, list(drafts.values())), strict=True):
            draft = drafts.pop(line)
            agreed = min(agreement(draft, opinion, end), longest[line] - 1)
            if any(opinion.unsure[: agreed + 1]):
                continue
            if opinion.tokens[agreed] == end or agreed + 1 == longest[line]:
                text = [token for token in opinion.tokens[: agreed + 1] if token != end]
                gains = opinion.gains[: agreed + 1]
                found[line] = Hypothesis(tuple(text), sum(gains), tuple(gains))
            else:
                written = [*draft[:agreed], opinion.tokens[agreed]]
                drafts[line] = written + readers[line].after(written)
        if not drafts:
            break
    return found


def agreement(draft: Sequence[int], opinion: Opinion, end: int) -> int:
    """How many tokens of a draft the decoder would write itself, up to where it would end."""
    pairs = zip(draft, opinion.tokens, strict=False)
    return next((place for place, (token, own) in enumerate(pairs) if own != token or own == end), len(draft))
