import pytest

from drethtr.recognition.reading import Character, Flag, Reading, Readings, Word


def reading(text, *confidences, **more):
    characters = tuple(Character(c, p, i, i + 1) for i, (c, p) in enumerate(zip(text, confidences, strict=True)))
    return Reading(text, 0.5, characters, **more)


def test_a_word_is_as_sure_as_its_least_sure_character_or_as_calibration_says():
    sure = (1, 0.5, 1, 0.9, 0.8)
    assert [(word.text, word.confidence) for word in reading("an ox", *sure).words()] == [("an", 0.5), ("ox", 0.8)]
    words = reading("an ox", *sure, word_confidences=(0.4, 0.7)).words()
    assert [(word.text, word.confidence) for word in words] == [("an", 0.4), ("ox", 0.7)]


@pytest.mark.parametrize("text", ["", "a", " a", "a ", "  a  bc "])
def test_words_are_what_stands_between_spaces(text):
    words = reading(text, *[0.9] * len(text)).words()
    assert [word.text for word in words] == text.split()
    assert [word.text for word in words] == [text[int(word.left) : int(word.right)] for word in words]


def test_a_word_is_no_reading():
    """It said of itself that it was not calibrated, whatever the line was."""
    [word] = reading("an", 0.9, 0.8, word_confidences=(0.7,)).words()
    assert word == Word("an", 0.7, 0, 2)


def test_confidences_must_fit_the_words():
    with pytest.raises(ValueError, match="zip"):
        reading("an ox", *[0.9] * 5, word_confidences=(0.4,)).words()


def test_a_notebook_shows_the_words_below_the_image(draw, tmp_path):
    (tmp_path / "line.png").write_bytes(draw("an ox"))
    flag = Flag("blank", "no <ink>", 0, 1)
    read = reading("an <o", 0.3, 0.3, 1, 0.95, 0.95, flags=(flag,), image=tmp_path / "line.png")
    html = read._repr_html_()
    assert html.count("<img") == 1 and ">an</span>" in html and "&lt;o</span>" in html
    assert "blank: no &lt;ink&gt;" in html
    assert Readings([read] * 60)._repr_html_().count("<img") == 50


@pytest.mark.parametrize("image", [None, "gone.png", b"no image"])
def test_a_reading_whose_image_is_not_there_has_no_strip(image):
    read = reading("an", 0.9, 0.9, image=image)
    assert "<img" not in read._repr_html_() and "an" in read._repr_html_()
    assert read == reading("an", 0.9, 0.9)
