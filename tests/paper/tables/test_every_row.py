"""Every row of every table runs; one that stands in several tables is the same work, and runs once."""

from collections import defaultdict
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

import pytest

from drethtr.network.backbones import efficientnet
from drethtr.paper.network import backbones
from drethtr.paper.speed import peers
from drethtr.paper.tables import experiments
from drethtr.paper.tables.experiments import TimedTrOCR
from drethtr.paper.tables.paper import TABLES
from drethtr.paper.tables.table import CER, GIGABYTES, Result, finished, reproduce, result_path

ROWS = defaultdict(list)
for table in TABLES.values():
    for row in table.rows:
        ROWS[row.experiment].append((table, row))


@pytest.fixture(autouse=True)
def shallow(monkeypatch):
    """A block in each stage of the published backbones, small images and a few pieces for TrOCR: for speed."""
    for module in (efficientnet, backbones):
        monkeypatch.setattr(module, "STAGES", tuple(stage._replace(blocks=1) for stage in module.STAGES))
    for module in (experiments, peers):
        monkeypatch.setattr(module, "TROCR_PIXELS", 32)
    if find_spec("transformers") is not None:
        import transformers

        few = partial(transformers.TrOCRConfig, vocab_size=100, d_model=64, decoder_ffn_dim=64)
        monkeypatch.setattr(transformers, "TrOCRConfig", few)


@pytest.mark.parametrize("alike", ROWS.values(), ids=lambda alike: "; ".join(f"{t.name}: {r.name}" for t, r in alike))
def test_a_row_gives_what_the_paper_gives_and_is_not_run_again(alike, conditions):
    table, row = alike[0]
    if isinstance(row.experiment, TimedTrOCR):
        pytest.importorskip("transformers")
    said = []
    reproduce(table, [row], 1, conditions)
    result = Result.load(result_path(conditions.folder, table, row, seed=0))
    assert all(set(other.paper) <= {*result.outcome.figures, GIGABYTES} for _, other in alike)
    assert bool(result.outcome.lines) == (CER in result.outcome.figures)
    reproduce(table, [row], 1, replace(conditions, say=said.append))
    assert said == []
    assert finished(conditions.folder, table)[row.name] == [result]
