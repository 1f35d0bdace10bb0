import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.pictures.contact_sheet import MAX_WIDTH, contact_sheet


def line(tone, width=200):
    return np.full((64, width), tone, np.uint8)


def test_every_line_is_on_the_sheet_in_reading_order():
    sheet = np.asarray(contact_sheet([(line(tone), "") for tone in (40, 80, 120)], columns=2))
    places = {tone: np.argwhere(sheet == tone) for tone in (40, 80, 120)}
    assert all(len(place) == 64 * 200 for place in places.values())
    assert places[40][0, 0] == places[80][0, 0] < places[120][0, 0]
    assert places[40][0, 1] == places[120][0, 1] < places[80][0, 1]


def test_captions_stand_below_and_may_have_several_lines():
    heights = [contact_sheet([(line(200), caption)]).height for caption in ("read", "read\nwritten")]
    assert heights[1] > heights[0]
    sheet = np.asarray(contact_sheet([(line(200), "read")]))
    assert (sheet[8:72] >= 200).all() and (sheet[72:] < 100).any()


def test_long_lines_are_scaled_to_fit():
    sheet = contact_sheet([(line(9, 4000), "long"), (line(9, 100), "short")], columns=1)
    assert MAX_WIDTH < sheet.width < MAX_WIDTH + 50


def test_a_caption_without_end_and_a_line_without_end_are_cut():
    sheet = contact_sheet([(line(90), "x" * 1_000_000), (np.full((4000, 60), 90, np.uint8), "high")])
    assert sheet.width < 3000 and sheet.height < 400


def test_whatever_ends_a_paragraph_is_drawn_as_a_space():
    drawn, plain = (contact_sheet([(line(90), caption)]) for caption in ("a\r\x1c\x1d\x1e\x85\u2029b", "a      b"))
    assert np.array_equal(drawn, plain)


def test_nothing_to_show():
    with pytest.raises(DataError, match="no lines"):
        contact_sheet([])
