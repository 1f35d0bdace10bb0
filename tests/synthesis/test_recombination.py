"""Lines put together anew say what is written on them, in words of one hand on one page."""

import os
import pickle
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from drethtr.base import config
from drethtr.base.errors import ConfigError, DataError
from drethtr.datasets.sample import Sample, fingerprint
from drethtr.synthesis.recombination import (
    MAX_WORDS,
    Recombination,
    Recombined,
    WordGap,
    joined_up,
    read_gaps,
    write_gaps,
)
from drethtr.training.feed.supply import LineSource, RealSupply

LETTERS = "abcdefghijklmnopqrstuvwxyz"
STROKE, AIR, SPACE = 3, 4, 9


def drawn(text, height=24):
    """Each letter a stroke of its own gray."""
    columns = [255] * AIR
    for letter in text:
        columns += [255] * SPACE if letter == " " else [10 + 5 * LETTERS.index(letter)] * STROKE + [255] * AIR
    return np.tile(np.array(columns, np.uint8), (height, 1))


def seen(line):
    """What `drawn` wrote."""
    text, white = "", 0
    row = [int(gray) for gray in line[line.shape[0] // 2]]
    for before, gray in zip([255, *row], row, strict=False):
        if gray < 200 and before >= 200:
            text += (" " if white > SPACE and text else "") + LETTERS[round((gray - 10) / 5)]
        white = 0 if gray < 200 else white + 1
    return text


def gaps_of(text):
    """The middle of every space."""
    widths = [SPACE if letter == " " else STROKE + AIR for letter in text]
    starts = AIR + np.cumsum([0, *widths])
    return tuple(WordGap(int(starts[n]) + SPACE // 2, n) for n, letter in enumerate(text) if letter == " ")


def on_page(page, texts, hand=None):
    return [Sample(drawn(text), text, "s", page=page, hand=hand, key=f"{page} {n}") for n, text in enumerate(texts)]


ONE = ["ab cd efg", "hij kl", "mn opq rs tu vw"]
TWO = ["xy z", "za b", "bc xx yy"]
SAMPLES = (*on_page("one", ONE), *on_page("two", TWO))
GAPS = {fingerprint(sample): gaps_of(sample.text) for sample in SAMPLES}


def lines(samples=SAMPLES, gaps=GAPS, share=1.0):
    return RealSupply("s", tuple(samples), 0, Recombination.of(samples, gaps, share))


def test_what_is_drawn_can_be_seen():
    assert [seen(sample.image) for sample in SAMPLES] == [*ONE, *TWO]


def test_a_line_put_together_anew_shows_its_text():
    supply, texts = lines(), set()
    for number in range(200):
        sample = supply.sample(number, 0)
        assert seen(sample.line()) == sample.text
        texts.add(sample.text)
    assert len(texts - {*ONE, *TWO}) > 50


def test_words_are_of_one_page():
    known = {page: {word for text in texts for word in text.split()} for page, texts in (("one", ONE), ("two", TWO))}
    supply = lines()
    for number in range(100):
        sample = supply.sample(number, 0)
        assert {*sample.text.split()} <= known[sample.page]


def test_no_more_words_keep_their_order_than_may():
    texts = ["a b c d e f g h i j"] * 3
    samples = [replace(sample, image=drawn(sample.text, 24 + n)) for n, sample in enumerate(on_page("p", texts))]
    supply = lines(samples, {fingerprint(sample): gaps_of(sample.text) for sample in samples})
    assert not any("a b c d e f g h i" in supply.sample(number, 0).text for number in range(100))
    assert MAX_WORDS < 8


def test_a_sample_depends_on_its_number_and_the_seed_only():
    def texts(seed, numbers):
        supply = pickle.loads(pickle.dumps(lines()))
        return {number: supply.sample(number, seed).text for number in numbers}

    assert texts(0, range(50)) == texts(0, reversed(range(50)))
    assert texts(0, range(50)) != texts(1, range(50))


def test_share():
    new = sum(not any(lines(share=0.3).sample(n, 0) is sample for sample in SAMPLES) for n in range(300))
    assert 60 < new < 120
    assert all(lines(share=0.0).sample(n, 0) in SAMPLES for n in range(20))
    with pytest.raises(ConfigError, match="share must be between 0 and 1, not 2"):
        Recombined(gaps="gaps.parquet", share=2.0)


@pytest.mark.parametrize(
    "samples",
    [
        [replace(sample, page=None) for sample in SAMPLES],
        [replace(sample, hand=str(number)) for number, sample in enumerate(SAMPLES)],
        [replace(sample, text=f"x{sample.text}") for sample in SAMPLES],
        SAMPLES[:2],
    ],
    ids=["unknown pages", "other hands", "other texts", "few lines"],
)
def test_lines_that_stay_as_they_are(samples):
    supply = lines(samples)
    assert all(any(supply.sample(number, 0) is sample for sample in samples) for number in range(20))


def test_pieces_are_as_high_as_the_first_and_on_its_paper():
    gray = np.full((20, 40), 200, np.uint8)
    white = np.full((40, 60), 255, np.uint8)
    white[:, 30:46] = 55
    joined = joined_up([gray, white])
    assert joined.shape == (20, 70)
    assert joined.min() == 0 and np.median(joined) == joined[0, -1] == 200


def test_gaps_come_back_from_their_file(tmp_path):
    folders = ["gaps", *([os.fsdecode(b"l\xfccken")] if sys.platform == "linux" else [])]
    for path in (tmp_path / folder / "gaps.parquet" for folder in folders):  # arrow opens none that is not UTF-8
        write_gaps(GAPS, path)
        assert read_gaps(str(path)) == GAPS
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "lines.parquet")
    with pytest.raises(DataError, match="not a gaps file; create one with drethtr data gaps"):
        read_gaps(str(tmp_path / "lines.parquet"))


def test_other_gaps_have_another_digest():
    fewer = {image: of_line[:1] for image, of_line in GAPS.items()}
    assert len({lines().digest(), lines(gaps=fewer).digest(), lines(share=0.5).digest(), lines(gaps={}).digest()}) == 4
    assert lines().digest() == lines().digest()


def test_a_source_puts_its_lines_together_anew(tmp_path, draw):
    texts = ["ab cd", "ef gh", "ij kl"]
    images = [draw(text) for text in texts]
    pq.write_table(pa.table({"image": images, "text": texts, "page": ["p"] * 3}), tmp_path / "a.parquet")
    gaps = {fingerprint(Sample(image, text)): (WordGap(20, 2),) for image, text in zip(images, texts, strict=True)}
    write_gaps(gaps, tmp_path / "gaps.parquet")
    recombined = {"gaps": str(tmp_path / "gaps.parquet"), "share": 1.0}
    table = {"kind": "Real", "paths": [str(tmp_path / "a.parquet")], "recombined": recombined}
    [(_, supply)] = config.from_dict(LineSource, table).open()
    assert supply.describe() == "a: 3 lines; 100 % of 3 recombined from words of their pages"
    assert {word for n in range(40) for word in supply.sample(n, 0).text.split()} == {*" ".join(texts).split()}
    assert {supply.sample(n, 0).text for n in range(40)} - {*texts}
