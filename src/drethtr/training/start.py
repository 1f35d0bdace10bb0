"""The initial weights of a run."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.language.languages import NO_LANGUAGE, Languages
from drethtr.language.learn import renamed
from drethtr.network.backbones import PPOCRBackbone
from drethtr.network.backend import TorchNetwork, network_of
from drethtr.network.network import DRetHTR
from drethtr.network.pretrained import Pretrained, ppocr_weights
from drethtr.recognition.model.architecture import NetworkConfig
from drethtr.recognition.model.file import SHIPPED, Model, Rescorer, load_model, without_record
from drethtr.recognition.model.weights import Weights
from drethtr.text.alphabet import relative
from drethtr.text.tokenizer import BLANK, SPECIALS, Characters, Tokenizer

DROPOUTS = ("dropout", "weight_dropout", "embedding_dropout")


class Start(ABC):
    """Initializes the weights of a network."""

    def tokenizer(self) -> Tokenizer | None:
        """The alphabet that comes with the weights; None if it is learned from the training texts."""
        return None

    @abstractmethod
    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        """Set weights in place.

        Raises:
            ConfigError: if they do not fit the network.
        """

    def digests(self) -> list[str]:
        """A description with a digest of each model that the weights come from."""
        return []

    def card(self) -> Mapping[str, object]:
        """Training data and license of the weights."""
        return {}

    def languages(self, tokenizer: Tokenizer) -> Languages:
        """The n-gram models that come with the weights, converted to this alphabet."""
        return NO_LANGUAGE

    def rescorer(self, tokenizer: Tokenizer) -> Rescorer | None:
        """The rescorer that comes with the weights, converted to this alphabet."""
        return None


@dataclass(frozen=True)
class Fresh(Start):
    """Random weights, from the run's seed."""

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        """Keep the random weights."""


@dataclass(frozen=True)
class FromPPOCR(Start):
    """Backbone and CTC draft from the recognizer in the rapidocr package; the rest is random."""

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        if not isinstance(network.backbone, PPOCRBackbone):
            raise ConfigError("start: FromPPOCR needs network.backbone to be PPOCR")
        pretrained = ppocr_weights()
        network.backbone.load_state_dict(pretrained.backbone)
        if network.ctc is not None and isinstance(tokenizer, Characters):
            copy_head_rows(network.ctc.draft, pretrained, tokenizer)


@dataclass(frozen=True)
class FromModel(Start):
    """All weights of a saved model, with its alphabet or with other `characters`.

    Without a `path` it is the model in the package. A character that the model does not know is initialized from the
    one that looks most like it, slightly less likely.
    """

    path: str | None = None
    characters: str | None = None

    @cached_property
    def model(self) -> Model:
        """The model to continue from, read once, so that a run uses one version of the file.

        Raises:
            CheckpointError: if the file is no model, or its weights do not fit its networks.
        """
        return load_whole(SHIPPED if self.path is None else Path(self.path))

    def tokenizer(self) -> Tokenizer | None:
        return self.model.tokenizer if self.characters is None else Characters(self.characters)

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        if others := differing(self.model.network, network.config):
            path = self.path or SHIPPED
            raise ConfigError(f"start: the network of {path} differs from this run's in {others}")
        network.load_state_dict(converted(self.model.weights, self.model.tokenizer, tokenizer))

    def digests(self) -> list[str]:
        return [f"start [{without_record(self.model)[:16]}]"]

    def card(self) -> Mapping[str, object]:
        return {name: value for name, value in self.model.card.items() if name in ("data", "license")}

    def languages(self, tokenizer: Tokenizer) -> Languages:
        model = self.model
        if not model.languages or tokenizer == model.tokenizer:
            return model.languages
        ids = new_ids(model.tokenizer, tokenizer)
        return Languages({name: renamed(own, ids, tokenizer.size) for name, own in model.languages.models.items()})

    def rescorer(self, tokenizer: Tokenizer) -> Rescorer | None:
        model = self.model
        if model.rescorer is None:
            return None
        weights = converted(model.rescorer.weights, model.tokenizer, tokenizer)
        return model.rescorer._replace(weights={name: weight.numpy() for name, weight in weights.items()})


def load_whole(path: Path) -> Model:
    """Read a model to learn from, and check that its weights fit its networks.

    Raises:
        CheckpointError: naming the file.
    """
    model = load_model(path)
    try:
        TorchNetwork.of(model, network_of(model))
    except CheckpointError as error:
        raise error.of(path) from error
    return model


def converted(weights: Weights, before: Tokenizer, after: Tokenizer) -> dict[str, Tensor]:
    """Weights for another alphabet."""
    tensors = {name: torch.from_numpy(np.array(weight)) for name, weight in weights.items()}
    return tensors if before == after else with_vocabulary(tensors, shares(before, after))


ROW_PER_TOKEN = (
    "embed.tokens.weight",
    "to_logits.weight",
    "ctc.draft.weight",
    "ctc.draft.bias",
    "ctc.refine.weight",
    "ctc.refine.bias",
)
"""Weights with a row per token; those of the refined reading have one per step and token."""

INFORM = "ctc.inform.weight"
"""The weight with a column per token."""


def with_vocabulary(weights: Mapping[str, Tensor], shares: Tensor) -> dict[str, Tensor]:
    """Convert weights from V old tokens to N new ones; `shares` (N, V), whose rows sum to 1, blend the old tokens.

    Weights that do not depend on the vocabulary are kept.
    """
    carried = dict(weights)
    for name in ROW_PER_TOKEN:
        if name in weights:
            # The refined reading has a row per step and token, so V is the second axis from here on.
            steps = weights[name].reshape(-1, shares.shape[1], *weights[name].shape[1:])
            carried[name] = torch.einsum("nv,sv...->sn...", shares, steps).flatten(0, 1)
    if INFORM in weights:
        carried[INFORM] = weights[INFORM] @ shares.mT
    return carried


def differing(theirs: NetworkConfig, ours: NetworkConfig) -> str:
    """The settings in which two networks are incompatible; dropout does not matter."""
    names = [field.name for field in fields(ours) if field.name not in (*DROPOUTS, "backbone")]
    others = [name for name in names if getattr(theirs, name) != getattr(ours, name)]
    if not ours.backbone.takes_weights_of(theirs.backbone):
        others.append("backbone")
    return ", ".join(f"network.{name}" for name in others)


def new_ids(before: Tokenizer, after: Tokenizer) -> list[int]:
    """The id of every token of one alphabet in another, -1 if it is missing there."""
    places = {after.decode([token]): token for token in range(SPECIALS, after.size)}
    known = (places.get(before.decode([token]), -1) for token in range(SPECIALS, before.size))
    return [*range(SPECIALS), *known]


LIKENESS = 0.9
"""Weight of the look-alike that initializes a new token; the rest is the mean of all, which resembles no token."""


def shares(before: Tokenizer, after: Tokenizer) -> Tensor:
    """The mixture of old tokens that initializes every new token, (tokens after, tokens before), rows summing to 1."""
    places = {before.decode([token]): token for token in range(SPECIALS, before.size)}
    taken = torch.zeros(after.size, before.size)
    taken[:SPECIALS, :SPECIALS] = torch.eye(SPECIALS)
    for token in range(SPECIALS, after.size):
        text = after.decode([token])
        if text in places:
            taken[token, places[text]] = 1
            continue
        # A look-alike is the best guess for the shape; a share below 1 keeps the new character a little less likely.
        like = relative(text, places)
        taken[token, SPECIALS:] = (1 if like is None else 1 - LIKENESS) / len(places)
        if like is not None:
            taken[token, places[like]] += LIKENESS
    return taken


@torch.no_grad()
def copy_head_rows(draft: torch.nn.Linear, pretrained: Pretrained, tokenizer: Characters) -> None:
    """Initialize the draft with the pretrained output rows of our characters; unknown ones start unlikely."""
    classes = {character: number for number, character in reversed(list(enumerate(pretrained.characters)))}
    draft.weight.zero_()
    draft.bias.fill_(-8.0)  # a probability of 0.03 % relative to a logit of 0: unlikely, but within reach of training
    rows = {BLANK: 0}
    for character, token in tokenizer.ids.items():
        like = relative(character, classes)
        if like is not None:
            rows[token] = classes[like]
    tokens, numbers = list(rows), list(rows.values())
    draft.weight[tokens] = pretrained.head_weight[numbers]
    draft.bias[tokens] = pretrained.head_bias[numbers]
    for character, token in tokenizer.ids.items():
        if character not in classes and token in rows:
            draft.bias[token] -= 2.0  # otherwise a look-alike would be read as often as the character itself
