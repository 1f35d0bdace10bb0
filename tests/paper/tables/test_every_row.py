"""Every row of every table runs; one that stands in several tables is the same work, and runs once."""

from collections import defaultdict
from dataclasses import replace

import pytest

from drethtr.paper.tables.experiments import TimedTrOCR
from drethtr.paper.tables.paper import TABLES
from drethtr.paper.tables.table import CER, GIGABYTES, Result, finished, reproduce, result_path

ROWS = defaultdict(list)
for table in TABLES.values():
    for row in table.rows:
        ROWS[row.experiment].append((table, row))


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
