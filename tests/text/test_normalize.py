from hypothesis import given
from hypothesis import strategies as st

from drethtr.text.normalize import fold_spaces, for_scoring, nfc


def test_an_accent_becomes_part_of_its_letter():
    assert nfc("u\u0308ber") == "über"


def test_white_space_of_every_kind_is_folded():
    assert fold_spaces("\ta\u00a0 b\r\n") == "a b"


def test_case_punctuation_and_look_alikes_stay():
    assert for_scoring("Ab ,  c. — ſ’") == "Ab , c. — ſ’"
    assert for_scoring("u\u0308") == "ü"


@given(st.text())
def test_scoring_form_is_final(text):
    assert for_scoring(for_scoring(text)) == for_scoring(text)
