from made_pages import blank

from drethtr.documents.points import Box
from drethtr.pictures.canvas import Label
from drethtr.pictures.hits import draw_hits
from drethtr.search import Hit


def test_captions_name_the_page_in_its_file(tmp_path):
    page = blank().image
    page.save(tmp_path / "book.tiff", save_all=True, append_images=[page])
    hits = [
        Hit(tmp_path / "book.tiff", number, "l1", "a word", 0.9, Box(100, 100, 200, 140), "a [word]", "", "word")
        for number in (1, 2)
    ]
    captions = [shape.text for shape in draw_hits(hits).shapes if isinstance(shape, Label)]
    assert captions == ["0.90  book.tiff  a [word]", "0.90  book.tiff page 2  a [word]"]
