from pathlib import Path

import pytest

from drethtr.evaluation.whole_pages import collections_of, compare_pages, match, to_json

REFERENCE = ["the first line", "and the second", "at last a third"]


def rates(read):
    counts = compare_pages(REFERENCE, read)
    return counts.ordered.cer, counts.matched.cer, counts.found_only.cer


def test_a_correct_page_has_no_errors():
    assert rates(REFERENCE) == (0, 0, 0)


def test_the_order_of_lines_matters_only_in_order():
    ordered, matched, found_only = rates(REFERENCE[::-1])
    assert ordered > 0.5 and matched == found_only == 0


def test_a_line_left_out_counts_as_deleted():
    ordered, matched, found_only = rates(REFERENCE[:2])
    assert matched == found_only == pytest.approx(15 / 43) and ordered == pytest.approx(16 / 45)


def test_a_line_too_many_counts_as_inserted():
    ordered, matched, found_only = rates([*REFERENCE, "a stamp"])
    assert matched == pytest.approx(7 / 43) and ordered == pytest.approx(8 / 45) and found_only == 0


def test_a_line_cut_in_two_costs_nothing_in_order():
    ordered, matched, _ = rates(["the first", "line", *REFERENCE[1:]])
    assert ordered == 0 and matched > 0.1


def test_likest_lines_are_matched_first():
    """A long line of other writing takes no reference away from the short line that reads it."""
    pairs, left_out, invented = match(["de la lire"], ["a long printed line with much other text in it", "de la livre"])
    assert (pairs, left_out, invented) == ([(0, 1)], [], [0])


@pytest.mark.parametrize(("reference", "read"), [([], ["a"]), (["a"], []), ([], [])])
def test_empty_pages(reference, read):
    counts = compare_pages(reference, read)
    assert (counts.lines, counts.read) == (len(reference), len(read))
    assert counts.matched.edits == len(reference) + len(read)


def test_figures_for_programs():
    found = to_json({"a": compare_pages(REFERENCE, REFERENCE), "b": compare_pages(REFERENCE, REFERENCE[:2])})
    assert [page["name"] for page in found["pages"]] == ["a", "b"]
    assert (found["overall"]["lines"], found["overall"]["lines_read"]) == (6, 5)
    assert found["overall"]["cer_matched_low"] is None and found["overall"]["drawn"] == 2, "too few pages"
    found = to_json({name: compare_pages(REFERENCE, REFERENCE[: 2 + (name > "c")]) for name in "abcdef"})
    low, middle, high = (found["overall"][f"cer_matched{end}"] for end in ("_low", "", "_high"))
    assert low <= middle <= high and found["overall"]["drawn"] == 6


@pytest.mark.parametrize(
    ("names", "collections"),
    [
        (["all/diary_1.xml", "all/diary_2.xml", "all/letter-01.xml", "all/letter-02.xml"], ["diary", "letter"]),
        (["all/1.xml", "all/2.xml", "all/cover.xml", "all/diary_1.xml"], ["all"]),
        (["letters/page_1.xml", "letters/page_2.xml", "more/x.xml"], ["page", "more"]),
        (
            ["letters/page_1.xml", "letters/page_2.xml", "diary/page_1.xml", "diary/page_2.xml"],
            ["letters/page", "diary/page"],
        ),
        (["a/page/1.xml", "b/page/1.xml", "b/page/2.xml"], ["a/page", "b/page"]),
        (["1.xml", "2.xml"], ["."]),
    ],
)
def test_files_of_several_folders_are_several_collections(names, collections):
    found = collections_of(names)
    assert [Path(name).as_posix() for name in found] == collections
    assert sorted(name for members in found.values() for name in members) == sorted(names)
