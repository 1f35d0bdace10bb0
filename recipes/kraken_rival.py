"""Train kraken on the lines of the shipped model, and measure it.

Install kraken==7.1.1 and drethtr[train,pretrained] in one environment.

python recipes/kraken_rival.py ppocrv6 lines runs/kraken --epochs 5
python recipes/kraken_rival.py default lines runs/kraken --epochs 14

`ppocrv6` is kraken's PP-OCRv6 network, from the pretrained weights that the shipped model started from. `default` is
its default network, 64 pixels high instead of 120, from scratch.

LINES contains SET.train.parquet, SET.val.parquet and SET.test.parquet. kraken learns from all clean training lines
except csafe_en, which is for testing only, and chooses by 600 validation lines. Run it again to go on from the last
checkpoint. Batches are made of lines of similar widths and padded to the longest, instead of all to the same width,
which takes a fraction of the time on a CPU. The table is printed and written to OUT/NETWORK.md.
"""

import argparse
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import torch
from kraken_curve import SPEC, listed
from PIL import Image
from rivals import table
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Sampler

from drethtr.lines.sample import Sample
from drethtr.lines.selection import clean_lines
from drethtr.lines.sources import open_all
from drethtr.lines.write_parquet import png_of
from drethtr.network.pretrained import Pretrained, ppocr_weights

HEIGHT, BATCH, UNTRAINED, CHOSEN_BY = 64, 16, "csafe_en", 600
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


class AlikeBatches(Sampler[list[int]]):
    """Batches of lines of similar widths, in random order."""

    def __init__(self, widths: Sequence[int], size: int) -> None:
        self.widths, self.size = widths, size

    def __iter__(self) -> Iterator[list[int]]:
        order = torch.randperm(len(self.widths)).tolist()
        many = 50 * self.size
        parts = (
            sorted(order[start : start + many], key=self.widths.__getitem__) for start in range(0, len(order), many)
        )
        batches = [part[start : start + self.size] for part in parts for start in range(0, len(part), self.size)]
        return iter(random.sample(batches, len(batches)))

    def __len__(self) -> int:
        return -(-len(self.widths) // self.size)


def alike_batches(module: Any) -> DataLoader[Any]:
    """The training batches of a data module of kraken."""
    boxes = [box for _, box in module.train_set.dataset._images]
    alike = AlikeBatches([right - left for left, _, right, _ in boxes], BATCH)
    collate = import_module("kraken.lib.dataset").collate_sequences
    return DataLoader(module.train_set, batch_sampler=alike, collate_fn=collate)


def adapt_default() -> None:
    """Let the default network be trained with `alike_batches`."""
    import_module("kraken.train.vgsl").VGSLRecognitionDataModule.train_dataloader = alike_batches


def adapt_ppocr() -> None:
    """Let PP-OCRv6 be trained with `alike_batches`; kraken compiles it for one width."""
    training: Any = import_module("kraken.train.ppocr")
    dataset = import_module("kraken.lib.dataset")
    padded_texts = training.PPOCRv6RecognitionModel._nrtr_targets

    def texts(module: Any, target: Tensor, lengths: Tensor, device: torch.device) -> Tensor:
        return padded_texts(module, target, lengths, device)[:, : int(lengths.max()) + 2]  # type: ignore[no-any-return]

    training.PPOCRv6RecognitionDataModule.train_dataloader = alike_batches
    training.PPOCRv6RecognitionModel._nrtr_targets = texts
    training.collate_static_width = lambda batch, max_width: dataset.collate_sequences(batch)
    training.PPOCRv6RecognitionModel.on_fit_start = lambda module: module.net.nn.to(memory_format=torch.channels_last)


@dataclass(frozen=True)
class Network:
    """One of kraken's networks.

    Attributes:
        channels: of its input.
        adapt: what makes its training fit for a CPU.
        begin: options of `ketos train` for a new run, given the start weights.
        pace: options for its learning rate, given the number of epochs.
    """

    channels: int
    adapt: Callable[[], None]
    begin: Callable[[Path], Sequence[object]]
    pace: Callable[[int], Sequence[object]]


NETWORKS = {
    "ppocrv6": Network(
        channels=3,
        adapt=adapt_ppocr,
        begin=lambda start: ("--load", start, "--resize", "fail"),
        pace=lambda _: ("--arch", "ppocrv6", "--warmup", 200, "--max-width", 1600),
    ),
    "default": Network(
        channels=1,
        adapt=adapt_default,
        begin=lambda _: ("-s", SPEC),
        pace=lambda epochs: ("--warmup", 200, "--schedule", "cosine", "--cos-max", epochs),
    ),
}


def train(network: Network, out: Path, model: Path, epochs: int, threads: int) -> None:
    """Run ketos in this process, from the last checkpoint in the folder `model` if there is one."""
    network.adapt()
    checkpoints = sorted(model.glob("*.ckpt"), key=lambda path: path.stat().st_mtime)
    begin = ["--resume", checkpoints[-1]] if checkpoints else network.begin(out / "start.safetensors")
    machine = ["--threads", threads, "--workers", 0, "--precision", "bf16-mixed"]
    data = ["-f", "path", "--linetype", "baselines", "-t", out / "train.txt", "-e", out / "choose.txt", "-u", "NFC"]
    how = ["-q", "fixed", "-N", epochs, "-F", 0.1, "-B", BATCH, "--no-reorder", *network.pace(epochs)]
    command = ["-v", *machine, "train", *begin, "-o", model, *data, *how]
    sys.argv = ["ketos", *map(str, command)]
    import_module("kraken.ketos").cli(standalone_mode=False)


@torch.inference_mode()
def texts(network: Network, model: Any, lines: Sequence[Sample]) -> list[str]:
    """Read lines one by one, by the network and greedy decoder."""
    decode = import_module("kraken.configs").RecognitionInferenceConfig().decoder
    read = []
    for line in lines:
        outputs, lengths = model.nn(input_of(line, network.channels)[None])
        [found] = decode(outputs.squeeze(2), lengths)
        read.append("".join(character for character, *_ in model.codec.decode(found)))
    return read


def best_weights(model: Path) -> Path:
    """The weights with the best validation accuracy so far, which is in the name of their checkpoint."""
    checkpoints = sorted(model.glob("checkpoint_*-*.ckpt"), key=lambda path: path.stem.rpartition("-")[2])
    if not checkpoints:
        return model.parent / "start.safetensors"
    weights = checkpoints[-1].with_suffix(".safetensors")
    if not weights.exists():
        import_module("kraken.models.convert").convert_models([checkpoints[-1]], weights, weights_format="safetensors")
    return weights


def measure(network: Network, folder: Path, path: Path) -> str:
    """The table of the weights in a file, on all test lines."""
    [model] = import_module("kraken.models").load_models(path, tasks=["recognition"])
    model.eval()
    return f"{path.name}\n\n{table(folder, lambda _, lines: texts(network, model, lines))}"


def main() -> None:
    """Do whatever has not been done yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("lines", type=Path, help="folder of SET.train.parquet, SET.val.parquet, SET.test.parquet")
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=3, help="0 only measures what is there")
    parser.add_argument("--threads", type=int, default=2)
    wanted = parser.parse_args()
    torch.set_num_threads(wanted.threads)
    wanted.out.mkdir(parents=True, exist_ok=True)
    files = {kind: sorted(wanted.lines.glob(f"*.{kind}.parquet")) for kind in ("train", "val")}
    learn, choose = (
        clean_lines(open_all([str(file) for file in files[kind] if not file.name.startswith(UNTRAINED)]))
        for kind in ("train", "val")
    )
    network, model = NETWORKS[wanted.network], wanted.out / wanted.network
    start = wanted.out / "start.safetensors"
    if not start.exists():
        listed(learn, wanted.out / "train")
        listed(random.Random(0).sample(list(choose), CHOSEN_BY), wanted.out / "choose")
        write_start(learn, start)
    began, used = time.monotonic(), os.times()
    if wanted.epochs:
        train(network, wanted.out, model, wanted.epochs, wanted.threads)
        now = os.times()
        processor = now.user + now.system - used.user - used.system
        print(f"{(time.monotonic() - began) / 60:.0f} minutes, {processor / 60:.0f} of a processor")  # noqa: T201
    measured = measure(network, wanted.lines, best_weights(model))
    model.with_suffix(".md").write_text(measured, encoding="utf-8")
    print(measured)  # noqa: T201


if __name__ == "__main__":
    main()
