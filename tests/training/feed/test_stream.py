import pickle
from itertools import islice

import pytest
import torch

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample
from drethtr.images.prepare import Preparation
from drethtr.synthesis.augment import SCANS
from drethtr.text.tokenizer import Characters
from drethtr.training.feed.batch import BatchConfig, Batches
from drethtr.training.feed.mixture import LineMixture
from drethtr.training.feed.stream import PackedBatch, Position, beginnings, stream
from drethtr.training.feed.supply import RealSupply

TOKENIZER = Characters.learn(["abx0123456789"])


def batches_of(samples):
    mixture = LineMixture((RealSupply("a", samples),), (1.0,), seed=2)
    config = BatchConfig(pixels=16 * 1024, lines=4, max_columns=400, chunk=12)
    return Batches(mixture, Preparation(height=16), TOKENIZER, config, SCANS)


@pytest.fixture
def batches(make_samples):
    return batches_of(make_samples("a", 30))


def same(one, other):
    """Whether two streams give the same positions and the same batches, bit for bit."""
    return len(one) == len(other) and all(
        p == q and equal(a.unpack(), b.unpack()) for (p, a), (q, b) in zip(one, other, strict=True)
    )


def equal(one, other):
    """Whether two batches are the same, bit for bit."""
    return all(torch.equal(x, y) if isinstance(x, torch.Tensor) else x == y for x, y in zip(one, other, strict=True))


def test_packing_loses_nothing(batches):
    with_prose = [batch._replace(prose=batch.tokens[:, :1]) for batch in batches[0]]
    for batch in (*batches[0], *with_prose):
        assert equal(PackedBatch.of(batch).unpack(), batch)


def test_the_stream_is_the_chunks_one_after_another(batches):
    expected = [batch for chunk in range(3) for batch in batches[chunk]]
    got = list(islice(stream(batches), len(expected)))
    assert all(equal(a.unpack(), b) for (_, a), b in zip(got, expected, strict=True))
    assert got[-1][0] == Position(3, 0) and got[0][0] == Position(0, 1)


def test_workers_change_nothing(batches):
    alone, one, two = (list(islice(stream(batches, workers=workers), 20)) for workers in (0, 1, 2))
    assert same(alone, one) and same(alone, two)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stream_continues_where_another_stopped(batches, workers):
    whole = list(islice(stream(batches), 12))
    for stopped in (2, 5):
        rest = list(islice(stream(batches, start=whole[stopped][0], workers=workers), 12 - stopped - 1))
        assert same(rest, whole[stopped + 1 :])


def test_batches_travel_to_processes_that_know_nothing(batches):
    """Where processes are spawned, the data set is pickled."""
    copy = pickle.loads(pickle.dumps(batches))
    assert same(list(islice(stream(copy), 5)), list(islice(stream(batches), 5)))


def test_the_stream_leaves_the_generator_of_the_model_alone(batches):
    """Otherwise a resumed run would draw other dropout masks than an uninterrupted one."""
    before = torch.get_rng_state()
    list(islice(stream(batches), 2))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("workers", [0, 1])
def test_chunks_that_cannot_be_used_are_told_in_one_line(workers):
    samples = (Sample(b"no image", "a", key="lines.parquet row 3"),)
    with pytest.raises(DataError, match=r"\Aall .*: lines.parquet row 3: .*\Z"):
        next(stream(batches_of(samples), workers=workers))


def test_streams_share_the_chunks_out(batches):
    whole = [batch.texts for chunk in range(6) for batch in batches[chunk]]
    shared = []
    for start in beginnings(3):
        for after, batch in stream(batches, start=start, every=3):
            shared.append(batch.texts)
            if after.chunk >= 6:
                assert after.chunk == start.chunk + 6
                break
    assert sorted(shared) == sorted(whole)
