"""Convert published checkpoints to models, with the settings that the weights lack."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from drethtr.base.errors import CheckpointError
from drethtr.images.prepare import Preparation
from drethtr.network.backend import with_network
from drethtr.paper.authors import BACKBONE, published_network, published_weights, vocabulary_of
from drethtr.recognition.model.architecture import BASE, SMALL, NetworkConfig
from drethtr.recognition.model.file import Model
from drethtr.text.tokenizer import Characters

IAM_ALPHABET = "".join(sorted(" !\"#&'()*+,-./0123456789:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
"""The 79 characters of the IAM lines, the alphabet of the published networks."""


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """The settings that published weights lack."""

    network: NetworkConfig
    preparation: Preparation = field(default_factory=lambda: Preparation(deslant=True))
    alphabet: str = IAM_ALPHABET


PRESETS = {
    "base": Conversion(network=replace(BASE, backbone=BACKBONE)),
    "small": Conversion(network=replace(SMALL, backbone=BACKBONE)),
}


def convert(weights: Mapping[str, Tensor], conversion: Conversion, card: Mapping[str, Any]) -> Model:
    """Build a model from published weights.

    Raises:
        ConfigError: if the characters of the alphabet are not sorted and unique.
        CheckpointError: naming weights that are unknown, missing, unexpected or of another shape.
    """
    tokenizer = Characters(conversion.alphabet)
    ours = published_weights(weights)
    tokens = vocabulary_of(ours)
    if tokens != tokenizer.size:
        raise CheckpointError(
            f"the weights are for {tokens} tokens, but an alphabet of {len(conversion.alphabet)} characters has "
            f"{tokenizer.size} with the 4 special ones; give the {tokens - 4} characters that they were trained with"
        )
    network = published_network(ours, conversion.network)
    return with_network(Model(conversion.network, {}, tokenizer, conversion.preparation, card), network)
