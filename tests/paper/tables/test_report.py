import re
from dataclasses import replace

import pytest
import torch

from drethtr.base.errors import DataError
from drethtr.datasets.open import open_samples
from drethtr.evaluation.metrics import Counts
from drethtr.paper.tables.paper import BEAMS, EFFICIENCY, GAMMA
from drethtr.paper.tables.report import samples_of, write_report
from drethtr.paper.tables.reproduce import reproduce
from drethtr.paper.tables.result import LineResult, Measurement, Result

CPU = torch.device("cpu")


def test_a_report_holds_tables_and_pictures(conditions):
    reproduce(GAMMA, [GAMMA.rows[0], GAMMA.rows[-1]], 1, conditions)
    reproduce(BEAMS, BEAMS.rows[:2], 1, conditions)
    reproduce(EFFICIENCY, EFFICIENCY.rows[:1], 1, conditions)
    page = write_report(conditions.folder, CPU)
    for title in (GAMMA.title, BEAMS.title, EFFICIENCY.title, "The hardest lines", "Decay: D by schedule"):
        assert title in page
    assert "γ softmax" in page and "back on average" in page
    assert len(re.findall("<svg ", page)) >= 7 and "src='data:image/png;base64," in page
    assert page.count("<svg ") == page.count("</svg>") and "href='http" not in page


def test_there_must_be_something_to_report(tmp_path):
    with pytest.raises(DataError, match="no results yet"):
        write_report(tmp_path, CPU)


def test_lines_that_are_gone_or_others_are_named(conditions):
    [file] = conditions.material.lines("iam").test
    result = Result(table="gamma", row="small", seed=0, fingerprint="", outcome=Measurement(figures={}, files=(file,)))
    first = open_samples(file)[1]
    there = LineResult(first.key, "", first.text, "", Counts())
    assert samples_of(result, [there]).keys() == {f"{file} row 1"}
    for line in (replace(there, key=f"{file} row 99"), replace(there, text="another")):
        with pytest.raises(DataError, match="this test line has moved since 'small'"):
            samples_of(result, [there, line])
