import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from drethtr.base.errors import ConfigError, DataError
from drethtr.datasets.sample import Sample, fingerprint
from drethtr.images.deslant import deslant
from drethtr.images.prepare import Preparation
from drethtr.recognition.batching import WIDTH_STEP, padded_width
from drethtr.synthesis.random_step import RandomStep, Sometimes
from drethtr.synthesis.recombination import Recombination, WordGap
from drethtr.text.tokenizer import PAD, UNK, Characters
from drethtr.training.feed.batch import BatchConfig, Batches, Prose, collate
from drethtr.training.feed.mixture import LineMixture
from drethtr.training.feed.streamed import Streamed
from drethtr.training.feed.supply import RealSupply

TEXTS = Path(__file__).parents[2] / "texts"
TOKENIZER = Characters.learn(["abcx0123456789"])
CONFIG = BatchConfig(pixels=16 * 4 * WIDTH_STEP, lines=5, max_columns=300, chunk=24)


@dataclass(frozen=True)
class Darken(RandomStep):
    """A step with a visible result that depends on chance."""

    def __call__(self, line, rng):
        return np.minimum(line, rng.integers(100, 200, dtype=np.uint8))


@pytest.fixture
def mixture(make_samples):
    return LineMixture(
        (RealSupply("a", make_samples("a", 40)), RealSupply("b", make_samples("b", 8))), (0.8, 0.2), seed=2
    )


def batches_of(mixture, config=CONFIG, augmentation=()):
    return Batches(mixture, Preparation(height=16), TOKENIZER, config, augmentation)


def test_collate_pads_with_paper_and_pad():
    lines = [np.full((4, 2), 0.5, np.float32), np.full((4, 5), 0.25, np.float32)]
    batch = collate(lines, ["a?b", ""], TOKENIZER)
    assert batch.images.shape == (2, 1, 4, WIDTH_STEP) and batch.images.dtype == torch.float32
    assert (batch.images[0, 0, :, :2] == 0.5).all() and (batch.images[0, 0, :, 2:] == -1).all()
    assert (batch.images[1, 0, :, :5] == 0.25).all() and (batch.images[1, 0, :, 5:] == -1).all()
    assert batch.widths.tolist() == [2, 5] and batch.widths.dtype == torch.int64
    a, b = TOKENIZER.encode("ab")
    assert batch.tokens.tolist() == [[a, UNK, b], [PAD] * 3] and batch.tokens.dtype == torch.int64
    assert batch.lengths.tolist() == [3, 0] and batch.lengths.dtype == torch.int64
    assert (batch.texts, batch.left_out) == (("a?b", ""), 0)


def test_collate_of_empty_texts():
    batch = collate([np.zeros((4, 2), np.float32)], [""], TOKENIZER)
    assert batch.tokens.shape == (1, 0) and batch.tokens.dtype == torch.int64


def test_a_chunk_holds_its_samples_once(mixture):
    for chunk in (0, 3):
        batches = batches_of(mixture)[chunk]
        texts = [text for batch in batches for text in batch.texts]
        assert sorted(texts) == sorted(mixture.sample(24 * chunk + i).text for i in range(24))
        assert all(batch.images.numel() <= CONFIG.pixels and len(batch.texts) <= CONFIG.lines for batch in batches)


def test_whether_a_line_is_recombined_does_not_decide_how_it_is_augmented(make_samples):
    """Of the only set of a run with seed 0, lines that were not recombined were never slanted."""
    samples = tuple(replace(sample, text="a b", page="p") for sample in make_samples("a", 4))
    gaps = {fingerprint(sample): (WordGap(4, 1),) for sample in samples}
    supply = RealSupply("a", samples, recombination=Recombination.of(samples, gaps, 0.5))
    mixture = LineMixture((supply,), (1.0,), seed=0)
    augmented: list[bool] = []

    class Note(RandomStep):
        def __call__(self, line, rng):
            augmented[-1] = True
            return line

    batches = batches_of(mixture, augmentation=[Sometimes(Note(), 0.5)])
    for number in range(64):
        augmented.append(False)
        batches.prepared(mixture.sample(number), number)
    recombined = ["recombined" in mixture.sample(number).key for number in range(64)]
    assert len({*zip(recombined, augmented, strict=True)}) == 4


def test_lines_keep_their_texts(mixture):
    samples = {sample.text: sample for sample in mixture.real_samples()}
    for batch in batches_of(mixture)[0]:
        for image, width, ids, length, text in zip(*batch[:5], strict=True):
            expected = Preparation(height=16)(samples[text].line())
            assert np.array_equal(image[0, :, :width], expected) and (image[0, :, width:] == -1).all()
            assert TOKENIZER.decode(ids[:length].tolist()) == text


def test_lines_of_a_batch_are_of_like_width_and_batches_shuffled(draw):
    samples = tuple(Sample(draw("a", width=20 + 10 * number), "a") for number in range(28))
    mixture = LineMixture((RealSupply("a", samples),), (1.0,), seed=0)
    unsorted = 0
    for chunk in range(4):
        ranges = [
            (padded_width(int(b.widths.min())), padded_width(int(b.widths.max()))) for b in batches_of(mixture)[chunk]
        ]
        descending = sorted(ranges, reverse=True)
        assert all(high <= low for (low, _), (_, high) in pairwise(descending))
        unsorted += ranges != descending
    assert unsorted


@pytest.mark.parametrize("lines", [1, 4, 7])
def test_with_fixed_shapes_all_batches_of_a_width_have_equally_many_lines(draw, lines):
    samples = tuple(Sample(draw(str(number % 10), width=20 + 10 * number), str(number)) for number in range(28))
    mixture = LineMixture((RealSupply("a", samples),), (1.0,), seed=0)
    config = replace(CONFIG, lines=lines, fixed_shapes=True)
    for chunk in range(4):
        batches = batches_of(mixture, config)[chunk]
        shapes = [(batch.images.shape[0], batch.images.shape[-1]) for batch in batches]
        assert all(number == min(lines, CONFIG.pixels // 16 // columns) for number, columns in shapes)
        used = Counter(text for batch in batches for text in batch.texts)
        drawn = Counter(mixture.sample(24 * chunk + i).text for i in range(24))
        assert used >= drawn and set(used) == set(drawn)
        assert used.total() - drawn.total() < max(number for number, _ in shapes)
        for batch in batches:
            for image, width in zip(batch.images, batch.widths, strict=True):
                assert (image[0, :, width:] == -1).all()
        again = batches_of(mixture, config)[chunk]
        assert [batch.texts for batch in again] == [batch.texts for batch in batches]


def test_a_chunk_depends_on_its_number_and_the_seed_only(mixture):
    batches = batches_of(mixture, augmentation=(Darken(),))
    first, again = batches[1], batches_of(mixture, augmentation=(Darken(),))[1]
    assert all(torch.equal(a.images, b.images) and a.texts == b.texts for a, b in zip(first, again, strict=True))
    other = batches_of(replace(mixture, seed=3), augmentation=(Darken(),))[1]
    assert [batch.texts for batch in other] != [batch.texts for batch in first]


def test_every_sample_is_augmented_differently(make_samples):
    """One line, seen again and again, never looks the same."""
    mixture = LineMixture((RealSupply("a", make_samples("a", 1)),), (1.0,), seed=0)
    grays = {
        float(image[0, 0, 0]) for batch in batches_of(mixture, augmentation=(Darken(),))[0] for image in batch.images
    }
    assert len(grays) > 10


def test_lines_are_deslanted_before_they_are_augmented():
    """Noise and paper on the sides would be taken for slanted strokes."""
    seen = []

    class Noted(RandomStep):
        def __call__(self, line, rng):
            seen.append(line)
            return np.pad(line, ((0, 0), (0, 60)), constant_values=255)

    slanted = np.full((40, 160), 255, np.uint8)
    for left in (20, 60, 100):
        for row in range(40):
            slanted[row, left + row // 2 : left + row // 2 + 4] = 0
    mixture = LineMixture((RealSupply("a", (Sample(slanted, "abc", set="a", key="a"),)),), (1.0,), seed=0)
    preparation = Preparation(height=16, deslant=True)
    batches = Batches(mixture, preparation, TOKENIZER, replace(CONFIG, chunk=1), (Noted(),))
    [batch] = batches[0]
    np.testing.assert_array_equal(seen[0], deslant(slanted))
    assert not np.array_equal(seen[0], slanted)
    expected = Preparation(height=16)(np.pad(deslant(slanted), ((0, 0), (0, 60)), constant_values=255))
    np.testing.assert_array_equal(batch.images[0, 0, :, : batch.widths[0]].numpy(), expected)


def test_prose_is_the_texts_of_the_lines_and_drawn_ones(mixture):
    alphabet = Characters.learn(["abcdefghijklmnopqrstuvwxyz 0123456789"])
    prose = Prose(texts=(str(TEXTS / "en.txt"),), lines=6)
    batches = Batches(mixture, Preparation(height=16), alphabet, CONFIG, prose=prose)
    first, again, other = batches[0], batches[0], batches[1]
    drawn = set()
    for batch, same in zip(first, again, strict=True):
        assert torch.equal(batch.prose, same.prose)
        texts = [alphabet.decode(row[row != PAD].tolist()) for row in batch.prose]
        assert texts[:-6] == list(batch.texts) and all(texts[-6:])
        drawn |= set(texts[-6:])
    assert len(drawn) > 4 * len(first) and not torch.equal(first[0].prose[-6:, :9], other[0].prose[-6:, :9])
    assert all(batch.prose is None for batch in batches_of(mixture)[0])
    [batch, *_] = Batches(mixture, Preparation(height=16), alphabet, CONFIG, prose=Prose())[0]
    assert [alphabet.decode(row[row != PAD].tolist()) for row in batch.prose] == list(batch.texts)
    with pytest.raises(ConfigError, match=r"^lines must be at least 1, not 0"):
        Prose(texts=("a.txt",), lines=0)


def test_wide_lines_are_left_out_and_counted(mixture):
    limit = replace(CONFIG, max_columns=70)
    total = batches_of(mixture, limit)[0]
    kept = sum(len(batch.texts) for batch in total)
    assert 0 < kept < 24 and all(int(batch.widths.max()) <= 70 for batch in total)
    assert [batch.left_out for batch in total] == [24 - kept] + [0] * (len(total) - 1)
    with pytest.raises(
        DataError, match=r"all 24 lines of chunk 0 .* 9 columns \(batches.max_columns\), or more text than"
    ):
        batches_of(mixture, replace(CONFIG, max_columns=9))[0]


def test_lines_with_the_text_of_a_page_are_left_out_and_counted():
    """A batch has room for the longest of its texts on every line."""
    samples = tuple(Sample(np.full((16, 20), 255, np.uint8), length * "a") for length in (1, 10, 11, 300))
    total = batches_of(LineMixture((RealSupply("a", samples),), (1.0,), seed=0))[0]
    assert {text for batch in total for text in batch.texts} == {"a", 10 * "a"}
    assert sum(batch.left_out + len(batch.texts) for batch in total) == 24 and total[0].left_out > 0


def test_broken_samples_are_left_out_and_named(make_samples):
    broken = Sample(b"no image", "a", key="lines.parquet row 3")
    endless = Sample(np.full((1, 70_000), 255, np.uint8), "a", key="lines.parquet row 4")
    whole = make_samples("a", 5)
    for sample, message in ((broken, "row 3: image of 8 bytes: "), (endless, "row 4: .*too long")):
        first, *others = batches_of(LineMixture((RealSupply("a", (sample, *whole)),), (1.0,), seed=0))[0]
        assert sum(len(batch.texts) for batch in (first, *others)) == 20
        assert (first.left_out, len(first.unusable), others[0].unusable) == (4, 4, ())
        assert all(re.match(rf"lines\.parquet {message}", words) for words in first.unusable)
        with pytest.raises(DataError, match=rf"cannot be used: lines\.parquet {message}"):
            batches_of(LineMixture((RealSupply("a", (sample,)),), (1.0,), seed=0))[0]


def test_rows_of_a_streamed_file_that_cannot_be_used_are_left_out_and_named(draw, tmp_path):
    """A row without an image ended a run after hours, where a broken image did not."""
    path = tmp_path / "a.parquet"
    images = pa.array([draw("a"), None, b"no image"], pa.binary())
    pq.write_table(pa.table({"image": images, "text": ["a", "b", "c"]}), path)
    first, *others = batches_of(LineMixture.open((Streamed(paths=(str(path),)),), seed=0))[0]
    assert sum(len(batch.texts) for batch in (first, *others)) == 8 and first.left_out == len(first.unusable) == 16
    named = {words.removeprefix(f"{path} ").partition(":")[0] for words in first.unusable}
    assert named == {"row 1", "row 2"} and f"{path} row 1: no image" in first.unusable


def test_a_streamed_file_that_is_gone_ends_a_run(draw, tmp_path):
    """It would go on with the rest of the data, and learn something else."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"image": [draw("a")], "text": ["a"]}), path)
    mixture = LineMixture.open((Streamed(paths=(str(path),)),), seed=0)
    path.unlink()
    with pytest.raises(DataError, match=r"^\S+a\.parquet: cannot be read as Parquet"):
        batches_of(mixture)[0]


def test_a_line_whose_words_cannot_be_cut_out_is_left_out_and_named(make_samples):
    """Recombined lines take words from lines that may be broken."""
    samples = [replace(sample, text="a b", page="1") for sample in make_samples("a", 9)]
    samples[3] = replace(samples[3], image=b"no image", key="lines.parquet row 3")
    gaps = {fingerprint(sample): (WordGap(4, 1),) for sample in samples}
    supply = RealSupply("a", tuple(samples), 0, Recombination.of(samples, gaps, 1.0))
    first, *others = batches_of(LineMixture((supply,), (1.0,), seed=0))[0]
    assert first.left_out == len(first.unusable) == 24 - sum(len(batch.texts) for batch in (first, *others)) > 0
    assert all(words.startswith("lines.parquet row 3: ") for words in first.unusable)


def test_settings_are_checked(mixture):
    with pytest.raises(ConfigError, match=r"^lines must be at least 1, not 0"):
        BatchConfig(lines=0)
    with pytest.raises(
        ConfigError, match=r"no room for a line of 16 rows and batches.max_columns 513 columns, .* 10,240"
    ):
        batches_of(mixture, replace(CONFIG, max_columns=513))
