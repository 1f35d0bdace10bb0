import json

import pytest
from printed_pages import put_page

from drethtr import Recognizer
from drethtr.bench.pages import measure, table, to_json
from drethtr.layout.projection import Projection
from drethtr.pages.source import open_originals


@pytest.fixture
def pages(tmp_path):
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["abc def", "a cabbage", "an image"])
    return open_originals(tmp_path / "a.xml")


def test_stages_and_lines_of_a_page(pages, tiny_model):
    [figures] = measure(pages, Recognizer(tiny_model), Projection())
    assert figures.detection.marked == 3 and figures.lines == figures.detection.found
    assert figures.seconds == pytest.approx(figures.load + figures.find + figures.cut + figures.read)
    shown = table([figures], peak=1_234_000_000)
    assert "a.xml" in shown and "1,234 MB" in shown and "of 3 marked lines" in shown
    assert json.loads(json.dumps(to_json([figures], None)))["pages"][0]["lines"] == figures.lines
