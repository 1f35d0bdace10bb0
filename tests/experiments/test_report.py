import re

import pytest
import torch

from drethtr.errors import DataError
from drethtr.experiments.report import samples_of, write_report
from drethtr.experiments.reproduce import reproduce
from drethtr.experiments.result import Outcome, Result
from drethtr.experiments.tables import BEAMS, EFFICIENCY, GAMMA

CPU = torch.device("cpu")


def test_a_report_holds_tables_and_pictures(conditions):
    reproduce(GAMMA, [GAMMA.rows[0], GAMMA.rows[-1]], 1, conditions)
    reproduce(BEAMS, BEAMS.rows[:2], 1, conditions)
    reproduce(EFFICIENCY, EFFICIENCY.rows[:1], 1, conditions)
    page = write_report(conditions.folder, CPU)
    for title in (GAMMA.title, BEAMS.title, EFFICIENCY.title, "The hardest lines", "What is remembered"):
        assert title in page
    assert "γ softmax" in page and "back on average" in page
    assert len(re.findall("<svg ", page)) >= 7 and "src='data:image/png;base64," in page
    assert page.count("<svg ") == page.count("</svg>") and "href='http" not in page


def test_there_must_be_something_to_report(tmp_path):
    with pytest.raises(DataError, match="no results yet"):
        write_report(tmp_path, CPU)


def test_lines_that_are_gone_are_named(conditions):
    [file] = conditions.material.lines("iam").test
    result = Result(table="gamma", row="small", seed=0, fingerprint="", outcome=Outcome(figures={}, files=(file,)))
    assert samples_of(result, {f"{file} row 1"}).keys() == {f"{file} row 1"}
    with pytest.raises(DataError, match="row 99: this test line is no longer where it was when 'small'"):
        samples_of(result, {f"{file} row 1", f"{file} row 99"})
