import numpy as np
from conftest import written

from drethtr.pictures.explanation import DOUBTFUL, HEIGHT, LOST, MARGIN, SURE, color_of, explained_line
from drethtr.recognition.pieces import reading_of
from drethtr.recognition.reading import Character

LINE = written("abc")
WIDTH = round(LINE.shape[1] * HEIGHT / LINE.shape[0])


def picture(*confidences):
    width = LINE.shape[1] / len(confidences)
    characters = [Character("a", sure, i * width, (i + 1) * width) for i, sure in enumerate(confidences)]
    return np.asarray(explained_line(LINE, reading_of(characters)).to_image()).astype(int)


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
    shown = np.asarray(explained_line(LINE, reading_of([])).to_image())
    assert (shown[-10:] == 255).all() and (shown[:HEIGHT] < 100).any()
