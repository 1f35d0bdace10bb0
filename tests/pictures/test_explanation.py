import numpy as np
from conftest import written

from drethtr.pictures.canvas import Canvas
from drethtr.pictures.explanation import DOUBTFUL, HEIGHT, LOST, MARGIN, SURE, color_of, show_line, show_text
from drethtr.recognition.reading import Character

LINE = written("abc")
WIDTH = round(LINE.shape[1] * HEIGHT / LINE.shape[0])


def picture(*confidences):
    width = LINE.shape[1] / max(len(confidences), 1)
    characters = tuple(Character("a", sure, i * width, (i + 1) * width) for i, sure in enumerate(confidences))
    text = show_text(characters, HEIGHT / LINE.shape[0], MARGIN, MARGIN + HEIGHT + 49)
    shapes = (*show_line(LINE, characters, MARGIN, MARGIN), *text)
    return np.asarray(Canvas(WIDTH + 2 * MARGIN, 180, shapes).to_image()).astype(int)


def test_only_doubtful_places_are_tinted():
    sure, doubtful = picture(1.0, 1.0), picture(1.0, 0.4)
    line = slice(MARGIN, MARGIN + HEIGHT)
    assert (sure[line] == sure[line, :, :1]).all(), "there is color on a line without doubts"
    changed = (sure != doubtful).any(-1)[line, MARGIN : MARGIN + WIDTH]
    assert not changed[:, : WIDTH // 2 - 1].any() and changed[:, WIDTH // 2 + 1 :].all()


def test_characters_stand_under_their_place():
    below = picture(1.0)[MARGIN + HEIGHT :]
    ink = np.flatnonzero((below < 200).any((0, 2)))
    assert abs(ink.mean() - below.shape[1] / 2) < 3


def test_colors_go_from_lost_over_doubtful_to_sure():
    assert [color_of(confidence) for confidence in (0.0, 0.5, 1.0)] == [LOST, DOUBTFUL, SURE]
    reds = [color_of(0.5 + step / 20)[0] for step in range(11)]
    assert reds == sorted(reds, reverse=True)


def test_an_empty_reading_shows_the_line():
    shown = picture()
    assert (shown[-10:] == 255).all() and (shown[:HEIGHT] < 100).any()
