"""Train kraken on the lines of the shipped model, and measure it.

Install kraken==7.1.1 and drethtr[train,pretrained] in one environment.

python recipes/kraken_rival.py ppocrv6 lines runs/kraken --epochs 5
python recipes/kraken_rival.py default lines runs/kraken --epochs 14

`ppocrv6` is kraken's PP-OCRv6 network, from the pretrained weights that the shipped model started from. `default` is
its default network, 64 pixels high instead of 120, from scratch.

LINES contains SET.train.parquet, SET.val.parquet and SET.test.parquet. kraken learns from all clean training lines
except csafe_en, which is for testing only, and chooses by 600 validation lines. Run it again to go on from the last
checkpoint. Batches are made of lines of similar widths and padded to a multiple of 128 columns, instead of all to the
same width, which takes a fraction of the time. The table is printed and written to OUT/NETWORK.md.
"""

import argparse
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from kraken_curve import SPEC, listed
from kraken_start import input_of, write_start
from rivals import table
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import DataLoader, Sampler

from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample, clean_lines
from drethtr.recognition.batching import padded_width

UNTRAINED, CHOSEN_BY = "csafe_en", 600


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


def padded(lines: Sequence[Any]) -> dict[str, Any]:
    """A batch of kraken, padded to one of few widths, as cuDNN plans again for each new shape.

    The first line is the longest; its padding counts as its own, because recurrent layers return no more than that.
    """
    batch: dict[str, Any] = import_module("kraken.lib.dataset").collate_sequences(lines)
    longest = batch["image"].shape[-1]
    width = padded_width(longest)
    batch["image"] = F.pad(batch["image"], (0, width - longest))
    batch["seq_lens"][0] = width
    return batch


def alike_batches(module: Any) -> DataLoader[Any]:
    """The training batches of a data module of kraken."""
    boxes = [box for _, box in module.train_set.dataset._images]
    size = module.trainer.lightning_module.hparams.config.batch_size
    alike = AlikeBatches([right - left for left, _, right, _ in boxes], size)
    workers = module.hparams.data_config.num_workers
    return DataLoader(
        module.train_set,
        batch_sampler=alike,
        collate_fn=padded,
        num_workers=workers,
        persistent_workers=workers > 0,
        pin_memory=True,
    )


def adapt_default() -> None:
    """Let the default network be trained with `alike_batches`."""
    import_module("kraken.train.vgsl").VGSLRecognitionDataModule.train_dataloader = alike_batches


def adapt_ppocr() -> None:
    """Let PP-OCRv6 be trained with `alike_batches`; kraken compiles it for one width."""
    training: Any = import_module("kraken.train.ppocr")
    padded_texts = training.PPOCRv6RecognitionModel._nrtr_targets

    def texts(module: Any, target: Tensor, lengths: Tensor, device: torch.device) -> Tensor:
        return padded_texts(module, target, lengths, device)[:, : int(lengths.max()) + 2]  # type: ignore[no-any-return]

    training.PPOCRv6RecognitionDataModule.train_dataloader = alike_batches
    training.PPOCRv6RecognitionModel._nrtr_targets = texts
    training.collate_static_width = lambda batch, max_width: padded(batch)
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


@dataclass(frozen=True)
class Machine:
    """What to train on."""

    device: str
    threads: int
    workers: int
    batch: int

    def options(self) -> Sequence[object]:
        """Options of `ketos`."""
        where = "--device", self.device, "--threads", self.threads, "--workers", self.workers
        return *where, "--precision", "bf16-mixed"


def train(network: Network, out: Path, model: Path, epochs: int, machine: Machine) -> None:
    """Run ketos in this process, from the last checkpoint in the folder `model` if there is one."""
    network.adapt()
    checkpoints = sorted(model.glob("*.ckpt"), key=lambda path: path.stat().st_mtime)
    begin = ["--resume", checkpoints[-1]] if checkpoints else network.begin(out / "start.safetensors")
    data = ["-f", "path", "--linetype", "baselines", "-t", out / "train.txt", "-e", out / "choose.txt", "-u", "NFC"]
    how = ["-q", "fixed", "-N", epochs, "-F", 0.25, "-B", machine.batch, "--no-reorder", *network.pace(epochs)]
    command = ["-v", *machine.options(), "train", *begin, "-o", model, *data, *how]
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
    checkpoints = sorted(model.glob("checkpoint_*-*.ckpt"), key=lambda path: path.stem.split("-")[1])
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
    parser.add_argument("--device", default="cpu", help="cpu, cuda:0")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=0, help="processes that load lines")
    parser.add_argument("--batch", type=int, default=16, help="lines of a batch")
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
        machine = Machine(wanted.device, wanted.threads, wanted.workers, wanted.batch)
        train(network, wanted.out, model, wanted.epochs, machine)
        now = os.times()
        processor = now.user + now.system - used.user - used.system
        print(f"{(time.monotonic() - began) / 60:.0f} minutes, {processor / 60:.0f} of a processor")  # noqa: T201
    measured = measure(network, wanted.lines, best_weights(model))
    model.with_suffix(".md").write_text(measured, encoding="utf-8")
    print(measured)  # noqa: T201


if __name__ == "__main__":
    main()
