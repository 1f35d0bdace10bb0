"""What is said of results is what they are."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from drethtr.base.errors import DataError
from drethtr.datasets.open import open_samples
from drethtr.evaluation.metrics import Counts, compare
from drethtr.paper.tables.experiments import Trained
from drethtr.paper.tables.paper import BEAMS, EFFICIENCY, GAMMA
from drethtr.paper.tables.report import (
    TOKENS,
    RowResults,
    cost_chart,
    decay_of,
    difference,
    mean_distance,
    samples_of,
    sheet,
    write_report,
)
from drethtr.paper.tables.table import (
    BATCH,
    CER,
    LINES,
    NATS,
    SECONDS,
    LineResult,
    Measurement,
    PaperTable,
    Result,
    Share,
    TableRow,
    mean_of_batches,
    reproduce,
)
from drethtr.pictures.chart import ranges

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


def test_slower_decay_reaches_farther_back():
    near, far = mean_distance(decay_of(np.array([0.1, 0.5, 0.9])))
    assert 0 < near < 0.5 < far < TOKENS


def test_the_distance_is_that_of_the_weights():
    looking_back = np.eye(6, k=-1)
    assert mean_distance(looking_back) == pytest.approx(1) and mean_distance(np.eye(6)) == 0


def test_a_decay_matrix_falls_by_gamma_with_every_token():
    first, last = decay_of(np.array([0.5, 0.7, 0.9]))
    assert first[3, :5].tolist() == pytest.approx([0.125, 0.25, 0.5, 1, 0])
    assert float(last[TOKENS - 1, 0]) == pytest.approx(0.9 ** (TOKENS - 1))


def test_a_row_is_placed_at_the_median_of_its_seeds():
    of_row = [
        Result(table="t", row="a", seed=seed, fingerprint="", outcome=Measurement(figures={SECONDS: seconds}))
        for seed, seconds in enumerate((4.0, 1.0, 0.0))  # 0 was not measured
    ]
    drawn = ranges(f"t: {SECONDS}", SECONDS, [("a", {"ours": (2.5, 1.0, 4.0)})])
    assert cost_chart("t", {"a": of_row}, SECONDS) == drawn


TEXTS = ["abcdefghij"] * 20


def result(row, seed, wrong):
    """Of lines of ten characters, so many of which are wrong in each."""
    lines = tuple(
        LineResult(f"line {number}", f"page {number // 2}", text, text[:-errors] if errors else text, counts)
        for number, (text, errors) in enumerate(zip(TEXTS, wrong, strict=True))
        for counts in [compare(text, text[:-errors] if errors else text)]
    )
    total = sum((line.counts for line in lines), Counts())
    return Result(
        table="t",
        row=row,
        seed=seed,
        fingerprint="f",
        outcome=Measurement(figures={CER: 100 * total.cer, LINES: 20.0}, lines=lines),
    )


def surprised(found, nats):
    """The same, with nats of each line."""
    lines = tuple(replace(line, nats=of_line) for line, of_line in zip(found.outcome.lines, nats, strict=True))
    mean = sum((line.nats_per_character for line in lines), Share()).rate
    outcome = replace(found.outcome, lines=lines, figures=found.outcome.figures | {NATS: mean})
    return replace(found, outcome=outcome)


def with_lines(result, **change):
    """The same, with something else about each line."""
    lines = tuple(replace(line, **change) for line in result.outcome.lines)
    return replace(result, outcome=replace(result.outcome, lines=lines))


A, B, C = TableRow("a", Trained(), {CER: 4.49}), TableRow("b", Trained()), TableRow("c", Trained())
TABLE = PaperTable("t", "A table", "Table 1", (A, B, C), ("A note.",))
RESULTS = {
    "a": [result("a", 0, [1] * 20), result("a", 1, [3] * 20)],
    "b": [result("b", 0, [0] * 20), result("b", 1, [3] * 20)],
}


def test_a_sheet_shows_mean_deviation_interval_and_difference():
    text = sheet(TABLE, RESULTS).markdown()
    rows = [re.split(r"\s*\|\s*", line) for line in text.splitlines() if line.startswith("|")]
    assert rows[0][1:7] == ["", "seeds", "CER %", "paper", "minus first row", "test lines"]
    assert rows[2][1:7] == ["a", "2", "20.00 ± 14.14 [20.00, 20.00]", "4.49", "", "20"]
    assert rows[3][1:6] == ["b", "2", "15.00 ± 21.21 [15.00, 15.00]", "", "-5.00 [-5.00, -5.00]"]
    assert rows[4][1:] == ["c", "", "", "", "", "", ""]
    assert "A note." in text and "mean ± standard deviation" in text


def test_a_sheet_names_the_decoders():
    """Published rates are with 5, 6, 9 or 10 beams."""
    read = [
        replace(one, outcome=replace(one.outcome, decoder=f"PublishedBeam(beams={beams})"))
        for one, beams in zip(RESULTS["a"], (5, 10), strict=True)
    ]
    text = sheet(TABLE, {"a": read}).markdown()
    assert "Read with PublishedBeam(beams=5), PublishedBeam(beams=10)." in text


def test_a_difference_needs_the_same_lines_as_often():
    first = RowResults(A, RESULTS["a"])
    assert difference(RowResults(B, RESULTS["b"][:1]), first, CER) is None
    assert difference(RowResults(C, ()), first, CER) is None
    assert difference(RowResults(B, RESULTS["b"]), first, CER).difference == pytest.approx(-0.05)
    moved, others = (
        [with_lines(result, **change) for result in RESULTS["b"]] for change in ({"key": ""}, {"page": ""})
    )
    assert difference(RowResults(B, moved), first, CER).difference == pytest.approx(-0.05)
    assert difference(RowResults(B, others), first, CER) is None


def test_the_interval_is_that_of_pages():
    wrong = [0, 0] * 5 + [2, 2] * 5
    one = RowResults(A, [result("a", 0, wrong)])
    low, high = re.search(r"\[(.+), (.+)\]", sheet(TABLE, {"a": one.results}).rows[0][2]).groups()
    assert float(low) < 10 - 5 and float(high) > 10 + 5  # ten pages, not twenty lines


def test_surprise_has_an_interval_too_and_lines_in_pieces_do_not_count():
    """Eleven tokens a line with its end: 22 nats are 2 per character."""
    results = {"a": [surprised(result("a", 0, [0] * 20), [11.0] * 20)]}
    results["b"] = [surprised(result("b", 0, [0] * 20), [22.0] * 19 + [None])]
    head, rows = sheet(TABLE, results).head, sheet(TABLE, results).rows
    place = head.index(NATS)
    assert [row[place] for row in rows] == ["1.000 [1.000, 1.000]", "2.000 [2.000, 2.000]", ""]
    assert head[place + 1] == "minus first row" and rows[1][place + 1].startswith("+")


def test_a_page_shows_everything_and_escapes_it():
    table = PaperTable("t", "<A>", "Table 1", (A,))
    assert "&lt;A&gt;" in sheet(table, RESULTS).html() and "<A>" not in sheet(table, RESULTS).html()


def test_the_papers_rate_is_the_mean_of_the_batches():
    """16 lines of 10 characters with 1 wrong, and one of 100 with 50 wrong: 30 %, where the corpus has 25.4 %."""
    counts = [Counts(edits=1, characters=10, lines=1)] * 16 + [Counts(edits=50, characters=100, lines=1)]
    assert mean_of_batches(counts) == pytest.approx(0.3)
    assert mean_of_batches([*[Counts(edits=1, lines=1)] * BATCH, *counts]) == pytest.approx(0.3)  # without text


def test_a_result_survives_a_round_trip(tmp_path):
    kept = RESULTS["a"][0]
    kept.save(tmp_path / "deep" / "a.json")
    assert Result.load(tmp_path / "deep" / "a.json") == kept
