"""`check_text` with the shipped model, on the lines in `samples`."""

from pathlib import Path

import numpy as np
import pytest

from drethtr import ConfigError, DataError, Recognizer, check_text
from drethtr.proofreading.check import check_lines
from drethtr.proofreading.verdict import Kind

SAMPLES = Path(__file__).parents[2] / "samples"
LINE = SAMPLES / "000003.png"
TEXT = (SAMPLES / "000003.gt.txt").read_text(encoding="utf-8").strip()


@pytest.fixture(scope="module")
def recognizer():
    return Recognizer.load(threads=1)


def test_a_right_text_is_supported(recognizer):
    checked = check_text(recognizer, LINE, TEXT)
    assert [word.text for word in checked.words] == TEXT.split()
    assert not checked.doubts and checked.probability > 0.5


def test_another_word_is_unsupported_where_it_stands(recognizer):
    words = TEXT.split()
    checked = check_text(recognizer, LINE, " ".join([words[0], "Zwiebel", *words[2:]]))
    wrong = checked.doubts[0]
    assert (wrong.text, wrong.kind, wrong.instead) == ("Zwiebel", Kind.UNSUPPORTED, words[1])
    right = check_text(recognizer, LINE, TEXT).words[1]
    assert abs(wrong.left - right.left) < 20 and abs(wrong.right - right.right) < 20


def test_an_inserted_and_an_omitted_word_are_found(recognizer):
    words = TEXT.split()
    [invented, *_] = check_text(recognizer, LINE, " ".join([*words[:2], "notwithstanding", *words[2:]])).doubts
    assert (invented.text, invented.kind) == ("notwithstanding", Kind.INVENTED)
    [omitted, *_] = check_text(recognizer, LINE, " ".join([words[0], *words[2:]])).doubts
    assert (omitted.text, omitted.kind, omitted.instead) == ("", Kind.OMITTED, words[1])


def test_an_empty_text_omits_all_that_is_written(recognizer):
    [everything] = check_text(recognizer, LINE, " ").words
    assert everything.kind is Kind.OMITTED and everything.instead == TEXT


@pytest.mark.parametrize("text", ["Привет мир", "word " * 2000])
def test_nothing_of_an_impossible_text_is_supported(recognizer, text):
    checked = check_text(recognizer, LINE, text)
    assert all(word.doubtful for word in checked.words) and checked.probability < 0.1


def test_texts_do_not_depend_on_the_lines_beside_them(recognizer):
    lines = [recognizer.open_line(SAMPLES / f"00000{n}.png") for n in (1, 2, 3)]
    together = check_lines(recognizer, lines, ["some text", "another", TEXT])
    assert together[2] == check_text(recognizer, LINE, TEXT)


def test_a_page_is_not_checked_as_one_line(recognizer):
    with pytest.raises(DataError, match="is a page, not a line"):
        check_text(recognizer, np.full((300, 900), 255, np.uint8), "abc")


def test_a_model_without_ctc_head_says_so(headless_model):
    with pytest.raises(ConfigError, match="no CTC head"):
        check_text(Recognizer(headless_model), LINE, "abc")
