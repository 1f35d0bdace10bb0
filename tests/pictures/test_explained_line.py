import numpy as np
from conftest import written

from drethtr.pictures.explained_line import DOUBTFUL, LOST, SURE, color_of, explained_line
from drethtr.reading import Character
from drethtr.recognizer import reading_of

LINE = written("abc")


def picture(*confidences):
    width = LINE.shape[1] / len(confidences)
    characters = [Character("a", sure, i * width, (i + 1) * width) for i, sure in enumerate(confidences)]
    return np.asarray(explained_line(LINE, reading_of(characters))).astype(int)


def test_only_doubtful_places_are_tinted():
    sure, doubtful = picture(1.0, 1.0), picture(1.0, 0.4)
    height, width = int(1.5 * LINE.shape[0]), int(1.5 * LINE.shape[1])
    assert (sure[10 : 10 + height] == sure[10 : 10 + height, :, :1]).all(), "there is color on a line without doubts"
    changed = (sure != doubtful).any(-1)[10 : 10 + height, 10 : 10 + width]
    assert not changed[:, : width // 2 - 1].any() and changed[:, width // 2 + 1 :].all()


def test_characters_stand_under_their_place():
    below = picture(1.0)[10 + int(1.5 * LINE.shape[0]) :]
    ink = np.flatnonzero((below < 200).any((0, 2)))
    assert abs(ink.mean() - below.shape[1] / 2) < 3


def test_colors_go_from_lost_over_doubtful_to_sure():
    assert [color_of(confidence) for confidence in (0.0, 0.5, 1.0)] == [LOST, DOUBTFUL, SURE]
    reds = [color_of(0.5 + step / 20)[0] for step in range(11)]
    assert reds == sorted(reds, reverse=True)


def test_an_empty_reading_shows_the_line():
    assert (np.asarray(explained_line(LINE, reading_of([])))[-10:] == 255).all()
