"""A text with the line breaks of its page, placed on lines that were hardly read."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from drethtr import DataError
from drethtr.proofreading.line_breaks import GAP, MAX_PAIRS, place_lines, places

TEXT = """To the right honourable my very good Lord
the Lord high Treasurer of England

It may please your good Lordship to be advertised
that the bearer hereof hath been a suitor unto me
for the space of three months and more
"""
ROWS = tuple(filter(None, TEXT.splitlines()))
READ = (
    "Te he nyd lnonsable ny ry pod Eord",
    "he Lno jigh Tiesaner af Eglnd",
    "H mq plase yer god Lordslap ta bi aduurted",
    "thet he berer heef hah bn a sutar ota ma",
    "fr he spai of thee mouts e mere",
)


def test_each_line_of_the_text_is_a_line_of_the_page():
    placed = place_lines("text.txt", TEXT, READ)
    assert placed.texts == ROWS and placed.left == ()


def test_lines_that_are_read_alike_get_their_text_by_order():
    assert place_lines("text.txt", TEXT, [READ[0], *[READ[2]] * 3, READ[4]]).texts == ROWS


def test_a_false_line_gets_no_text():
    placed = place_lines("text.txt", TEXT, [*READ[:2], "12", *READ[2:]])
    assert placed.texts == (*ROWS[:2], "", *ROWS[2:])


@pytest.mark.parametrize("missing", range(len(ROWS)))
def test_a_line_that_is_missing_on_either_side_moves_no_other(missing):
    without = [*ROWS[:missing], *ROWS[missing + 1 :]]
    assert place_lines("", "\n".join(without), READ).texts == (*ROWS[:missing], "", *ROWS[missing + 1 :])
    fewer = place_lines("", TEXT, [*READ[:missing], *READ[missing + 1 :]])
    assert fewer.texts == tuple(without) and fewer.left == (ROWS[missing],)


def test_the_placement_is_the_cheapest_in_order():
    random = np.random.default_rng(1)
    for _ in range(200):
        rows, read = (["".join(random.choice(list("abc"), random.integers(1, 5))) for _ in range(4)] for _ in "ab")
        read = read[: random.integers(0, 5)]
        found = places(rows, read)
        assert all(first < second for first, second in pairwise(place for place in found if place is not None))
        cheapest = min(
            cost(rows, read, dict(zip(lines, chosen, strict=True)))
            for count in range(len(read) + 1)
            for lines in combinations(range(len(read)), count)
            for chosen in combinations(range(len(rows)), count)
        )
        chosen = {line: place for line, place in enumerate(found) if place is not None}
        assert cost(rows, read, chosen) == pytest.approx(cheapest, abs=1e-5)


def cost(rows, read, chosen):
    pairs = sum(Levenshtein.normalized_distance(read[line], rows[place]) for line, place in chosen.items())
    return pairs + GAP * (len(rows) + len(read) - 2 * len(chosen))


@pytest.mark.parametrize(("text", "read"), [("", READ), (" \n\n", READ), (TEXT, ()), ("", ())])
def test_without_text_or_lines_nothing_is_placed(text, read):
    placed = place_lines("", text, read)
    assert placed.texts == ("",) * len(read) and " ".join(placed.left) == " ".join(text.split())


def test_too_many_lines_to_compare_are_refused():
    rows = 4000
    with pytest.raises(DataError, match=r"book\.txt: 4,000 lines of text are too many"):
        place_lines("book.txt", "line\n" * rows, ["line"] * (MAX_PAIRS // rows + 1))
