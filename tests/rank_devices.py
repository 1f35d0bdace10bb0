"""Test how two processes cooperate; started by torchrun.

    python -m torch.distributed.run --nproc-per-node 2 rank_devices.py FOLDER

Process 0 sees only zeros, process 1 only ones. Each writes to `FOLDER/RANK.json` the mean of its batch norm after
averaging, its share of four parts, and why three cannot be shared.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

from drethtr.base.errors import ConfigError
from drethtr.training.devices import Devices


def refusal(devices: Devices, parts: int) -> str:
    """The error from sharing a number of parts."""
    try:
        return f"shared: {devices.local_parts(parts)}"
    except ConfigError as error:
        return str(error)


if __name__ == "__main__":
    own = Devices.open("cpu")
    rank = own.accelerator.process_index
    network = nn.Sequential(nn.Conv2d(1, 3, 1), nn.BatchNorm2d(1, momentum=1.0))
    network[1](torch.full((2, 1, 4, 4), float(rank)))
    own.average_batch_norms(network)
    found = {"mean": network[1].running_mean.tolist(), "share": list(own.local_parts(4)), "refusal": refusal(own, 3)}
    (Path(sys.argv[1]) / f"{rank}.json").write_text(json.dumps(found))
