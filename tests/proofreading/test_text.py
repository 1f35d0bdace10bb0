"""A text against the upper half of the sample page: what belongs to which line, and what the ink does not say."""

import shutil
from pathlib import Path

import pytest
from page_examples import document_of
from PIL import Image
from sample_letter import TEXT, put_letter

from drethtr import DataError, Recognizer
from drethtr.documents import FORMATS, Box, Page, Region, TextLine, Transcription
from drethtr.pages.segmentation import segmentation_named
from drethtr.proofreading.check import Kind
from drethtr.proofreading.inputs import open_proof_inputs
from drethtr.proofreading.proof import ON_NO_LINE, ground_truth
from drethtr.proofreading.text import prove_text

SAMPLES = Path(__file__).parents[2] / "samples"
IMAGES = [SAMPLES / f"00000{number}.png" for number in (0, 1)]
TEXTS = [path.with_suffix(".gt.txt") for path in IMAGES]


@pytest.fixture(scope="module")
def recognizer():
    return Recognizer.load(decoder="ctc", threads=1)


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "letter.png"
    put_letter(path)
    return path


@pytest.fixture
def prove(recognizer, half, tmp_path):
    """Check a text against pages, by default the half page alone."""

    def run(text, *pages, lines="auto"):
        path = tmp_path / "text.md"
        path.write_text(text, encoding="utf-8")
        [given] = open_proof_inputs([*map(str, pages or (half,)), str(path)], texts_needed=True)
        return prove_text(given, recognizer, segmentation_named(lines))

    return run


def test_each_line_gets_its_words_and_errors_are_doubted(prove):
    proof = prove(TEXT.replace("kitchen", "chicken") + "\nA sentence that the editor has added.")
    [page] = proof.pages
    lines = [line for line in proof.lines if line.line is not None]
    assert [line.check.text for line in lines] == [line.text for line in page.page.lines]
    words = [word for line in lines for word in line.check.text.split()]
    assert words == TEXT.replace("kitchen", "chicken").split()
    [wrong] = [word.checked for line in lines for word in line.words if word.checked.text.startswith("chicken")]
    assert wrong.kind is Kind.UNSUPPORTED and wrong.instead == "kitchen."
    *_, added = proof.lines
    assert added.line is None and added.check.text == "A sentence that the editor has added."
    [doubt] = added.doubts
    assert doubt.checked.reason.startswith(ON_NO_LINE) and "7 words" in doubt.checked.reason


def test_words_stand_on_the_page_where_they_were_read(prove):
    [page] = prove(TEXT).pages
    for line in page.page.lines:
        boxes = [word.box for word in line.words]
        assert all(box is not None and line.box is not None and box.left >= line.box.left - 5 for box in boxes)
        assert boxes == sorted(boxes, key=lambda box: box.left)


def test_lines_found_on_a_wide_page_are_checked_one_by_one(prove, half, tmp_path):
    """By its shape alone, the image would be a single line."""
    wide = Image.new("RGB", (4000, 700), (225, 220, 210))
    with Image.open(half) as page:
        wide.paste(page.crop((0, 0, page.width, 700)))
    wide.save(tmp_path / "wide.png")
    [page] = prove(TEXT, tmp_path / "wide.png", lines="rapid").pages
    assert len(page.lines) > 1 and not page.is_line
    assert all(word.box is not None for line in page.lines for word in line.words)


def test_line_images_that_are_not_accepted_give_no_training_data(prove, recognizer):
    proof = prove("\n".join(path.read_text(encoding="utf-8") for path in TEXTS), *IMAGES)
    assert [page.is_line for page in proof.pages] == [True, True]
    for chosen, names in (((), []), (proof.pages[1].lines, ["000001"])):
        assert [sample.page for sample in ground_truth(proof.pages, chosen, recognizer)] == names


def test_found_lines_take_the_text_of_given_ones_that_are_not_used(recognizer, half, tmp_path):
    """Here one given line spans the page."""
    shutil.copy(half, tmp_path)
    with Image.open(half) as scan:
        size = scan.size
    line = TextLine("all", Box(0, 0, *size).polygon(), None, Transcription(" ".join(TEXT.split())))
    page = Page(half.name, *size, (Region("r", (line,)),))
    (tmp_path / "letter.xml").write_bytes(FORMATS["page"].write(document_of(page)))
    [given] = open_proof_inputs([str(tmp_path / "letter.xml")], texts_needed=False)
    [page] = prove_text(given, recognizer, segmentation_named("rapid")).pages
    assert len(page.lines) > 5 and " ".join(line.check.text for line in page.lines).split() == TEXT.split()


@pytest.mark.parametrize(
    ("text", "reason"), [(" \n", "this text is empty"), ("lorem ipsum dolor " * 40, "not the text of")]
)
def test_no_text_and_another_text_are_refused(prove, text, reason):
    with pytest.raises(DataError, match=reason):
        prove(text)
