"""What several processes have of a training, each for itself; started by torchrun.

    python -m torch.distributed.run --nproc-per-node 2 ranks.py FOLDER STREAMS CHUNKS

Each writes to `FOLDER/RANK.json` the texts of its share of the first chunks, its share of four parts, why three cannot
be shared, the mean of its batch norm after averaging, where process 0 saw only zeros and process 1 only ones, and the
seconds for which it waited while process 0 slept longer than torch's timeout.
"""

import json
import sys
import time
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

import torch
from torch import nn
from torch.distributed import distributed_c10d
from waiting import until

from drethtr.base import config
from drethtr.base.errors import ConfigError
from drethtr.text.tokenizer import Characters
from drethtr.training.devices import Devices
from drethtr.training.feed.batch import Batches
from drethtr.training.feed.mixture import LineMixture
from drethtr.training.feed.stream import beginnings
from drethtr.training.loop import open_streams
from drethtr.training.run import RunConfig

TIMEOUT = 1.0
"""Seconds of torch's timeout, by default half an hour."""


def waited(mark: Path, devices: Devices) -> float:
    """The seconds until all have arrived; process 0 sleeps when the other waits, for twice the timeout."""
    begun = time.monotonic()
    if devices.is_main:
        until(mark.exists, 300)
        time.sleep(2 * TIMEOUT)
    else:
        mark.touch()
    devices.barrier()
    return time.monotonic() - begun


def texts_of(run: RunConfig, streams: int, chunks: int, devices: Devices) -> dict[int, list[str]]:
    """The texts of this process by chunk number, among the first `chunks` chunks."""
    mixture = LineMixture.open(run.train, run.seed)
    tokenizer = Characters.learn(sample.text for sample in mixture.real_samples())
    batches = Batches(mixture, run.preparation, tokenizer, run.batches, run.augmentation)
    places = beginnings(streams)
    texts = defaultdict(list)
    for part, stream in zip(
        devices.local_parts(streams), open_streams(batches, places, devices, workers=0), strict=True
    ):
        chunk = places[part].chunk
        while chunk < chunks:
            after, batch = next(stream)
            texts[chunk] += batch.texts
            chunk = after.chunk
    return texts


def refusal(devices: Devices, parts: int) -> str:
    """The error from sharing a number of parts."""
    try:
        return f"shared: {devices.local_parts(parts)}"
    except ConfigError as error:
        return str(error)


def averaged_mean(devices: Devices, seen: int) -> list[float]:
    """The mean of a batch norm that saw only one number, averaged with those of the other processes."""
    network = nn.Sequential(nn.Conv2d(1, 3, 1), nn.BatchNorm2d(1, momentum=1.0))
    network[1](torch.full((2, 1, 4, 4), float(seen)))
    devices.average_batch_norms(network)
    return network[1].running_mean.tolist()


if __name__ == "__main__":
    folder, streams, chunks = Path(sys.argv[1]), *map(int, sys.argv[2:])
    distributed_c10d.default_pg_timeout = timedelta(seconds=TIMEOUT)
    own = Devices.open("cpu")
    rank = own.accelerator.process_index
    found = {
        "waited": waited(folder / "waits", own),
        "mean": averaged_mean(own, rank),
        "share": list(own.local_parts(4)),
        "refusal": refusal(own, 3),
        "texts": texts_of(config.load(RunConfig, folder / "run.toml"), streams, chunks, own),
    }
    (folder / f"{rank}.json").write_text(json.dumps(found))
