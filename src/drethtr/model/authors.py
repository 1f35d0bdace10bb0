"""The authors' checkpoints: their names for the weights, translated into ours (spec, Sec. 4).

A checkpoint of theirs holds weights and nothing else. Which mixer, decay and prior it was trained with cannot be seen
in it, nor the alphabet: whoever loads one must say so, in a `NetworkConfig`.
"""

import re
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from drethtr.errors import CheckpointError
from drethtr.model.network import DRetHTR

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
    "0.fn.to_gt.weight": "fusion.text_mixer.decay.gate.weight",
    "0.fn.to_out.0.weight": "fusion.to_out.weight",
    "0.fn.to_out.0.bias": "fusion.to_out.bias",
    "1.norm.weight": "feed_forward.0.weight",
    "1.norm.bias": "feed_forward.0.bias",
    "1.fn.net.0.weight": "feed_forward.1.weight",
    "1.fn.net.0.bias": "feed_forward.1.bias",
    "1.fn.net.3.weight": "feed_forward.4.weight",
    "1.fn.net.3.bias": "feed_forward.4.bias",
}
LAYER = re.compile(r"retnet\.layers\.(\d+)\.(.+)")
BACKBONE = re.compile(r"feature_extractor\.features\.0\.(.+)")


def load_published(network: DRetHTR, state: Mapping[str, Tensor]) -> None:
    """Fill a network with a published state dict.

    Raises:
        CheckpointError: naming weights that are unknown, missing, left over or of another shape.
    """
    weights, wanted = published_weights(state), network.state_dict()
    if missing := wanted.keys() - weights.keys():
        raise CheckpointError(f"the published weights lack {listed(missing)} of this network; is its config theirs?")
    if extra := weights.keys() - wanted.keys():
        raise CheckpointError(f"this network has no place for the published {listed(extra)}; is its config theirs?")
    for name, weight in weights.items():
        if weight.shape != wanted[name].shape:
            raise CheckpointError(
                f"{name}: the published shape is {tuple(weight.shape)}, this network's {tuple(wanted[name].shape)}; "
                "is its config theirs?"
            )
    network.load_state_dict(weights)


def published_weights(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A published state dict under our names; DDP's prefix `module.` may stand before theirs.

    Raises:
        CheckpointError: naming weights that no network of ours has.
    """
    weights, unknown = {}, []
    for name, weight in state.items():
        ours = our_name(name.removeprefix("module."))
        if ours is None:
            unknown.append(name)
        else:
            weights[ours] = weight
    if unknown:
        raise CheckpointError(f"published weights that no network here has: {listed(unknown)}")
    return joined_projections(weights)


def joined_projections(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same with each layer's queries and its keys and values in one matrix, queries first."""
    joined = dict(weights)
    for name in weights:
        if name.endswith(QUERIES):
            layer = name.removesuffix(QUERIES)
            if layer + KEYS_VALUES not in weights:
                raise CheckpointError(f"the published weights have queries but no keys and values for {layer}")
            joined[layer + JOINED] = torch.cat([joined.pop(name), joined.pop(layer + KEYS_VALUES)])
    return joined


def our_name(name: str) -> str | None:
    """Our name for a published weight, if there is one."""
    if match := LAYER.fullmatch(name):
        number, rest = match.groups()
        return f"blocks.{number}.{IN_LAYER[rest]}" if rest in IN_LAYER else None
    if match := BACKBONE.fullmatch(name):
        return f"backbone.features.{match[1]}"
    return OUTSIDE_LAYERS.get(name)


def listed(names: Iterable[str], shown: int = 3) -> str:
    """The first few names, and how many there are besides."""
    first, more = sorted(names)[:shown], len(list(names)) - shown
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")
