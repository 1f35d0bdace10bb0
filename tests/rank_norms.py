"""What the batch norms of two processes know that have seen different images; torchrun starts it.

    python -m torch.distributed.run --nproc-per-node 2 rank_norms.py FOLDER

Process 0 sees 0 everywhere, process 1 sees 1; each writes the mean that it goes on with into `FOLDER/RANK.json`.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

from drethtr.training.devices import Devices

if __name__ == "__main__":
    own = Devices.open("cpu")
    rank = own.accelerator.process_index
    network = nn.Sequential(nn.Conv2d(1, 3, 1), nn.BatchNorm2d(1, momentum=1.0))
    network[1](torch.full((2, 1, 4, 4), float(rank)))
    own.level(network)
    (Path(sys.argv[1]) / f"{rank}.json").write_text(json.dumps(network[1].running_mean.tolist()))
