"""PP-OCRv6's pretrained weights, from which the shipped model started, as weights of kraken's PP-OCRv6 network."""

import random
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F

from drethtr.datasets.parquet import png_of
from drethtr.datasets.sample import Sample
from drethtr.network.pretrained import Pretrained, ppocr_weights

HEIGHT = 64
NECK = {"skip_conv": "shortcut", "conv_reduce": "reduce", "local_conv": "sideways", "norm": "norm"}
BLOCK = {
    "norm1": "attention_norm",
    "mixer.qkv": "to_qkv",
    "mixer.proj": "to_out",
    "norm2": "mlp_norm",
    "mlp.fc1": "expand",
    "mlp.fc2": "project",
}
STEM = {"stem1": "enter", "stem2a": "narrow", "stem2b": "widen", "stem3": "merge", "stem4": "expand"}


def names(network: nn.Module) -> Iterator[tuple[str, str]]:
    """Layers of kraken's network and their names in `PPOCRBackbone`."""
    yield from ((f"backbone.conv1.{theirs}", f"stem.{ours}") for theirs, ours in STEM.items())
    backbone: Any = network.backbone
    blocks = [name for name, module in backbone.named_modules() if type(module).__name__ == "LCNetV4Block"]
    for number, name in enumerate(blocks):
        mixer = backbone.get_submodule(f"{name}.token_mixer")
        convolution = "rep_dw" if hasattr(mixer, "rep_dw") else "dw_conv"
        yield f"backbone.{name}.token_mixer.{convolution}", f"blocks.{number}.depthwise"
        if hasattr(mixer, "se"):
            yield f"backbone.{name}.token_mixer.se.conv1", f"blocks.{number}.squeeze.fc1"
            yield f"backbone.{name}.token_mixer.se.conv2", f"blocks.{number}.squeeze.fc2"
        yield f"backbone.{name}.channel_mixer.expand", f"blocks.{number}.expand"
        yield f"backbone.{name}.channel_mixer.compress", f"blocks.{number}.project"
    yield from ((f"neck.{theirs}", f"neck.{ours}") for theirs, ours in NECK.items())
    for number in range(2):
        yield from (
            (f"neck.svtr_block.{number}.{theirs}", f"neck.blocks.{number}.{ours}") for theirs, ours in BLOCK.items()
        )


def give(layer: Any, weight: Tensor, bias: Tensor) -> None:
    """Put weights into a layer of kraken's: batch norms are set to add the bias only, until they are measured."""
    if hasattr(layer, "conv1"):  # three branches and a norm: all into one branch
        identity = F.pad(torch.ones(len(weight), 1, 1, 1), (1, 1, 1, 1))
        give(layer.conv, weight - identity, torch.zeros_like(bias))
        layer.conv1.weight.zero_()
        plain(layer.bn, bias)
    elif isinstance(layer, nn.Sequential):
        convolution, norm, *_ = cast("Iterable[Any]", layer)
        convolution.weight.copy_(weight)
        plain(norm, bias)
    elif hasattr(layer, "conv"):
        layer.conv.weight.copy_(weight)
        plain(layer.bn if hasattr(layer, "bn") else layer.norm, bias)
    else:
        layer.weight.copy_(weight.view_as(layer.weight))
        layer.bias.copy_(bias)


def plain(norm: Any, bias: Tensor) -> None:
    """Let a batch norm in evaluation mode add `bias` only."""
    norm.running_mean.zero_()
    norm.running_var.fill_(1 - norm.eps)
    norm.weight.fill_(1)
    norm.bias.copy_(bias)


def measure_norms(network: nn.Module, images: Sequence[Tensor]) -> None:
    """Give batch norms the mean and variance of their inputs, without changing what the network computes."""
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    sums = {norm: torch.zeros(3, norm.num_features, dtype=torch.float64) for norm in norms}

    def add(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        pixels = inputs[0].double().transpose(0, 1).flatten(1)
        counts = torch.full_like(pixels[:, 0], pixels.shape[1])
        sums[norm] += torch.stack((counts, pixels.sum(1), pixels.square().sum(1)))  # type: ignore[index]

    hooks = [norm.register_forward_pre_hook(add) for norm in norms]
    for image in images:
        network(image[None])
    for hook in hooks:
        hook.remove()
    for norm, (count, total, squares) in sums.items():
        mean = (total / count).float()
        variance = (squares / count).float() - mean.square()
        norm.running_mean.copy_(mean)  # type: ignore[union-attr]
        norm.running_var.copy_(variance)  # type: ignore[union-attr]
        norm.weight.copy_((variance + norm.eps).sqrt())
        norm.bias.add_(mean)


def input_of(line: Sample, channels: int) -> Tensor:
    """A line as kraken shows it to a network: (channels, HEIGHT, W), ink 1, paper 0, 16 columns on both sides."""
    transforms = import_module("kraken.lib.dataset.utils").ImageInputTransforms
    image = Image.open(BytesIO(png_of(line)))
    return transforms(1, HEIGHT, 0, channels, (16, 0), valid_norm=False)(image)  # type: ignore[no-any-return]


def like_ppocr(known: Pretrained, characters: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Weight and bias of the output layer: PP-OCR's rows where it has the character, their mean for the others."""
    places = {character: place for place, character in enumerate(known.characters)}
    rows = [0, *(places.get(character, -1) for character in characters)]
    common = [row for row in rows[1:] if row >= 0]
    weight = [known.head_weight[row] if row >= 0 else known.head_weight[common].mean(0) for row in rows]
    bias = [known.head_bias[row] if row >= 0 else known.head_bias[common].mean() - 3 for row in rows]
    return torch.stack(weight), torch.stack(bias)


@torch.no_grad()
def write_start(lines: Sequence[Sample], path: Path) -> None:
    """Write PP-OCRv6 small in kraken's form, for the characters of the lines."""
    known = ppocr_weights()
    characters = sorted({character for sample in lines for character in sample.text})
    codec = {character: [label] for label, character in enumerate(characters, 1)}
    form = import_module("kraken.lib.ppocr").PPOCRv6Model
    model = form(
        "small", num_classes=len(codec) + 1, height=HEIGHT, codec=codec, seg_type="baselines", one_channel_mode="L"
    )
    network = model.nn.eval()
    for theirs, ours in names(network):
        weight, bias = known.backbone[f"{ours}.weight"], known.backbone[f"{ours}.bias"]
        if ours == "stem.enter":  # from one channel, paper -1 and ink 1, to three of paper 0 and ink 1
            weight, bias = weight.expand(-1, 3, -1, -1) * (2 / 3), bias - weight.sum((1, 2, 3))
        give(network.get_submodule(theirs), weight, bias)
    for target, values in zip(
        (network.head.fc.weight, network.head.fc.bias), like_ppocr(known, characters), strict=True
    ):
        target.copy_(values)
    some = [input_of(line, 3) for line in random.Random(0).sample(lines, 200)]
    before = network(some[0][None])[0]
    measure_norms(network, some)
    after = network(some[0][None])[0]
    if not torch.allclose(before, after, rtol=0, atol=1e-2):
        raise SystemExit(f"batch norms change the outputs by {(before - after).abs().max()}")
    import_module("kraken.models.writers").write_safetensors([model], path)
