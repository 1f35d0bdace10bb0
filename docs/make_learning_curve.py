"""Plot the training losses of a model over consecutive runs.

python docs/make_learning_curve.py runs/first/metrics.jsonl runs/second/metrics.jsonl ...
"""

import json
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from drethtr.pictures.chart import Panel, curves

LOSSES = {"text": "decoder, nats per character", "ctc": "CTC, nats per character"}
BINS_PER_DOUBLING = 3
PICTURE = Path(__file__).parent / "images" / "learning.svg"


def losses(paths: list[Path]) -> list[tuple[int, dict[str, float]]]:
    """Pairs of the cumulative number of lines seen and the losses of a batch."""
    seen, found = 0, []
    for path in paths:
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        records = [record for record in records if record["kind"] == "train"]
        found += [(seen + record["samples"], record) for record in records]
        seen += records[-1]["samples"]
    return found


def smoothed(points: list[tuple[int, float]]) -> list[tuple[float, float]]:
    """Means over intervals whose length grows by a constant factor."""
    edges = [500 * 2 ** (step / BINS_PER_DOUBLING) for step in range(80)]
    bins = defaultdict(list)
    for seen, value in points:
        for low, high in pairwise(edges):
            if low <= seen < high:
                bins[low].append((seen, value))
    return [(fmean(seen for seen, _ in some), fmean(value for _, value in some)) for some in bins.values()]


found = losses([Path(name) for name in sys.argv[1:]])
panels = [
    Panel(title, "lines seen", {"training batches": smoothed([(seen, record[name]) for seen, record in found])})
    for name, title in LOSSES.items()
]
PICTURE.write_text(curves("Losses in training", panels), encoding="utf-8")
