import pytest

from drethtr.bench.quality.corruptions import KINDS, corrupt
from drethtr.datasets.sample import Sample
from drethtr.text.normalize import for_scoring

TEXTS = ["Le 3 mars Monsieur Martin avoit une maison", "Dear Anna the letter of 1842 came", "und Peter ging nach Hause"]
SAMPLES = [Sample(b"", text, set="s") for text in TEXTS * 4]


@pytest.fixture(scope="module")
def corrupted():
    return corrupt(SAMPLES)


def test_every_kind_is_made(corrupted):
    assert {kind for some in corrupted for kind in some} == set(KINDS)


def test_an_error_is_where_it_is_said_to_be(corrupted):
    for sample, some in zip(SAMPLES, corrupted, strict=True):
        words = for_scoring(sample.text).split()
        for kind, text in some.items():
            assert text.wrong or text.missing
            if kind == "omitted":
                [place] = text.missing
                assert [*text.words[:place], words[place], *text.words[place:]] == words
            elif kind == "inserted":
                [place] = text.wrong
                assert [*text.words[:place], *text.words[place + 1 :]] == words
            elif kind != "swapped":
                changed = [n for n, (a, b) in enumerate(zip(text.words, words, strict=True)) if a != b]
                assert changed == list(text.wrong)


def test_the_seed_decides_and_the_number_is_kept(corrupted):
    assert corrupt(SAMPLES) == corrupted and corrupt(SAMPLES, seed=1) != corrupted
    assert {len(some) for some in corrupt(SAMPLES, most=2)} == {2}


def test_a_line_without_words_has_no_errors():
    assert corrupt([Sample(b"", " ", set="s")]) == [{}]
