"""Record the training lines that each of several processes reads; started by torchrun.

    python -m torch.distributed.run --nproc-per-node 2 rank_shares.py FOLDER STREAMS CHUNKS

Writes the texts of this process's share of the first chunks to `FOLDER/RANK.json`.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from drethtr.base import config
from drethtr.text.tokenizer import Characters
from drethtr.training.devices import Devices
from drethtr.training.feed.batch import Batches
from drethtr.training.feed.mixture import Mixture
from drethtr.training.feed.stream import beginnings
from drethtr.training.loop import open_streams
from drethtr.training.run import RunConfig


def share(run: RunConfig, streams: int, chunks: int, devices: Devices) -> dict[int, list[str]]:
    """The texts of this process by chunk number, among the first `chunks` chunks."""
    mixture = Mixture.open(run.train, run.seed)
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


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    own = Devices.open("cpu")
    found = share(config.load(RunConfig, folder / "run.toml"), *map(int, sys.argv[2:]), own)
    (folder / f"{own.accelerator.process_index}.json").write_text(json.dumps(found))
