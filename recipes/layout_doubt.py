"""Fit what a layout may cost, `layout/doubt.py`, and measure the intervals on collections that they were not fitted on.

    drethtr evaluate pages --layout --json layout.json
    python recipes/layout_doubt.py layout.json

Pages with tables are left out; they have figures of their own. A page counts as one over the square root of the pages
of its collection, so that no collection decides alone.
"""

import argparse
import json
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from drethtr.evaluation.whole_pages import collections_of

Numbers: TypeAlias = NDArray[np.float64]

LEVEL = 0.93
"""Share of the fitted pages whose cost is within the interval; on collections left out it is a little less."""


def fitted(odd: Numbers, cost: Numbers, weights: Numbers) -> tuple[float, float, float]:
    """The cost without odd lines, what it grows by with their share, and how many times it may be."""
    terms, roots = np.stack((np.ones_like(odd), odd), 1), np.sqrt(weights)
    usual, growth = np.linalg.lstsq(terms * roots[:, None], cost * roots, rcond=None)[0].clip((0.005, 0), None)
    ratios = cost / (usual + growth * odd)
    order = np.argsort(ratios)
    share = np.cumsum(weights[order]) / weights.sum()
    return usual, growth, ratios[order][min(np.searchsorted(share, LEVEL), len(order) - 1)]


def main(file: Path) -> None:
    pages = {page["name"]: page["cost"] for page in json.loads(file.read_text())["pages"] if page["cost"]}
    tables = [cost["true"] for cost in pages.values() if cost["table"]]
    costs = {name: cost for name, cost in pages.items() if not cost["table"]}
    of = {name: collection for collection, names in collections_of(list(costs)).items() for name in names}
    collections = np.array([of[name] for name in costs])
    if len(np.unique(collections)) < 2:
        raise SystemExit("give pages of two collections or more: each is judged by a fit on the others")
    odd, cost = (np.array([page[key] for page in costs.values()]) for key in ("odd", "true"))
    cost = cost.clip(0, None)
    weights = np.array([(collections == name).sum() ** -0.5 for name in collections])
    print("usual, growth with odd lines, times:", *(f"{value:.3f}" for value in fitted(odd, cost, weights)))  # noqa: T201
    expected, high = np.empty_like(cost), np.empty_like(cost)
    for name in np.unique(collections):
        apart = collections == name
        usual, growth, times = fitted(odd[~apart], cost[~apart], weights[~apart])
        expected[apart] = usual + growth * odd[apart]
        high[apart] = (times * expected[apart]).clip(None, 1)
        print(  # noqa: T201
            f"{name}: {apart.sum()} pages, cost {cost[apart].mean():.3f}, expected {expected[apart].mean():.3f}, "
            f"within the interval {(cost <= high)[apart].sum()}"
        )
    error, likeness = np.abs(expected - cost).mean(), np.corrcoef(expected, cost)[0, 1]
    print(  # noqa: T201
        f"collections left out: {(cost <= high).mean():.3f} of {len(cost)} pages within the interval, which ends at "
        f"{high.mean():.3f} in the mean; mean absolute error {error:.3f}, correlation {likeness:.2f}"
    )
    if tables:
        print(  # noqa: T201
            f"{len(tables)} pages with tables: {np.min(tables):.2f} to {np.max(tables):.2f}, mean {np.mean(tables):.2f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layout", type=Path, help="what drethtr evaluate --layout --json has written")
    main(parser.parse_args().layout)
