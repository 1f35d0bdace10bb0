import numpy as np
from made_pages import letter
from PIL import Image

from drethtr.documents import Page, PageWord, Region, TextLine, Transcription
from drethtr.pictures.canvas import Rectangle, Words
from drethtr.pictures.explained_page import HEIGHT, explained_page


def page_with(words, width=700, height=680):
    polygon = ((80, 60), (480, 60), (480, 110), (80, 110))
    line = TextLine("l", polygon, None, Transcription(" ".join(word.text for word in words), 0.5, words))
    return Page("letter.png", width, height, (Region("r", (line,)),))


def test_text_stands_beside_its_line_and_doubts_are_tinted():
    place = ((80, 60), (200, 60), (200, 110), (80, 110))
    scan, page = (
        letter().image,
        page_with((PageWord("sure", 0.95, place), PageWord("unsure", 0.2, place, doubtful=True))),
    )
    canvas = explained_page(scan, page)
    words = [shape for shape in canvas.shapes if isinstance(shape, Words)]
    assert [word.text for word in words] == ["sure", "unsure"] and words[0].x < words[1].x
    scale = HEIGHT / 680
    assert all(700 * scale < word.x and 60 * scale < word.y < 110 * scale for word in words)
    [tint] = [shape for shape in canvas.shapes if isinstance(shape, Rectangle)]
    assert np.allclose((tint.left, tint.top, tint.right, tint.bottom), np.multiply((80, 60, 200, 110), scale))
    assert canvas.to_image().height == HEIGHT


def test_pages_without_lines_or_places():
    assert explained_page(Image.new("1", (300, 400)), Page("a.png", 300, 400)).to_image().height == HEIGHT
    unplaced = Page("a.png", 300, 400, (Region("r", (TextLine("l", transcription=Transcription("text")),)),))
    assert len(explained_page(Image.new("L", (300, 400)), unplaced).shapes) == 1
