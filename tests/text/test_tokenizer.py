import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drethtr.base.config import from_dict, to_dict
from drethtr.base.errors import ConfigError
from drethtr.text.normalize import nfc
from drethtr.text.tokenizer import BOS, EOS, PAD, UNK, Characters, Tokenizer


def test_iam_ids():
    """The order of the published code: special ids, then characters by code point."""
    iam = " !\"#&'()*+,-./0123456789:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    tokenizer = Characters.learn(reversed(iam))
    assert (BOS, PAD, EOS, UNK) == (0, 1, 2, 3)
    assert tokenizer.size == 83
    assert tokenizer.encode(" !-09:?AZaz") == [4, 5, 15, 18, 27, 28, 30, 31, 56, 57, 82]


@given(st.text())
def test_learned_text_comes_back(text):
    tokenizer = Characters.learn([text])
    assert tokenizer.decode(tokenizer.encode(text)) == nfc(text)


def test_both_spellings_of_an_accent_are_one_token():
    tokenizer = Characters.learn(["u\u0308"])
    assert tokenizer.encode("ü") == tokenizer.encode("u\u0308") == [4]


def test_special_ids_stand_for_nothing():
    assert Characters("ab").decode([BOS, 4, UNK, 5, EOS, PAD, PAD]) == "ab"


def test_rare_characters_are_left_out():
    assert Characters.learn(["aab", "bc"], minimum=2).characters == "ab"


def test_unknown_characters_are_counted():
    tokenizer = Characters("ab")
    assert tokenizer.encode("axb") == [4, UNK, 5]
    assert tokenizer.count_unknown(["axb", "xé", "e\u0301"]) == {"x": 2, "é": 2}


@pytest.mark.parametrize("characters", ["ba", "aa"])
def test_disorder_is_refused(characters):
    with pytest.raises(ConfigError, match="'a' follows"):
        Characters(characters)


def test_goes_through_json():
    tokenizer = Characters.learn(["Grüße, 1916"])
    assert from_dict(Tokenizer, json.loads(json.dumps(to_dict(tokenizer)))) == tokenizer
