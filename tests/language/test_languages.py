"""Several languages in one model: each text chooses its own, users choose which there are."""

import json
import lzma
import zlib
from dataclasses import replace

import numpy as np
import pytest
from conftest import log_probability
from safetensors import safe_open
from safetensors.numpy import save_file

from drethtr.base.errors import CheckpointError, ConfigError, DataError
from drethtr.language import ngrams as ngrams_module
from drethtr.language.languages import MAX_BYTES, NEAR, UNSPECIFIED, Languages, choose_languages, lines_of
from drethtr.language.learn import Ingredient, learn
from drethtr.recognition.model.file import load_model, save_model, save_record
from drethtr.text.tokenizer import Characters

TOKENIZER = Characters(" abdeghinoprst")
EN = ["the hands on the boat", "a tiger not in the bag", "none of these is an ape"]
VAST = {"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 28}
"""A dictionary of 256 MB, which whoever unpacks must have, too."""

DE = ["der hase geht nie heran", "die bande ist gestern da", "eine rose in der sonne"]


@pytest.fixture(scope="module")
def languages() -> Languages:
    return Languages(
        {name: learn([Ingredient(texts)], TOKENIZER, order=4, most=999) for name, texts in [("en", EN), ("de", DE)]}
    )


def test_a_text_is_in_the_language_that_finds_it_likeliest(languages):
    for name, text in (("en", "the tiger"), ("de", "der hase ist da")):
        tokens = TOKENIZER.encode(text)
        own = languages.models[name]
        assert languages.of_texts([tokens]) == name
        assert log_probability(languages, tokens) == log_probability(own, tokens)
        assert languages.surprises(tokens) == own.surprises(tokens)
    assert languages.of_texts(map(TOKENIZER.encode, ["the", *DE])) == "de"


def test_a_search_follows_the_languages_that_are_near_the_draft(languages):
    assert languages.near(TOKENIZER.encode(EN[0])) == [languages.models["en"]]
    assert len(languages.near(TOKENIZER.encode("i"))) == 2
    for text in ("the", "a rose", "in der", "tiger", ""):
        tokens = TOKENIZER.encode(text)
        values = {name: log_probability(one, tokens) for name, one in languages.models.items()}
        near = [languages.models[name] for name, value in values.items() if value >= max(values.values()) - NEAR]
        assert languages.near(tokens) == near


def test_a_user_names_languages(languages):
    assert choose_languages(languages, TOKENIZER, "auto") is languages
    assert list(choose_languages(languages, TOKENIZER, "de").models) == ["de"]
    assert list(choose_languages(languages, TOKENIZER, " de, en").models) == ["de", "en"]
    for unknown in ("dee", "auto, dee"):
        with pytest.raises(ConfigError, match=r"unknown language .dee.*de"):
            choose_languages(languages, TOKENIZER, unknown)
    with pytest.raises(ConfigError, match="no n-grams"):
        choose_languages(Languages(), TOKENIZER, "de")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("suffix", [".txt", ".txt.xz", ".TXT", ".Txt.XZ"])
def test_words_of_a_file_become_likelier(languages, tmp_path, suffix, encoding):
    path = tmp_path / f"names{suffix}"
    content = "Sepp\r\nogre pit\n\nsepp\n".encode(encoding)
    path.write_bytes(lzma.compress(content) if suffix.lower().endswith("xz") else content)
    known = choose_languages(languages, TOKENIZER, f"de,{path}")
    name, other = map(TOKENIZER.encode, ("ogre pit", "die bande"))
    assert list(known.models) == ["de"]
    assert log_probability(known, name) > log_probability(languages.models["de"], name) + 5
    assert log_probability(known, other) > log_probability(languages.models["de"], other) - 8
    assert set(choose_languages(languages, TOKENIZER, str(path)).models) == {"en", "de"}


def test_a_text_file_removes_no_language(languages, tmp_path):
    (tmp_path / "names.txt").write_text("ogre pit\n", encoding="utf-8")
    models = {UNSPECIFIED: languages.models["de"], "en": languages.models["en"]}
    found = choose_languages(Languages(models), TOKENIZER, str(tmp_path / "names.txt"))
    assert list(found.models) == [UNSPECIFIED, "en"]


def test_a_packed_file_may_be_several(tmp_path):
    """As `cat a.xz b.xz` and parallel packers write it."""
    path = tmp_path / "b.txt.xz"
    path.write_bytes(lzma.compress(b"gestern\n") + bytes(8) + lzma.compress(b"sonne\n"))
    assert lines_of(path) == ["gestern", "sonne"]


def test_files_that_are_no_text(languages, tmp_path):
    for name, content, message in (
        ("none.txt", None, "cannot be read"),
        ("latin.txt", "die b\xe4nde".encode("latin-1"), "not UTF-8"),
        ("broken.txt.xz", b"die bande", "cannot be read"),
        ("cut.txt.xz", lzma.compress(b"die bande")[:-20], "cannot be read: it ends too early; pack it again"),
        ("empty.txt.xz", b"", "cannot be read: it is empty"),
        (
            "vast.txt.xz",
            lzma.compress(b"die bande", filters=[VAST]),
            "Memory usage limit exceeded; pack it again with xz -9",
        ),
        ("streams.txt.xz", lzma.compress(b"") * 1001, "it has more than 1,000 streams; pack it again with xz -9"),
        ("bomb.txt.xz", lzma.compress(bytes(MAX_BYTES + 1)), "more than 16 MB"),
        ("empty.txt", b"\n", "too little text"),
    ):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(DataError, match=rf"{name}: .*{message}"):
            choose_languages(languages, TOKENIZER, f"en,{path}")


def test_ngrams_of_no_particular_language_are_stored_under_a_name_of_their_own(tiny_model, tmp_path):
    ngrams = learn([Ingredient(["ab", "ba abc", "abba"])], tiny_model.tokenizer, order=3, most=99)
    model, path = replace(tiny_model, languages=Languages({UNSPECIFIED: ngrams})), tmp_path / "model.safetensors"
    save_model(model, path)
    found = load_model(path)
    assert found.hash == model.hash and list(found.languages.models) == [UNSPECIFIED]
    save_record(path, found.record, tmp_path / "copy.safetensors", of=found)
    assert load_model(tmp_path / "copy.safetensors").hash == model.hash


def test_many_languages_have_one_limit(languages, monkeypatch):
    """Their trees are packed a thousand times smaller, and a file may have 64 of them."""
    facts, packed = languages.facts(), dict(languages.packed())
    assert list(Languages.of_packed(TOKENIZER.size, facts, packed).models) == ["en", "de"]
    en = languages.models["en"]
    taken = sum(array.nbytes for array in (en.tokens, en.losses, en.children, en.backoffs)) + en.firsts.nbytes
    monkeypatch.setattr(ngrams_module, "MAX_BYTES", taken)
    assert Languages.of_packed(TOKENIZER.size, {"en": facts["en"]}, packed)
    less = {"nodes": -(10**9), "contexts": -(10**9), "order": 1}
    for claimed in (facts, {"en": facts["en"], "fr": facts["en"]}, {"en": facts["en"], "fr": less}):
        with pytest.raises(CheckpointError, match=r"its n-grams are (too many|missing)"):
            Languages.of_packed(TOKENIZER.size, claimed, packed | {"fr": packed["en"]})


def test_a_file_cannot_claim_what_it_does_not_hold(tiny_model, tmp_path):
    ngrams = learn([Ingredient(["ab", "ba abc", "abba"])], tiny_model.tokenizer, order=3, most=99)
    model, path = replace(tiny_model, languages=Languages({"en": ngrams})), tmp_path / "model.safetensors"
    save_model(model, path)
    assert load_model(path).hash == model.hash
    with safe_open(path, framework="numpy") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = json.loads(file.metadata()["drethtr"])
    facts = ngrams.facts
    for languages, packed, message in (
        ({"../x": facts}, ngrams.packed, "invalid names"),
        ({"en": facts | {"nodes": facts["nodes"] + 1}}, ngrams.packed, "differs from the declared one"),
        ({"en": facts | {"nodes": 1 << 40}}, ngrams.packed, "too many"),
        ({"en": facts | {"order": 99}}, ngrams.packed, "99 tokens"),
        ({"en": facts}, np.frombuffer(zlib.compress(bytes(1 << 24)), np.uint8), "differs from the declared one"),
        ({"en": facts}, ngrams.packed[:-9].copy(), "differs from the declared one"),
        ({"en": facts}, np.zeros(9, np.uint8), "damaged"),
        ({"nl": facts}, ngrams.packed, "missing"),
        ({"en": {"order": 3}}, ngrams.packed, "nodes"),
        ({"en": "3"}, ngrams.packed, "model.safetensors"),
    ):
        changed = json.dumps(header | {"languages": languages})
        save_file(tensors | {"ngrams.en": packed}, path, {"drethtr": changed})
        with pytest.raises(CheckpointError, match=message):
            load_model(path)
