"""Initial weights for experiments: a trained image encoder."""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Self

import torch
from torch import nn

from drethtr.base.errors import ConfigError
from drethtr.network.backend import network_of
from drethtr.network.ctc import CTCHead
from drethtr.network.network import DRetHTR
from drethtr.recognition.model.file import load_model
from drethtr.text.tokenizer import SPECIALS, UNK, Tokenizer
from drethtr.training.start import Start

UNLIKELY = -8.0
"""The initial logit of a token that the image encoder does not know."""
TOLD = 0.5
"""Standard deviation of a draft character's contribution to an image token; that of a sinusoid is 0.7."""


@dataclass(frozen=True)
class FinishedImagePart(Start):
    """Backbone and CTC draft from a model; all other weights are random.

    Image tokens start as the characters of the draft plus their reading positions on the scale of text positions, so
    that the decoder need not discover them; it learns to use other features of the backbone. `digest` is that of the
    model file, to distinguish versions of it.
    """

    path: str
    digest: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """Use the model in a file.

        Raises:
            ConfigError: if it cannot be read.
        """
        try:
            return cls(str(path), blake2b(path.read_bytes(), digest_size=8).hexdigest())
        except OSError as error:
            raise ConfigError(f"the model for the image encoder cannot be read: {error.strerror}", path) from error

    def tokenizer(self) -> None:
        return None

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        model = load_model(Path(self.path))
        if model.network.backbone != network.config.backbone:
            raise ConfigError(f"start: the backbone of {self.path} differs from this run's")
        finished = network_of(model)
        network.backbone.load_state_dict(finished.backbone.state_dict())
        if network.ctc is not None:
            copy_draft(network.ctc.draft, finished.ctc, model.tokenizer, tokenizer)
            init_image_tokens(network, network.ctc)


@torch.no_grad()
def init_image_tokens(network: DRetHTR, ctc: CTCHead) -> None:
    """Initialize image tokens from their reading positions and the characters of the draft."""
    if ctc.place is not None and ctc.inform is not None:
        nn.init.eye_(ctc.place.weight)
        nn.init.normal_(ctc.inform.weight, std=TOLD)
        ctc.inform.weight[:, ctc.blank] = 0
        nn.init.zeros_(network.to_width.weight)


@torch.no_grad()
def copy_draft(draft: nn.Linear, finished: CTCHead | None, known: Tokenizer, tokenizer: Tokenizer) -> None:
    """Initialize the draft from a trained head with another vocabulary; unknown tokens start as improbable.

    Raises:
        ConfigError: if there is no trained head.
    """
    if finished is None:
        raise ConfigError("start: the model has no CTC head to take the draft from")
    own = finished.draft
    nn.init.normal_(draft.weight, std=0.02)
    draft.bias.fill_(UNLIKELY)
    same = {token: token for token in range(SPECIALS)}
    for token in range(SPECIALS, tokenizer.size):
        match known.encode(tokenizer.decode([token])):
            case [row] if row != UNK:
                same[token] = row
    tokens, rows = list(same), list(same.values())
    draft.weight[tokens], draft.bias[tokens] = own.weight[rows], own.bias[rows]
