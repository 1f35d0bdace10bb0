"""Old hands are drawn in their spelling, and labeled in today's."""

import lzma
import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drethtr.base.errors import ConfigError, DataError
from drethtr.synthesis.corpus import (
    BLOCK_BYTES,
    MAX_WORD_LENGTH,
    Corpus,
    Spelling,
    Wording,
    cut_line,
    language_of,
    read_blocks,
    sample_blocks,
)
from drethtr.synthesis.fonts import Face
from drethtr.synthesis.fragments import KINDS, LANGUAGES

PROSE = Wording(fragments=0, inserted=0, hyphenated=0, capitals=0, words=0)
PARAGRAPH = " ".join(f"w{number:03}" for number in range(300))


@pytest.fixture
def write_text(tmp_path):
    def write(content, name="novel_eng.txt"):
        path = tmp_path / name
        path.write_bytes(lzma.compress(content.encode()) if path.suffix == ".xz" else content.encode())
        return path

    return write


def draw_many(corpus, count=300):
    return [corpus.draw(np.random.default_rng((3, number))).text for number in range(count)]


def test_same_generator_same_line(write_text):
    corpus = Corpus(files=(write_text(PARAGRAPH),))
    assert draw_many(corpus) == draw_many(corpus)
    assert len(set(draw_many(corpus))) > 200


def test_prose_is_whole_words_in_their_order_and_of_the_wanted_length(write_text):
    corpus = Corpus(files=(write_text(PARAGRAPH),), wording=PROSE)
    lengths = []
    for text in draw_many(corpus):
        assert f" {text} " in f" {PARAGRAPH} "
        lengths.append(len(text))
    assert 8 <= min(lengths) < 20 and 60 < max(lengths) <= 72
    assert 35 <= np.median(lengths) <= 45


def test_a_hyphen_ends_a_word_that_goes_on():
    long_words = " ".join("abcdefghijklmnop" for _ in range(50))
    texts = {cut_line(long_words, 40, 1.0, np.random.default_rng(number)) for number in range(50)}
    assert any(text.endswith("-") for text in texts)
    for text in texts:
        assert text.removesuffix("-") in long_words
        assert not text.endswith("-") or 3 <= len(text.split()[-1].removesuffix("-")) <= 13


def test_short_words_are_not_hyphenated():
    short_words = " ".join("word" for _ in range(50))
    assert not any("-" in cut_line(short_words, 38, 1.0, np.random.default_rng(number)) for number in range(50))


def test_text_without_spaces_is_cut_anywhere(write_text):
    corpus = Corpus(files=(write_text("字" * 5000),), wording=PROSE)
    assert {len(text) for text in draw_many(corpus)} <= set(range(PROSE.shortest, PROSE.longest + MAX_WORD_LENGTH + 1))
    words = Corpus(files=(write_text("字" * 5000),), wording=replace(PROSE, words=1.0))
    assert {len(text) for text in draw_many(words)} == {PROSE.longest}


def test_only_the_alphabet_is_written_and_length_counts_after_that(write_text):
    paragraph = " ".join("“ça”— Œuvre…" for _ in range(100))
    corpus = Corpus(files=(write_text(paragraph),), alphabet="abcdeéfghijklmnopqrstuvwxyzO", wording=PROSE)
    texts = draw_many(corpus)
    assert set("".join(texts)) <= set("ca Oeuvre")
    assert any("ca Oeuvre ca" in text for text in texts)
    assert 30 <= np.median([len(text) for text in texts]) <= 45


def test_fragments_and_capitals_keep_to_the_alphabet(write_text):
    wording = Wording(fragments=0.5, inserted=1, capitals=0.5)
    alphabet = "abcdefghijklmnopqrstuvwxyz0123456789."
    texts = draw_many(Corpus(files=(write_text(PARAGRAPH),), alphabet=alphabet, wording=wording))
    assert set("".join(texts)) <= set(alphabet + " ") and all(text == text.strip() != "" for text in texts)


def test_a_corpus_without_a_letter_of_the_alphabet_says_so(write_text):
    corpus = Corpus(files=(write_text("ὦ ἄνδρες"),), alphabet="xyz", wording=PROSE)
    with pytest.raises(DataError, match="no text in the alphabet"):
        corpus.draw(np.random.default_rng(0))


def test_weights_and_languages(write_text):
    files = (
        write_text("one " * 50, "a_eng.txt"),
        write_text("deux " * 50, "b_fra.txt"),
        write_text("3 " * 50, "c.txt"),
    )
    corpus = Corpus(files=files, weights=(1, 3, 0), wording=PROSE)
    drawn = Counter(corpus.draw(np.random.default_rng(number)).language for number in range(400))
    assert set(drawn) == {"en", "fr"} and 240 < drawn["fr"] < 360
    assert language_of(files[2]) is None


def test_compressed_text_is_the_same_text(write_text):
    plain, packed = write_text(PARAGRAPH, "a.txt"), write_text(PARAGRAPH, "b.txt.xz")
    assert draw_many(Corpus(files=(plain,))) == draw_many(Corpus(files=(packed,)))


def test_what_was_read_does_not_travel(write_text):
    corpus = Corpus(files=(write_text(PARAGRAPH * 20),))
    corpus.draw(np.random.default_rng(0))
    assert len(pickle.dumps(corpus)) < 2000


def test_a_long_file_is_sampled_from_all_over():
    blocks = [f"{number}\n".encode() for number in range(500)]
    kept = [int(number) for number in sample_blocks(iter(blocks), 100).split()]
    assert len(set(kept)) == 100 and 200 < np.mean(kept) < 300
    assert sample_blocks(iter(blocks), 500) == b"".join(blocks)


@pytest.mark.parametrize("name", ["a_en.txt", "a_en.txt.xz"])
@pytest.mark.parametrize("text", [" ".join(f"w{number:06}" for number in range(60_000)), "字é" * 100_000])
def test_a_paragraph_without_end_is_cut_between_words_or_characters(text, name, write_text):
    blocks = list(read_blocks(write_text(text, name)))
    assert max(map(len, blocks)) < 1.1 * BLOCK_BYTES
    pieces = [line.decode() for block in blocks for line in block.splitlines()]
    assert "".join(pieces) == text and " ".join(pieces).split() == (text.split() if " " in text else pieces)


def test_unreadable_files_are_named(write_text, tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "broken.txt.xz").write_bytes(lzma.compress(b"x" * 1000)[:-20])
    (tmp_path / "latin.txt").write_bytes("é".encode("latin-1"))
    for name in ("nowhere.txt", "broken.txt.xz", "latin.txt"):
        with pytest.raises(DataError, match=name):
            Corpus(files=(tmp_path / name,), wording=PROSE).draw(rng)
    with pytest.raises(DataError, match="has no text"):
        Corpus(files=(write_text("\n\n"),), wording=PROSE).draw(rng)


def test_settings_are_checked(write_text):
    with pytest.raises(ConfigError, match="at least one"):
        Corpus(files=())
    with pytest.raises(ConfigError, match="2 weights for 1"):
        Corpus(files=(write_text("a"),), weights=(1, 2))
    with pytest.raises(ConfigError, match="one above 0"):
        Corpus(files=(write_text("a"),), weights=(0,))
    with pytest.raises(ConfigError, match="between 1 and longest"):
        Wording(shortest=9, longest=5)


@pytest.mark.parametrize("kind", dict.fromkeys(KINDS), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_fragment_is_short_and_varied(kind, language):
    pieces = [kind(language, np.random.default_rng(number)) for number in range(200)]
    assert all(piece == " ".join(piece.split()) and 1 <= len(piece) <= 45 for piece in pieces)
    assert len(set(pieces)) >= 8


OLD = Spelling(long_s=1, double_hyphens=1)


@pytest.fixture
def draw(make_font):
    """The characters that a font with the given letters draws for a text."""

    def drawn(text: str, letters: str = "abcdefghijklmnopqrstuvwxyzſ=-", spelling: Spelling = OLD) -> str:
        face = Face(Path(make_font("old", letters=letters)))
        return spelling.drawn(text, face, np.random.default_rng(0))

    return drawn


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("das ist so", "das iſt ſo"),
        ("wasser", "waſſer"),
        ("dass", "daſs"),
        ("bis-", "bis="),
        ("les, s'est", "les, s'eſt"),
        ("a-b", "a-b"),
        ("s1", "s1"),
    ],
)
def test_s_is_long_before_a_letter_and_a_final_hyphen_double(draw, text, drawn):
    assert draw(text) == drawn
    assert len(drawn) == len(text)


def test_a_font_without_the_old_forms_draws_todays(draw):
    assert draw("wasser-", letters="abcdefghijklmnopqrstuvwxyz-") == "wasser-"


def test_without_shares_nothing_changes(draw):
    assert draw("ſee wasser-", spelling=Spelling()) == "ſee wasser-"


def test_texts_are_labeled_in_todays_spelling():
    assert OLD.edited("waſſer") == "wasser"
    assert Spelling().edited("waſſer") == "waſſer"


def test_a_share_outside_0_to_1_is_refused():
    with pytest.raises(ConfigError, match=r"spelling\.long_s must be a share of lines between 0 and 1, not 1\.5"):
        Spelling(long_s=1.5)
