"""The authors' checkpoints: as networks, and as model files with the settings that the weights lack.

Their weights have other names than ours, and are all that a checkpoint contains. Mixer, decay, prior and alphabet are
missing; give these as a `NetworkConfig` or in the terms of the authors' command lines (docs/paper.md).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.base.wording import first_of
from drethtr.images.prepare import Preparation
from drethtr.network.backend import with_network
from drethtr.network.network import DRetHTR
from drethtr.network.weights import fit
from drethtr.paper.variants import Fade, Gated, Given, HeadNorm, JointSoftmax, Sigmoid, SplitSoftmax, SwishGate
from drethtr.paper.weights_file import read_weights
from drethtr.recognition.model.architecture import (
    BASE,
    SMALL,
    EfficientNetV2S,
    Learned,
    MixerConfig,
    Multiplied,
    NetworkConfig,
    NoPrior,
    OutputConfig,
    Plain,
    PriorConfig,
    Retentive,
    Unplaced,
)
from drethtr.recognition.model.decay import DecayConfig, Scheduled
from drethtr.recognition.model.file import Model
from drethtr.text.tokenizer import Characters

WORDS = {
    "Transformer": "softmax over image and text",
    "RetNet": "softmax over the image, retention over the text",
    "RetNet3": "as RetNet, its decay gated by the text",
    "Sinusoidal": "text positions, which a Transformer has anyway",
    "Bi_ret": "a prior on image tokens",
    "no_lwgs": "no layer-wise decay in that prior",
    "with_gamma": "a Transformer's text weights fade",
    "split_softmax": "a Transformer weighs image and text apart",
    "to_out": "RetNet without norm and gate",
    "group_norm": "RetNet with normed heads, ungated",
    "group_split_norm": "as group_norm, for text only",
    "split_out": "RetNet's norm and gate for text only",
    "sigmoid": "a sigmoid of the output of the heads",
}
MODE = re.compile("|".join(sorted(WORDS, key=len, reverse=True)))


@dataclass(frozen=True, kw_only=True)
class PublishedSettings:
    """The settings that published weights lack, named as on the published command lines.

    mode       words of `WORDS`
    layerwise  γ grows from layer to layer (`increase_gamma_along_layers`)
    various    γ grows from head to head instead (`various_gamma_in_heads`)
    """

    mode: str = "Bi_ret_RetNet_Sinusoidal_to_out"
    D_norm: bool = True
    ret_norm: bool = False
    gamma_subtracter: float = 0.86
    layerwise: bool = True
    various: bool = False

    def __post_init__(self) -> None:
        if strange := MODE.sub("", self.mode).strip("_").replace("__", "_"):
            raise ConfigError(f"mode {self.mode!r}: unknown word {strange!r}; known: {', '.join(WORDS)}")
        if not self.retentive and "Transformer" not in self.words:
            raise ConfigError(f"mode {self.mode!r} contains neither RetNet, RetNet3 nor Transformer; add one of them")
        if self.ret_norm and self.retentive:
            raise ConfigError(
                "ret_norm is not supported: it divides by the sum of all past scores, which retention with a memory "
                "of fixed size does not keep; the published runs did not use it"
            )

    @property
    def words(self) -> frozenset[str]:
        """The words of the mode."""
        return frozenset(MODE.findall(self.mode))

    @property
    def retentive(self) -> bool:
        """Whether text is mixed by retention."""
        return not self.words.isdisjoint({"RetNet", "RetNet3"})

    @property
    def schedule(self) -> Scheduled:
        """The schedule of γ for the text; flags take precedence as in the released code."""
        name = "headwise" if self.various else "layerwise" if self.layerwise else "small"
        return Scheduled(name, self.gamma_subtracter)

    @property
    def mixer(self) -> MixerConfig:
        """The mixer of the text."""
        if self.retentive:
            decay: DecayConfig = Gated() if "RetNet3" in self.words else self.schedule
            return Retentive(decay, self.D_norm)
        fade = Fade(self.schedule, self.D_norm) if "with_gamma" in self.words else None
        return SplitSoftmax(fade) if "split_softmax" in self.words else JointSoftmax(fade)

    @property
    def prior(self) -> PriorConfig:
        """The image prior; the subtracter applies only to a layer-wise decay."""
        if "Bi_ret" not in self.words:
            return NoPrior()
        layerwise = self.layerwise and "no_lwgs" not in self.words
        return Multiplied(Scheduled("layerwise", self.gamma_subtracter) if layerwise else Scheduled("original"))

    @property
    def output(self) -> OutputConfig:
        """The output of the heads; words take precedence as in the released code."""
        words = self.words if self.retentive else self.words | {"to_out"}
        if "to_out" in words:
            return Sigmoid() if "sigmoid" in words else Plain()
        if "group_norm" in words:
            return HeadNorm()
        if "group_split_norm" in words:
            return HeadNorm(on_image=False)
        return SwishGate(on_image="split_out" not in words)

    @property
    def text_positions(self) -> bool:
        """Whether text tokens have positions; otherwise, the released code erroneously adds them in decoding alone."""
        return not self.words.isdisjoint({"Transformer", "Sinusoidal"})


PUBLISHED = PublishedSettings()
"""The published DRetHTR."""

CANVAS = 2227
"""Width to which the authors pad every line, in columns (Sec. 5.3)."""

BACKBONE = EfficientNetV2S(dropout=0.3, canvas=CANVAS)
"""The published backbone; it has never seen a line without this padding, so every line must be padded for it."""

QUERIES, KEYS_VALUES, JOINED = "fusion.to_q.weight", "fusion.to_kv.weight", "fusion.to_qkv.weight"
OUTSIDE_LAYERS = {
    "feature_extractor.img_pos_embedding": "positions.table",
    "feature_extractor.linear.weight": "to_width.weight",
    "feature_extractor.linear.bias": "to_width.bias",
    "embed_tokens.weight": "embed.tokens.weight",
    "generator.weight": "to_logits.weight",
}
IN_LAYER = {
    "0.norm.weight": "fusion_norm.weight",
    "0.norm.bias": "fusion_norm.bias",
    "0.fn.to_q.weight": QUERIES,
    "0.fn.to_kv.weight": KEYS_VALUES,
    "0.fn.to_gt.weight": "fusion.text_mixer.past.decay.gate.weight",
    "0.fn.to_g.weight": "fusion.output.gate.weight",
    "0.fn.group_norm.weight": "fusion.output.norm.weight",
    "0.fn.group_norm.bias": "fusion.output.norm.bias",
    "0.fn.to_out.0.weight": "fusion.to_out.weight",
    "0.fn.to_out.0.bias": "fusion.to_out.bias",
    "1.norm.weight": "feed_forward.0.weight",
    "1.norm.bias": "feed_forward.0.bias",
    "1.fn.net.0.weight": "feed_forward.1.weight",
    "1.fn.net.0.bias": "feed_forward.1.bias",
    "1.fn.net.3.weight": "feed_forward.4.weight",
    "1.fn.net.3.bias": "feed_forward.4.bias",
}
IMAGE_PART = ("backbone.", "to_width.", "positions.")
REMEDY = "were the weights trained with these settings?"
LAYER = re.compile(r"retnet\.layers\.([0-9]{1,4})\.(.+)")
OUR_LAYER = re.compile(r"blocks\.(\d+)\.(.+)")
OF_BACKBONE = re.compile(r"feature_extractor\.features\.0\.(.+)")


def load(
    weights: str | Path | Mapping[str, Tensor],
    *,
    heads: int,
    settings: PublishedSettings = PUBLISHED,
) -> DRetHTR:
    """Load a published network, ready for reading, from a file or a state dict.

    From weights without image encoder, the network takes image tokens instead of images, see `Given`.

    Args:
        heads: 12 for BASE, 8 for SMALL.
        settings: As on the published command lines.

    Raises:
        ConfigError: if settings and heads are inconsistent.
        CheckpointError: if the file is unusable, or the weights do not fit the settings.
    """
    state = read_weights(Path(weights)) if isinstance(weights, str | Path) else weights
    ours = published_weights(state)
    config = published_config(ours, heads, settings)
    if isinstance(config.backbone, Given):
        ours |= {"to_width.weight": torch.eye(config.width), "to_width.bias": torch.zeros(config.width)}
    return published_network(ours, config)


def published_network(weights: Mapping[str, Tensor], config: NetworkConfig) -> DRetHTR:
    """Build a network with `published_weights`, ready for reading.

    Raises:
        CheckpointError: if the weights do not fit the config.
    """
    # Without memory for weights: those of the file take their place, and must fit exactly.
    with torch.device("meta"):
        network = DRetHTR(config, vocabulary_of(weights))
    fill(network, weights)
    return network.eval()


def published_config(weights: Mapping[str, Tensor], heads: int, settings: PublishedSettings) -> NetworkConfig:
    """Infer the network config from the shapes of `published_weights` and the settings."""
    width = size(weights, "embed.tokens.weight", 1)
    has_image_part = any(name.startswith(IMAGE_PART) for name in weights)
    return NetworkConfig(
        layers=1 + max((int(found[1]) for found in map(OUR_LAYER.fullmatch, weights) if found), default=0),
        width=width,
        heads=heads,
        hidden=size(weights, "blocks.0.feed_forward.1.weight", 0),
        backbone=BACKBONE if has_image_part else Given(width),
        positions=Learned(size(weights, "positions.table", 1)) if has_image_part else Unplaced(),
        mixer=settings.mixer,
        prior=settings.prior,
        output=settings.output,
        text_positions=settings.text_positions,
    )


def vocabulary_of(weights: Mapping[str, Tensor]) -> int:
    """The vocabulary size of `published_weights`."""
    return size(weights, "embed.tokens.weight", 0)


def size(weights: Mapping[str, Tensor], name: str, axis: int) -> int:
    """The size of a weight along an axis."""
    if name not in weights or weights[name].ndim <= axis:
        raise CheckpointError(f"the published weights lack {their_name(name)}; are they from a DRetHTR?")
    return weights[name].shape[axis]


def fill(network: DRetHTR, weights: Mapping[str, Tensor]) -> None:
    """Load a float32 copy of `published_weights` into a network, which may be on the meta device.

    Raises:
        CheckpointError: naming weights that are missing, unexpected, of another shape or kind, or not finite.
    """
    fitted = fit(weights, network.state_dict(), named=their_name, remedy=REMEDY)
    network.load_state_dict({name: weight.clone() for name, weight in fitted.items()}, assign=True)


def published_weights(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename the weights of a published state dict to our names; DDP's prefix `module.` is dropped.

    Raises:
        CheckpointError: naming unknown weights.
    """
    weights, unknown = {}, []
    for name, weight in state.items():
        ours = our_name(name.removeprefix("module."))
        if ours is None:
            unknown.append(name)
        else:
            weights[ours] = weight
    if unknown:
        raise CheckpointError(f"unknown weights: {first_of(sorted(unknown))}; are they from a DRetHTR?")
    return joined_projections(weights)


def joined_projections(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Join each layer's projections to queries, keys and values into one matrix, in this order."""
    joined = dict(weights)
    for name in weights:
        if name.endswith(QUERIES):
            layer = name.removesuffix(QUERIES)
            if layer + KEYS_VALUES not in weights:
                raise CheckpointError(f"the published weights have queries but no keys and values for {layer}")
            queries, keys_values = joined.pop(name), joined.pop(layer + KEYS_VALUES)
            if queries.ndim != 2 or queries.shape[1:] != keys_values.shape[1:] or queries.dtype != keys_values.dtype:
                raise CheckpointError(f"queries and keys of {layer} are no matrices of one width and type; {REMEDY}")
            joined[layer + JOINED] = torch.cat([queries, keys_values])
    return joined


def our_name(name: str) -> str | None:
    """Our name for a published weight, if there is one."""
    if match := LAYER.fullmatch(name):
        number, rest = match.groups()
        return f"blocks.{number}.{IN_LAYER[rest]}" if rest in IN_LAYER else None
    if match := OF_BACKBONE.fullmatch(name):
        return f"backbone.features.{match[1]}"
    return OUTSIDE_LAYERS.get(name)


def their_name(name: str) -> str:
    """The published name of one of our weights, or our own name; for the joined projections, that of the queries."""
    layers = {ours: theirs for theirs, ours in IN_LAYER.items()} | {JOINED: "0.fn.to_q.weight"}
    if (match := OUR_LAYER.fullmatch(name)) and match[2] in layers:
        return f"retnet.layers.{match[1]}.{layers[match[2]]}"
    if name.startswith("backbone.features."):
        return f"feature_extractor.features.0.{name.removeprefix('backbone.features.')}"
    outside = {ours: theirs for theirs, ours in OUTSIDE_LAYERS.items()}
    return outside.get(name, name)


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
