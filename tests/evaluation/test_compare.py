import random

import pytest
from conftest import written

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample
from drethtr.evaluation.compare import compare_lines, edits_of, paired
from drethtr.evaluation.metrics import Counts
from drethtr.evaluation.reading import ScoredLine
from drethtr.recognition.reading import Reading


def lines(pages, better=0, seed=0):
    """Pages that are hard or easy for both; B makes `better` edits less on each of 20 lines of 100 characters."""
    rng = random.Random(seed)
    a, b, names = [], [], []
    for page in range(pages):
        hard = rng.uniform(5, 60)
        for _ in range(20):
            edits = round(hard + rng.gauss(0, 3))
            a.append(Counts(max(edits, 0), 100, lines=1))
            b.append(Counts(max(edits + round(rng.gauss(-better, 2)), 0), 100, lines=1))
            names.append(f"page {page}")
    return a, b, names


def test_a_small_advantage_is_shown_though_pages_differ_much():
    found = paired(*lines(20, better=1))
    assert found.verdict == "B is better" and found.better > 0.99
    assert found.low < found.difference < found.high < 0
    assert found.difference == pytest.approx(found.b - found.a) and found.high - found.low < 0.01


def test_no_advantage_shows_none():
    verdicts = [paired(*lines(12, seed=seed)).verdict for seed in range(20)]
    assert verdicts.count("no difference shown") >= 17


def test_the_other_way_round_is_the_opposite():
    a, b, pages = lines(20, better=2)
    there, back = paired(a, b, pages), paired(b, a, pages)
    assert back.difference == -there.difference and (back.low, back.high) == pytest.approx((-there.high, -there.low))
    assert back.verdict == "A is better"


def test_equal_systems_have_no_interval():
    a, _, pages = lines(5)
    found = paired(a, a, pages)
    assert (found.difference, found.low, found.high, found.better) == (0, 0, 0, 0.5)


def test_pages_not_lines_are_drawn():
    a, b, pages = lines(8)
    b = [Counts(one.edits + (6 if page < "page 4" else -6), 100, lines=1) for one, page in zip(b, pages, strict=True)]
    by_page, by_line = paired(a, b, pages), paired(a, b, [""] * len(a))
    assert by_page.high - by_page.low > 3 * (by_line.high - by_line.low)


def test_a_few_pages_show_nothing():
    a, b, pages = lines(5, better=5)
    found = paired(a, b, pages)
    assert found.high < 0 and found.drawn == 5 and found.verdict == "too few pages to tell"


def test_one_page_shows_nothing():
    """Its lines are drawn to have an interval, but they share a hand: the verdict was theirs, as of forty pages."""
    a, b, _ = lines(2, better=5)
    found = paired(a, b, ["one"] * 40)
    assert found.high < 0 and found.drawn == 1 and found.verdict == "too few pages to tell"
    assert paired(a, b, [""] * 40).verdict == "B is better"


def test_nothing_to_compare():
    with pytest.raises(DataError, match="no lines"):
        paired([], [], [])


def test_edits_of_a_reading():
    assert edits_of("Haus", "haus!") == [("H", "h"), ("", "!")]
    assert edits_of("ein  Haus", "einHaus") == [(" ", "")]


def reading(text, confidence):
    return Reading(text, confidence, ())


@pytest.fixture
def comparison():
    samples = [
        Sample(written("a"), text, set=name, page=page, key=f"line {text}")
        for text, name, page in (("abc", "s", "1"), ("x" * 20, "s", "2"), ("def", "t", "1"), ("ghi", "t", "2"))
    ]
    a = [reading("abd", 0.4), reading("x" * 20, 0.99), reading("def", 0.92), reading("ghj", 0.4)]
    b = [reading("abc", 0.6), reading("x" * 18, 0.99), reading("def", 0.92), reading("ghk", 0.6)]
    return compare_lines(list(map(ScoredLine, samples, a)), list(map(ScoredLine, samples, b)))


def test_parts_of_a_comparison(comparison):
    assert (comparison.cer.a, comparison.cer.b) == (2 / 29, 3 / 29)
    assert (comparison.wer.a, comparison.wer.b) == (0.5, 0.5)
    assert [(row.name, row.lines, row.a, row.b) for row in comparison.sets] == [
        ("s", 2, 1 / 23, 2 / 23),
        ("t", 2, 1 / 6, 1 / 6),
    ]
    assert [(row.name, row.lines) for row in comparison.lengths] == [("up to 15", 3), ("16 to 30", 1)]
    assert [(row.name, row.lines, row.cer) for row in comparison.confidences_a] == [
        ("up to 0.5", 2, 2 / 6), ("0.9 to 0.95", 1, 0), ("over 0.95", 1, 0),
    ]  # fmt: skip


def test_nothing_read_is_not_sure_of_itself():
    samples = [Sample(written("a"), "abc", page=page) for page in "12"]
    a, b = [reading("", 1.0), reading("abc", 0.99)], [reading("abc", 0.99)] * 2
    found = compare_lines(list(map(ScoredLine, samples, a)), list(map(ScoredLine, samples, b)))
    assert [(row.name, row.lines, row.cer) for row in found.confidences_a] == [
        ("nothing read", 1, 1), ("over 0.95", 1, 0),
    ]  # fmt: skip


def test_lines_without_text_are_counted_separately():
    samples = [Sample(written("a"), text, set=name) for text, name in (("abc", "s"), ("", "blank"))]
    lines = list(map(ScoredLine, samples, [reading("abd", 0.4), reading("x" * 20, 0.99)]))
    found = compare_lines(lines, lines)
    assert [row.name for row in found.sets] == ["s"] and found.empty == 1 and found.cer.a == 21 / 3
    assert [(row.name, row.lines, row.cer) for row in found.confidences_a] == [
        ("up to 0.5", 1, 1 / 3), ("over 0.95", 1, None),
    ]  # fmt: skip


def test_confusions_and_lines_of_a_comparison(comparison):
    found = {(one.written, one.read): (one.a, one.b) for one in comparison.confusions}
    assert found == {("c", "d"): (1, 0), ("x", ""): (0, 2), ("i", "j"): (1, 0), ("i", "k"): (0, 1)}
    assert [line.sample.text[:3] for line in comparison.lines][:2] == ["xxx", "abc"]
