import importlib.util
import json
import sys

import numpy as np
import pytest
from real_data import LAYOUT, needs_layout

from drethtr.evaluation.layout import FOREIGN, Fate, KnownLine, as_read, compare_layout, figures_of, to_json
from drethtr.layout.finder import FoundLine


def line(left, right, row, height=40):
    corners = ((left, row - 0.7 * height), (right, row - 0.7 * height), (right, row + 0.3 * height))
    corners = (*corners, (left, row + 0.3 * height))
    return FoundLine.at(((left, row), (right, row)), corners)


PAGE = [line(100, 900, row) for row in (100, 160, 220, 280)]
REFERENCE = [KnownLine(known, 10) for known in PAGE]


def test_the_lines_themselves():
    same = compare_layout(REFERENCE, PAGE)
    assert (same.precision, same.recall, list(same.fates)) == (1, 1, [Fate.FOUND] * 4)
    assert (same.false, same.successions, same.kept) == (0, 3, 3)


@pytest.mark.parametrize(
    ("found", "fate"),
    [
        ([line(100, 900, 100), line(100, 900, 190, 100)], [Fate.FOUND, Fate.MERGED, Fate.MERGED, Fate.MISSED]),
        ([line(100, 520, 100), line(520, 900, 100)], [Fate.SPLIT, Fate.MISSED, Fate.MISSED, Fate.MISSED]),
        ([line(100, 500, 100)], [Fate.CUT, Fate.MISSED, Fate.MISSED, Fate.MISSED]),
        ([line(100, 700, 100)], [Fate.FOUND, Fate.MISSED, Fate.MISSED, Fate.MISSED]),
        ([], [Fate.MISSED] * 4),
    ],
    ids=["merged", "split", "cut", "mostly covered", "nothing"],
)
def test_what_becomes_of_lines(found, fate):
    assert list(compare_layout(REFERENCE, found).fates) == fate


def test_a_line_beside_another_is_merged_with_it():
    """Two cells of a row, found as one line: either is held by an outline that holds the other, too."""
    cells = [KnownLine(line(100, 480, row), 5) for row in (100, 160)] + [KnownLine(line(520, 900, 100), 5)]
    assert list(compare_layout(cells, [line(100, 900, 100)]).fates) == [Fate.MERGED, Fate.MISSED, Fate.MERGED]


def test_false_lines_lower_precision_only():
    found = compare_layout(REFERENCE, [*PAGE, line(100, 900, 600)])
    assert (found.false, found.precision, found.recall) == (1, 0.8, 1)


def test_a_wrong_order_keeps_successions_within_its_parts():
    found = compare_layout(REFERENCE, [*PAGE[2:], *PAGE[:2]])
    assert (found.successions, found.kept) == (3, 2)


def test_a_layout_read_letter_by_letter():
    """Merged lines are read as one, from left to right; a false line has letters of its own, as many as fit there."""
    texts = ("In the beginning was", "the word, and the", "word was written")
    known = [KnownLine(line, len(text), text) for line, text in zip(PAGE, texts, strict=False)]
    assert as_read(known, PAGE[:3]) == list(texts)
    assert as_read(known, [line(100, 500, 100), PAGE[1]]) == [texts[0][:10], texts[1]]
    [false] = as_read(known, [line(100, 500, 600)])
    assert set(false) == {FOREIGN} and 8 <= len(false) <= 10
    cells = [KnownLine(line(520, 900, 100), 4, "five"), KnownLine(line(100, 480, 100), 4, "four")]
    assert as_read(cells, [line(100, 900, 100)]) == ["four five"]


def test_an_outline_that_touches_other_lines_reads_its_own():
    known = [
        KnownLine(line, 9, text) for line, text in zip(PAGE, ("the first", "and other", "and third"), strict=False)
    ]
    wide = line(100, 900, 160, height=60)
    grazing = np.concatenate((wide.polygon, ((100.0, 160.0), (100.0, 90.0), (160.0, 90.0), (160.0, 160.0))))
    assert as_read(known, [FoundLine(wide.baseline, grazing)]) == ["and other"]


def test_figures_add_up_and_have_intervals_from_six_pages_on():
    pages = [compare_layout(REFERENCE, PAGE[:number]) for number in (4, 4, 3, 3, 2, 2)]
    few, many = figures_of(pages[:5]), figures_of(pages)
    assert many["found"] == many["found_characters"] == pytest.approx(18 / 24)
    assert sum(many[fate.value] for fate in Fate) == pytest.approx(1)
    assert few["found_low"] is None and many["found_low"] < many["found"] < many["found_high"]
    assert json.loads(json.dumps(to_json({"a": pages[0]}, {"all": ["a"]})))["sets"][0]["precision"] == 1


def test_an_order_is_measured_where_lines_follow_each_other():
    """A page without such lines says nothing of it, not that all of it is wrong."""
    pages = [compare_layout(REFERENCE, PAGE), *[compare_layout(REFERENCE[:1], PAGE[:1])] * 5]
    all_of_them, others = figures_of(pages), figures_of(pages[1:] + pages[-1:])
    assert [all_of_them[f"successions{end}"] for end in ("", "_low", "_high")] == [1, 1, 1]
    assert [others[f"successions{end}"] for end in ("", "_low", "_high")] == [None, None, None]


@needs_layout
@pytest.mark.parametrize("name", ["hooker_en_003", "medital_it_002", "lectaurep_fr_004"])
def test_as_measured_by_others(name):
    """On real pages, with their lines moved, joined, cut and left out, the figures are those of another program."""
    pytest.importorskip("scipy")
    spec = importlib.util.spec_from_file_location("score", LAYOUT / "score.py")
    score = importlib.util.module_from_spec(spec)
    sys.modules["score"] = score
    spec.loader.exec_module(score)
    true, size, _ = score.truth(LAYOUT / "open" / f"{name}.xml")
    random = np.random.default_rng(0)
    reference = [KnownLine(FoundLine(one["base"], one["poly"]), max(1, len(one["text"]))) for one in true]
    found = [
        FoundLine(reference[number].line.baseline + shift, reference[number].line.polygon + shift)
        for number in random.permutation(len(true))[: -len(true) // 5]
        for shift in [random.normal(0, 9, 2)]
    ]
    aside = np.array((40, 15))
    found += [FoundLine(known.line.baseline + aside, known.line.polygon + aside) for known in reference[::6]]
    theirs = score.page_score(true, [line._asdict() for line in found], size)
    ours = compare_layout(reference, found)
    assert (ours.precision, ours.recall) == pytest.approx((theirs["P"], theirs["R"]))
    assert [fate.value for fate in ours.fates] == theirs["kinds"] and list(ours.characters) == theirs["chars"]
    assert (ours.false, ours.successions, ours.kept) == (theirs["false"], theirs["pairs"], theirs["good"])
