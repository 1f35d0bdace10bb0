"""`Recognizer.check` with the shipped model, on the lines in `samples`."""

from pathlib import Path

import pytest

from drethtr import ConfigError, Recognizer
from drethtr.recognition.support.verdict import Kind

SAMPLES = Path(__file__).parents[3] / "samples"
LINE = SAMPLES / "000003.png"
TEXT = (SAMPLES / "000003.gt.txt").read_text(encoding="utf-8").strip()


@pytest.fixture(scope="module")
def recognizer():
    return Recognizer.load(threads=1)


def test_a_right_text_is_supported(recognizer):
    checked = recognizer.check(LINE, TEXT)
    assert [word.text for word in checked.words] == TEXT.split()
    assert not checked.doubts and checked.probability > 0.5


def test_another_word_is_unsupported_where_it_stands(recognizer):
    words = TEXT.split()
    checked = recognizer.check(LINE, " ".join([words[0], "Zwiebel", *words[2:]]))
    wrong = checked.doubts[0]
    assert (wrong.text, wrong.kind, wrong.instead) == ("Zwiebel", Kind.UNSUPPORTED, words[1])
    right = recognizer.check(LINE, TEXT).words[1]
    assert abs(wrong.left - right.left) < 20 and abs(wrong.right - right.right) < 20


def test_an_inserted_and_an_omitted_word_are_found(recognizer):
    words = TEXT.split()
    [invented, *_] = recognizer.check(LINE, " ".join([*words[:2], "notwithstanding", *words[2:]])).doubts
    assert (invented.text, invented.kind) == ("notwithstanding", Kind.INVENTED)
    [omitted, *_] = recognizer.check(LINE, " ".join([words[0], *words[2:]])).doubts
    assert (omitted.text, omitted.kind, omitted.instead) == ("", Kind.OMITTED, words[1])


def test_an_empty_text_omits_all_that_is_written(recognizer):
    [everything] = recognizer.check(LINE, " ").words
    assert everything.kind is Kind.OMITTED and everything.instead == TEXT


@pytest.mark.parametrize("text", ["Привет мир", "word " * 2000])
def test_nothing_of_an_impossible_text_is_supported(recognizer, text):
    checked = recognizer.check(LINE, text)
    assert all(word.doubtful for word in checked.words) and checked.probability < 0.1


def test_texts_do_not_depend_on_the_lines_beside_them(recognizer):
    lines = [recognizer.open_line(SAMPLES / f"00000{n}.png") for n in (1, 2, 3)]
    together = recognizer.check_lines(lines, ["some text", "another", TEXT])
    assert together[2] == recognizer.check(LINE, TEXT)


def test_a_model_without_ctc_head_says_so(headless_model):
    with pytest.raises(ConfigError, match="no CTC head"):
        Recognizer(headless_model).check(LINE, "abc")
