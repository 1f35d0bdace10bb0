"""Every row of every table runs."""

from dataclasses import replace

import pytest

from drethtr.paper.tables.experiments import TimedTrOCR
from drethtr.paper.tables.paper import TABLES
from drethtr.paper.tables.table import CER, GIGABYTES, Result, finished, reproduce, result_path

ROWS = [(table, row) for table in TABLES.values() for row in table.rows]


@pytest.mark.parametrize(("table", "row"), ROWS, ids=[f"{table.name}: {row.name}" for table, row in ROWS])
def test_a_row_gives_what_the_paper_gives_and_is_not_run_again(table, row, conditions):
    if isinstance(row.experiment, TimedTrOCR):
        pytest.importorskip("transformers")
    said = []
    reproduce(table, [row], 1, conditions)
    result = Result.load(result_path(conditions.folder, table, row, seed=0))
    assert set(row.paper) <= {*result.outcome.figures, GIGABYTES}
    assert bool(result.outcome.lines) == (CER in result.outcome.figures)
    reproduce(table, [row], 1, replace(conditions, say=said.append))
    assert said == []
    assert finished(conditions.folder, table)[row.name] == [result]
