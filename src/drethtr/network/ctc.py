"""The CTC head on the image tokens.

It reads twice. The *draft* comes directly from the backbone, before any layer of the decoder. It adds to every image
token the number of characters begun up to there (its reading position, on the scale of the text positions) and the
probable character. The *refined* reading corrects the draft with the image tokens after the decoder's layers.
"""

from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.embedding import sinusoid
from drethtr.recognition.model.architecture import CTCConfig
from drethtr.text.tokenizer import BLANK


class CTCReading(NamedTuple):
    """Logits of both readings.

    draft    (B, I, V)          from the backbone alone
    refined  (B, I x steps, V)  after the decoder's layers
    counts   (B,)               image tokens of each line; the rest is padding
    """

    draft: Tensor
    refined: Tensor
    counts: Tensor

    @property
    def steps(self) -> Tensor:
        """Steps of the refined reading that are not padding, (B,)."""
        return self.counts * self.steps_per_token

    @property
    def steps_per_token(self) -> int:
        """Steps of the refined reading per image token."""
        return self.refined.shape[1] // self.draft.shape[1]


def characters_begun(draft: Tensor) -> Tensor:
    """Expected number of characters begun up to each step, (B, I), from logits (B, I, V).

    A step begins a character unless the previous step has the same one, hence Σ_i Σ_c p_i(c) (1 - p_{i-1}(c)), without
    the blank.
    """
    p = draft.float().softmax(-1)
    before = F.pad(p, (0, 0, 1, 0))[:, :-1]
    begun = p * (1 - before)
    return (begun.sum(-1) - begun[..., BLANK]).cumsum(-1)


class CTCHead(nn.Module):
    """Draft on backbone features (B, I, draft_width), refined reading on image tokens (B, I, width)."""

    def __init__(self, config: CTCConfig, draft_width: int, width: int, vocabulary: int) -> None:
        super().__init__()
        self.steps = config.steps
        self.draft = nn.Linear(draft_width, vocabulary)
        self.refine_norm = nn.LayerNorm(width)
        self.refine = nn.Linear(width, config.steps * vocabulary)
        self.inform = nn.Linear(vocabulary, width, bias=False) if config.inform_decoder else None
        self.place = nn.Linear(width, width, bias=False) if config.inform_decoder else None

    def reset_correction(self) -> None:
        """Initialize the refined reading to equal the draft, and the decoder to ignore the draft's characters."""
        nn.init.zeros_(self.refine.weight)
        nn.init.zeros_(self.refine.bias)
        if self.inform is not None:
            nn.init.zeros_(self.inform.weight)

    def add_draft(self, x: Tensor, draft: Tensor) -> Tensor:
        """Add the draft and the reading position to image tokens."""
        if self.inform is None or self.place is None:
            return x
        # No gradient of the decoder changes the draft, which is trained to read by its own loss.
        seen = draft.detach()
        place = sinusoid(characters_begun(seen), x.shape[-1]).to(x.dtype)
        informed: Tensor = x + self.place(place) + self.inform(seen.softmax(-1).to(x.dtype))
        return informed

    def refined(self, x: Tensor, draft: Tensor) -> Tensor:
        """Logits of `steps` steps for each image token."""
        corrections = self.refine(self.refine_norm(x)).unflatten(-1, (self.steps, -1))
        refined: Tensor = (draft[:, :, None] + corrections).flatten(1, 2)
        return refined


def ctc_loss(logits: Tensor, steps: Tensor, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Negative log-likelihood (B,) of each line's tokens under logits (B, S, V).

    A line with more characters (plus doubled ones) than steps has no CTC path and does not affect training.
    """
    log_probabilities = logits.float().log_softmax(-1).transpose(0, 1)
    # Such a line has an infinite loss, which would make the gradient of its whole batch infinite.
    return F.ctc_loss(log_probabilities, tokens, steps, lengths, blank=BLANK, reduction="none", zero_infinity=True)
