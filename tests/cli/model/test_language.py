from dataclasses import replace

import numpy as np
import pytest
from conftest import log_probability, written
from edited_folders import put_page
from PIL import Image

from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample
from drethtr.recognition.decoding.strategies import CTC, Joint
from drethtr.recognition.model.file import load_model, save_model
from drethtr.recognition.recognizer import Recognizer


@pytest.fixture
def known(tmp_path):
    """A folder of lines with text."""
    folder = tmp_path / "known"
    folder.mkdir()
    for number, text in enumerate(["abc abc", "cab", "back", "a bad cab"] * 8):
        Image.fromarray(np.asarray(written("abc"))).save(folder / f"{number}.png")
        (folder / f"{number}.gt.txt").write_text(text, encoding="utf-8")
    return folder


def test_a_model_learns_what_is_likely(drethtr, known, tiny_path, tmp_path):
    (tmp_path / "book.txt").write_text("a deaf pig\nla la la\n", encoding="utf-8")
    target = tmp_path / "new.safetensors"
    outcome = drethtr(
        "language", tiny_path, known, "--text", tmp_path / "book.txt", "--lines", 50, "--order", 3, "--output", target
    )
    assert outcome.code == 0 and "n-grams of up to 3 tokens, from 32 lines and 50 lines drawn from texts" in outcome.out
    assert f"drethtr model calibrate {target}" in outcome.out
    assert (
        "n-grams of up to 3 tokens" in drethtr("info", target).out and "n-grams" not in drethtr("info", tiny_path).out
    )
    model, before = load_model(target), load_model(tiny_path)
    assert set(model.languages.models) == {"all"} and not model.record.calibrations
    likely, odd = (
        log_probability(model.languages, model.tokenizer.encode(text)) for text in ("a bad cab", "dcbdacbaa")
    )
    assert likely > odd + 10
    assert all(np.array_equal(model.weights[name], weight) for name, weight in before.weights.items())
    line = written("abc abc")
    plain, told = (Recognizer(one, CTC(language_weight=0.9)).read([line]) for one in (before, model))
    assert (
        plain != told == Recognizer(replace(before, languages=model.languages), CTC(language_weight=0.9)).read([line])
    )


def test_texts_that_a_program_read_are_not_learned_without_a_word(drethtr, tiny_path, tmp_path):
    put_page(tmp_path / "pages", "a")
    outcome = drethtr("language", tiny_path, tmp_path / "pages", "--order", 2, "--output", tmp_path / "new.safetensors")
    assert outcome.code == 0 and "Texts that a program read" in outcome.err


def test_ngrams_are_kept_in_part_or_replaced_with_all_that_rests_on_them(drethtr, known, tiny_path, tmp_path):
    (tmp_path / "other").mkdir()
    for path in known.glob("0.*"):
        (tmp_path / "other" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "other" / "0.gt.txt").write_text("deaf pig deaf pig", encoding="utf-8")
    tokens = load_model(tiny_path).tokenizer.encode("a bad cab")
    assert drethtr("language", tiny_path, known, "--order", 3, "--force").code == 0
    first = log_probability(load_model(tiny_path).languages, tokens)
    outcome = drethtr("language", tiny_path, tmp_path / "other", "--keep", 0.7, "--force")
    assert outcome.code == 0 and "up to 3 tokens, from 1 line and its existing n-grams" in outcome.out
    kept = log_probability(load_model(tiny_path).languages, tokens)
    assert drethtr("language", tiny_path, tmp_path / "other", "--keep", 0, "--order", 2, "--force").code == 0
    last = load_model(tiny_path).languages.models["all"]
    assert first > kept > log_probability(last, tokens) + 2 and last.order == 2
    refused = drethtr("language", tiny_path, tmp_path / "other", "--order", 4, "--force")
    assert refused.code == 2 and "cannot be mixed with n-grams of up to 4" in refused.err


def test_a_model_knows_several_languages(drethtr, known, tiny_path):
    for name in ("en", "nl"):
        outcome = drethtr("language", tiny_path, known, "--order", 3, "--name", name, "--force")
        assert outcome.code == 0 and f"language {name}: " in outcome.out
    model = load_model(tiny_path)
    assert list(model.languages.models) == ["en", "nl"]
    info = drethtr("info", tiny_path).out
    assert "language en: " in info and "language nl: " in info
    refused = drethtr("language", tiny_path, known, "--name", "../x", "--force")
    assert refused.code == 2 and "is not a valid language name" in refused.err
    refused = drethtr("language", tiny_path, known, "--name", "all", "--force")
    assert refused.code == 2 and "'all' is for n-grams of no particular language, but" in refused.err
    assert "this model has en, nl; name a language" in refused.err


def test_texts_alone_teach_a_language_that_no_line_is_in(drethtr, tiny_path, tmp_path):
    samples = [Sample(written("abc"), "abc abc", "a", language="en") for _ in range(3)]
    store_parquet(samples, tmp_path / "en.parquet")
    (tmp_path / "book.txt").write_text("a deaf pig\nla la la\n", encoding="utf-8")
    arguments = ("language", tiny_path, tmp_path / "en.parquet", "--name", "pt", "--order", 3, "--force")
    refused = drethtr(*arguments)
    assert refused.code == 2 and "no line is in the language pt; give texts in it with --text" in refused.err
    outcome = drethtr(*arguments, "--text", tmp_path / "book.txt", "--lines", 50)
    assert outcome.code == 0 and "n-grams of up to 3 tokens, from 50 lines drawn from texts\n" in outcome.out
    model = load_model(tiny_path)
    pig, abc = (log_probability(model.languages, model.tokenizer.encode(text)) for text in ("a deaf pig", "abc abc"))
    assert list(model.languages.models) == ["pt"] and pig > abc + 10


def test_a_model_is_replaced_only_by_force(drethtr, known, tiny_path):
    before = tiny_path.read_bytes()
    outcome = drethtr("language", tiny_path, known)
    assert outcome.code == 2 and "--force" in outcome.err and tiny_path.read_bytes() == before


@pytest.mark.parametrize("command", ["language", "rescorer"])
def test_a_model_without_ctc_head_has_no_use_for_them(drethtr, known, headless_model, tmp_path, command):
    save_model(headless_model, tmp_path / "plain.safetensors")
    outcome = drethtr(command, tmp_path / "plain.safetensors", known, "--force")
    assert outcome.code == 2 and "plain.safetensors: has no CTC head" in outcome.err


def test_a_model_gets_a_rescorer(drethtr, known, tiny_path, tmp_path):
    target = tmp_path / "ranked.safetensors"
    arguments = ("rescorer", tiny_path, known, "--characters", 12_000, "--output", target)
    outcome = drethtr(*arguments)
    assert outcome.code == 0 and f"drethtr model calibrate {target}" in outcome.out
    model, before = load_model(target), load_model(tiny_path)
    assert model.rescorer is not None and before.rescorer is None and not model.record.calibrations
    assert "rescorer: retention, 4 layers" in drethtr("info", target).out
    assert [path.name for path in tmp_path.glob("ranked*")] == [target.name]
    heavy = Joint(language_weight=1.0)
    ranked, plain = (Recognizer(one, heavy, alternatives=2).read([written("abc abc")]) for one in (model, before))
    assert ranked[0].alternatives != plain[0].alternatives
    assert drethtr(*arguments).code == 2
    refused = drethtr("rescorer", tiny_path, known, "--continue", "--output", tmp_path / "more.safetensors")
    assert refused.code == 2 and "no rescorer to continue; leave --continue out" in refused.err
    # Fewer than a step usually has; "per_step", which nobody can set, was to be smaller.
    longer = drethtr("rescorer", target, known, "--continue", "--characters", 2_000, "--force")
    again = load_model(target).rescorer
    assert longer.code == 0 and again is not None and again.config == model.rescorer.config


@pytest.mark.parametrize("command", ["language", "rescorer"])
def test_lines_without_a_clean_text_teach_nothing(command, drethtr, tiny_path, tmp_path):
    samples = [Sample(written("abc"), text) for text in (" ", "a [?] b")]
    store_parquet(samples, tmp_path / "marked.parquet")
    for options in ((), ("--name", "en")) if command == "language" else ((),):
        refused = drethtr(command, tiny_path, tmp_path / "marked.parquet", "--force", *options)
        assert refused.code == 2 and "no line has a text without editorial marks" in refused.err
        assert "1 of 2 lines left out because of editorial" in refused.err
