"""What weights a run starts from."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

import torch

from drethtr.checkpoint import load_model
from drethtr.errors import ConfigError
from drethtr.model.backbones import PPOCRBackbone
from drethtr.model.imagenet import load_imagenet
from drethtr.model.network import DRetHTR
from drethtr.model.pretrained import Pretrained, ppocr_weights
from drethtr.text.tokenizer import PAD, Characters, Tokenizer


class Start(ABC):
    """Sets the first weights of a network."""

    @abstractmethod
    def tokenizer(self) -> Tokenizer | None:
        """The alphabet that the start brings along, if it does; else it is learned from the training texts."""

    @abstractmethod
    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        """Set weights in place.

        Raises:
            ConfigError: if they do not fit the network.
        """


@dataclass(frozen=True)
class Fresh(Start):
    """Random weights, from the run's seed."""

    def tokenizer(self) -> Tokenizer | None:
        return None

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        """Leave the weights as they are."""


@dataclass(frozen=True)
class FromPPOCR(Start):
    """Backbone and CTC draft from the recognizer of the rapidocr package; the rest random."""

    def tokenizer(self) -> Tokenizer | None:
        return None

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        if not isinstance(network.backbone, PPOCRBackbone):
            raise ConfigError("start: FromPPOCR needs network.backbone to be PPOCR")
        pretrained = ppocr_weights()
        network.backbone.load_state_dict(pretrained.backbone)
        if network.ctc is not None and isinstance(tokenizer, Characters):
            copy_head_rows(network.ctc.draft, pretrained, tokenizer)


@dataclass(frozen=True)
class FromImageNet(Start):
    """The backbone from an image classifier's weights in torchvision's names, a file or URL; the rest random.

    The published run loaded them, too, and drew all but the batch norms anew before training (spec 0.2).
    """

    weights: str

    def tokenizer(self) -> Tokenizer | None:
        return None

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        load_imagenet(network.backbone, self.weights)


@dataclass(frozen=True)
class FromModel(Start):
    """All weights and the alphabet of a saved model, for going on with it."""

    path: str

    def tokenizer(self) -> Tokenizer | None:
        return load_model(Path(self.path)).tokenizer

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        model = load_model(Path(self.path))
        if model.network.config != network.config:
            raise ConfigError(f"start: the network of {self.path} has other settings than this run's")
        network.load_state_dict(model.network.state_dict())


# Characters that the pretrained head does not know begin as a near relative.
RELATIVES = dict(zip("ſ’‘“”„–—¬œæ", 's\'\'"""---oa', strict=True))


@torch.no_grad()
def copy_head_rows(draft: torch.nn.Linear, pretrained: Pretrained, tokenizer: Characters) -> None:
    """Start the draft from the pretrained output rows of our characters; unknown ones start unlikely."""
    classes = {character: number for number, character in reversed(list(enumerate(pretrained.characters)))}
    draft.weight.zero_()
    draft.bias.fill_(-8.0)
    rows = {PAD: 0}
    for character, token in tokenizer.ids.items():
        number = classes.get(character, classes.get(RELATIVES.get(character, "")) or None)
        if number is not None:
            rows[token] = number
    tokens, numbers = list(rows), list(rows.values())
    draft.weight[tokens] = pretrained.head_weight[numbers]
    draft.bias[tokens] = pretrained.head_bias[numbers]
    for character, token in tokenizer.ids.items():
        if character not in classes and token in rows:
            draft.bias[token] -= 2.0
