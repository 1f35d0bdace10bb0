"""Which text belongs to which scan."""

import numpy as np
import pytest
from growth import steps
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.pages.catalog import Catalog
from drethtr.proofreading.inputs import are_lines, is_text, open_proof_inputs


@pytest.fixture
def folder(tmp_path):
    """Two scans, each with a text of its name, another text, and a table."""
    for name in ("a", "b"):
        Image.fromarray(np.full((900, 600), 255, dtype=np.uint8)).save(tmp_path / f"{name}.png")
        (tmp_path / f"{name}.txt").write_text(f"text of {name}")
    (tmp_path / "whole.md").write_text("# all of it")
    return tmp_path


def given(folder, *names):
    return open_proof_inputs([str(folder / name) for name in names], texts_needed=True)


def test_texts_go_with_the_pages_of_their_names(folder):
    found = given(folder, "b.txt", "a.png", "b.png", "a.txt")
    assert [(one.originals[0].source.path.stem, one.text) for one in found] == [("a", "text of a"), ("b", "text of b")]


def test_a_text_may_end_as_ground_truth_does(folder):
    (folder / "a.txt").rename(folder / "a.gt.txt")
    assert [one.text for one in given(folder, "a.png", "b.png", "a.gt.txt", "b.txt")] == ["text of a", "text of b"]


def test_another_text_is_that_of_all_pages(folder):
    [one] = given(folder, "a.png", "b.png", "whole.md")
    assert len(one.originals) == 2 and one.text == "all of it"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a.png", "b.png", "a.txt"], "no text named after this page"),
        (["a.png", "a.txt", "b.txt"], "no page named after this text"),
        (["a.png"], "no text to align"),
        (["a.txt"], "no scans among these"),
        (["a.png", "none.txt"], "no such file"),
    ],
)
def test_what_does_not_go_together_is_refused(folder, names, said):
    with pytest.raises(DataError, match=said):
        given(folder, *names)


@pytest.mark.parametrize(
    ("name", "content", "is_page"),
    [
        ("b.xml", "<PcGts", True),
        ("b.xml", "<mets>", True),
        ("b.xml", "<TEI><text>a word</text></TEI>", False),
        ("b.json", '{"@context": "http://iiif.io/api/presentation/3/context.json"}', True),
        ("b.json", '{"text": "a word"}', False),
        ("b.json", "{", False),
    ],
)
def test_texts_are_told_from_pages_by_their_content(tmp_path, name, content, is_page):
    """Damaged XML is a page that cannot be read, if it is PAGE or METS."""
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert is_text(path, Catalog()) is not is_page


def test_a_page_without_text_cannot_be_checked_alone(folder):
    with pytest.raises(DataError, match="has no text to check"):
        open_proof_inputs([str(folder / "a.png")], texts_needed=False)


def test_four_times_as_many_pages_take_four_times_the_steps(tmp_path):
    for number in range(80):
        Image.new("L", (9, 9)).save(tmp_path / f"{number}.png")
        (tmp_path / f"{number}.txt").write_text("a")

    def match(pages):
        names = [f"{number}.{ending}" for number in range(pages) for ending in ("png", "txt")]
        assert len(given(tmp_path, *names)) == pages

    match(1)  # what is done once
    assert steps(lambda: match(80)) < 4.4 * steps(lambda: match(20))


def test_lines_are_told_from_pages(folder, tmp_path):
    lines = tmp_path / "lines"
    lines.mkdir()
    Image.fromarray(np.full((60, 600), 255, dtype=np.uint8)).save(lines / "x.png")
    (lines / "x.gt.txt").write_text("x")
    assert are_lines([str(lines)]) and are_lines(["lines.tsv"]) and not are_lines([str(folder / "a.png")])
    assert not are_lines([str(folder)])


def test_the_time_to_tell_them_grows_with_the_images(tmp_path):
    def told(images):
        for number in range(images):
            (tmp_path / f"{number}.png").touch()
        return steps(lambda: are_lines([str(tmp_path)]))

    few = told(40)
    assert told(160) < 6 * few
