from xml.etree import ElementTree

import pytest
from PIL import Image

from drethtr.recognition.model.file import load_model


@pytest.mark.parametrize("decoder", ["ctc", "greedy"])
def test_explains_a_line_in_one_picture(drethtr, lines, tiny_path, tmp_path, decoder):
    for name in ("picture.png", "picture.svg"):
        target = tmp_path / name
        outcome = drethtr("explain", lines / "one.png", "--model", tiny_path, "--output", target, "--decoder", decoder)
        assert outcome.code == 0 and outcome.out.startswith(str(target))
    with Image.open(tmp_path / "picture.png") as picture:
        size = picture.size
    root = ElementTree.parse(tmp_path / "picture.svg").getroot()
    assert (int(root.get("width")), int(root.get("height"))) == size
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "attention" in words and "layer 2" in words
    assert any(load_model(tiny_path).identity in (word or "") for word in words)
    assert ("CTC draft" in words) == (decoder == "greedy")
    assert outcome.out.count("\n") == 1  # what is not calibrated is said on stderr, as everywhere
    assert any("not calibrated" in (word or "") for word in words)


def test_a_line_on_which_nothing_was_read_is_explained(drethtr, tiny_path, tmp_path):
    Image.new("L", (600, 64), 255).save(tmp_path / "blank.png")
    for decoder in ("ctc", "greedy"):
        for name in ("picture.png", "picture.svg"):
            options = ("--model", tiny_path, "--output", tmp_path / name, "--decoder", decoder, "--force")
            assert drethtr("explain", tmp_path / "blank.png", *options).code == 0
        assert "nan" not in (tmp_path / "picture.svg").read_text(encoding="utf-8").split("base64")[0]


def test_a_page_is_no_line(drethtr, tiny_path, tmp_path):
    Image.new("L", (700, 900), 255).save(tmp_path / "letter.png")
    options = ("--model", tiny_path, "--output", tmp_path / "picture.svg")
    outcome = drethtr("explain", tmp_path / "letter.png", *options)
    assert outcome.code == 2 and outcome.out == "" and not (tmp_path / "picture.svg").exists()
    assert f"{tmp_path / 'letter.png'} is a page, not a line" in outcome.err


def test_images_may_be_read_in_bfloat16_and_endings_be_in_capitals(drethtr, lines, tiny_path, tmp_path):
    picture = tmp_path / "why.SVG"
    outcome = drethtr(
        "explain", lines / "one.png", "--output", picture, "--model", tiny_path, "--precision", "bfloat16"
    )
    assert outcome.code == 0 and picture.read_text(encoding="utf-8").startswith("<svg")


def test_other_kinds_of_pictures_are_refused_at_once(drethtr, lines, tmp_path):
    outcome = drethtr("explain", lines / "one.png", "--output", tmp_path / "picture.gif")
    assert outcome.code == 2 and ".svg or .png" in outcome.err


def test_a_folder_is_no_line(drethtr, lines, tmp_path):
    outcome = drethtr("explain", lines, "--output", tmp_path / "picture.svg")
    assert outcome.code == 2 and outcome.err == f"drethtr: {lines}: cannot be read as an image: Is a directory\n"
