from dataclasses import replace

import numpy as np
import pytest

from drethtr.documents.points import box_around
from drethtr.images.straighten import Strip
from drethtr.pages.events import DoubtCounts
from drethtr.pages.transcribe import on_page, transcription_of
from drethtr.recognition.reading import Character, Flag, Reading

STRIP = Strip(
    np.full((40, 200), 255, np.uint8),
    places=np.stack((np.arange(100.0, 300.0), np.full(200, 80.0)), axis=1),
    downs=np.tile((0.0, 1.0), (200, 1)),
    above=30,
    ends=(0, 200),
)
"""A line that stands on row 80 of its page, from column 100 to 300."""


def reading(text, confidences, flags=()):
    characters = tuple(
        Character(letter, confidence, 10.0 * place, 10.0 * place + 10)
        for place, (letter, confidence) in enumerate(zip(text, confidences, strict=True))
    )
    return Reading(text, 0.5, characters, flags)


def test_words_stand_where_they_were_read():
    found = transcription_of(reading("ab cd", [0.9] * 5), STRIP, 1000, 1000)
    assert (found.text, found.confidence) == ("ab cd", 0.5)
    first, second = found.words
    assert (first.text, first.box) == ("ab", (100, 50, 120, 90))
    assert (second.text, second.box) == ("cd", (130, 50, 150, 90))
    assert (first.confidence, first.doubtful) == (0.9, False)


def test_whether_confidences_are_calibrated_goes_along():
    own = reading("ab cd", [0.9] * 5)
    for read in (own, replace(own, word_confidences=(0.9, 0.9))):
        assert transcription_of(read, STRIP, 1000, 1000).calibrated == read.calibrated


def test_unsure_and_flagged_words_are_doubtful():
    flag = Flag("repetition", "the same again", 55, 75)
    found = transcription_of(reading("ab cd ef", [0.9, 0.2, 1, 0.9, 0.9, 1, 0.9, 0.9], (flag,)), STRIP, 1000, 1000)
    assert [word.doubtful for word in found.words] == [True, False, True]
    [placed] = found.flags
    assert str(placed) == str(flag) == "repetition: the same again"
    assert box_around(placed.polygon) == (155, 50, 175, 90)


def test_a_sure_word_is_doubtful_where_a_flag_stands():
    """On a line image as on a page."""
    flag = Flag("uncovered", "ink", 55, 65)
    found = reading("an old ox", [0.9] * 9, (flag,)).transcription()
    assert [word.doubtful for word in found.words] == [False, True, False] and str(found.flags[0]) == "uncovered: ink"
    doubts = DoubtCounts()
    doubts.add(found)
    assert (doubts.words, doubts.doubtful, doubts.flagged, doubts.kinds) == (3, 1, 1, {"uncovered": 1})


def test_a_line_on_its_head_has_its_words_from_right_to_left():
    head_down = STRIP._replace(places=STRIP.places[::-1], downs=-STRIP.downs)
    first, second = transcription_of(reading("ab cd", [0.9] * 5), head_down, 1000, 1000).words
    assert second.box.right < first.box.left and first.box.top == 70


def test_words_end_where_the_line_does():
    """What is read in the margin around the line has no place of its own."""
    first, second = transcription_of(reading("ab cd", [0.9] * 5), STRIP._replace(ends=(5, 25)), 1000, 1000).words
    assert first.box == (105, 50, 120, 90) and second.polygon is None


def test_words_beyond_the_page_lose_their_place():
    [word] = transcription_of(reading("ab", [0.9] * 2), STRIP, 90, 1000).words
    assert (word.text, word.polygon) == ("ab", None)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(1.4, 2.6), (1.3, 2.7), (5, 5)], ((1, 3), (5, 5))),
        ([(-3, 2), (200, 300)], ((0, 2), (100, 50))),
        ([], ()),
    ],
)
def test_points_are_whole_and_on_the_page(points, expected):
    assert on_page(points, 100, 50) == expected
