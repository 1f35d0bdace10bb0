"""The mean of two models' weights: the shipped model is that of one before and one after a run of recombined lines.

python recipes/mean.py 0.6 before.safetensors after.safetensors mean.safetensors    # 0.6 of `after`
drethtr calibrate mean.safetensors 'lines/*.val.parquet' --force
"""

import sys
from dataclasses import replace
from pathlib import Path

from drethtr.checkpoint import Model, load_model, save_model
from drethtr.trust.trust import Trust


def mean(before: Model, after: Model, share: float) -> Model:
    """All weights between those of two models of one shape, so far towards the second; uncalibrated."""
    weights = before.network.state_dict()
    for name, weight in after.network.state_dict().items():
        weights[name] = weights[name].lerp(weight, share) if weight.is_floating_point() else weight
    before.network.load_state_dict(weights)
    return replace(before, trust=Trust(), card=after.card)


if __name__ == "__main__":
    share, before, after, output = float(sys.argv[1]), *map(Path, sys.argv[2:])
    save_model(mean(load_model(before), load_model(after), share), output)
