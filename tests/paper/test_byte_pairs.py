import json
import subprocess
import sys

import pytest
from conftest import fresh_model
from hypothesis import given
from hypothesis import strategies as st

from drethtr.base.config import from_dict, to_dict
from drethtr.base.errors import ConfigError, MissingExtraError
from drethtr.paper.byte_pairs import BytePairs
from drethtr.recognition.model.file import save_model
from drethtr.text.normalize import nfc
from drethtr.text.tokenizer import EOS, PAD, UNK, Tokenizer

TEXTS = ["the cat, the hat  and the_bat", "\tThat is the thing: «the» ünder-thing \u0304 ", "a\u2581b\nhe'll the"] * 3
KNOWN = sorted({character for text in TEXTS for character in nfc(text)})


@pytest.fixture(scope="module")
def tokenizer():
    pytest.importorskip("tokenizers")
    return BytePairs.learn(TEXTS, size=60)


WRITTEN = st.one_of(
    st.text(st.sampled_from(KNOWN)), st.lists(st.sampled_from(["the", "thing", " ", ",", "\t"])).map("".join)
)


# A letter and an accent, both known, may join to one that is not.
@given(text=WRITTEN.filter(lambda text: set(nfc(text)) <= set(KNOWN)))
def test_every_text_of_known_characters_comes_back(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == nfc(text)


@given(text=st.text())
def test_only_unknown_characters_are_lost(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == "".join(character for character in nfc(text) if character in KNOWN)
    assert ids.count(UNK) == tokenizer.count_unknown([text]).total()


def test_frequent_words_are_one_token_with_their_space(tokenizer):
    assert len(tokenizer.encode(" the")) == 1
    assert tokenizer.size == 60


def test_tokens_do_not_cross_words(tokenizer):
    assert not [token for token in tokenizer.vocabulary if " " in token[1:]]


@given(text=st.text(st.sampled_from("thecaing ,")))
def test_merging_agrees_with_the_package_that_learned(tokenizer, text):
    from tokenizers import Regex
    from tokenizers import Tokenizer as Learner
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import Split

    oracle = Learner(BPE(tokenizer.ids, list(tokenizer.merges)))
    oracle.pre_tokenizer = Split(Regex(r" ?\w+| ?[^\s\w]+|\s"), "isolated")
    assert tokenizer.encode(text) == oracle.encode(text).ids


def test_both_spellings_of_an_accent_are_one_token(tokenizer):
    assert tokenizer.encode("u\u0308") == tokenizer.encode("ü") != [UNK]


def test_learning_twice_gives_the_same(tokenizer):
    assert BytePairs.learn(TEXTS, size=60) == tokenizer


def test_special_ids_stand_for_nothing(tokenizer):
    assert tokenizer.decode([*tokenizer.encode("the"), EOS, PAD]) == "the"


def test_goes_through_json(tokenizer):
    assert from_dict(Tokenizer, json.loads(json.dumps(to_dict(tokenizer)))) == tokenizer


def test_a_model_that_writes_pieces_of_words_can_be_read_by_who_knows_only_models(tokenizer, tiny_model, tmp_path):
    model = fresh_model(tiny_model.network, tokenizer, tiny_model.preparation, {})
    save_model(model, tmp_path / "model.safetensors")
    program = "import sys; from drethtr import Recognizer; print(Recognizer.load(sys.argv[1]).model.tokenizer.size)"
    read = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "model.safetensors"], capture_output=True, text=True, check=True
    )
    assert read.stdout.strip() == str(tokenizer.size)


def test_too_small_a_size_is_refused():
    pytest.importorskip("tokenizers")
    with pytest.raises(ConfigError, match="6 ids are too few for 3 characters"):
        BytePairs.learn(["abc"], size=6)


def test_broken_merges_are_refused():
    with pytest.raises(ConfigError, match="'ab'"):
        BytePairs(("a", "b"), (("a", "b"),))
    with pytest.raises(ConfigError, match="'a' occurs 2 times"):
        BytePairs(("a", "a"), ())


def test_without_the_package_learning_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match=r"drethtr\[bpe\]"):
        BytePairs.learn(["abc"])
