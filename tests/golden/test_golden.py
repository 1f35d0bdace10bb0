"""The shipped model reads the samples as on record; after an intended change, `make golden` and read the diff."""

import numpy as np
import pytest
from golden.readings import DECODERS, read_samples, recorded
from rapidfuzz.distance import Levenshtein


def numbers(record):
    """The confidences of a line and its words, and all edges in pixels."""
    confidences = [record["confidence"], *(word[1] for word in record["words"])]
    return np.array(confidences), np.array([edge for word in record["words"] for edge in word[2:]])


@pytest.mark.parametrize("decoder", DECODERS)
def test_samples_are_read_as_recorded(decoder):
    expected = recorded()[f"{decoder} float32"]
    found = dict(read_samples(decoder, "float32"))
    assert {name: line["text"] for name, line in found.items()} == {n: line["text"] for n, line in expected.items()}
    for name, line in expected.items():
        for ours, theirs, most in zip(numbers(found[name]), numbers(line), (0.005, 1.0), strict=True):
            assert np.abs(ours - theirs).max() <= most, (name, ours, theirs)
        assert [flag[0] for flag in found[name]["flags"]] == [flag[0] for flag in line["flags"]], name
        edges = [[edge for flag in record["flags"] for edge in flag[1:]] for record in (found[name], line)]
        assert edges[0] == pytest.approx(edges[1], abs=1), name


@pytest.mark.parametrize("decoder", DECODERS)
def test_int8_reads_nearly_as_recorded(decoder):
    """Its kernels round differently on other processors: 2% of the characters may differ, and confidences by 0.05."""
    expected = recorded()[f"{decoder} int8"]
    found = dict(read_samples(decoder, "int8"))
    assert found.keys() == expected.keys()
    texts = [(found[name]["text"], line["text"]) for name, line in expected.items()]
    assert sum(Levenshtein.distance(*pair) for pair in texts) <= 0.02 * sum(len(text) for _, text in texts)
    for name, line in expected.items():
        if found[name]["text"] == line["text"]:
            for ours, theirs, most in zip(numbers(found[name]), numbers(line), (0.05, 3.0), strict=True):
                assert np.abs(ours - theirs).max() <= most, (name, ours, theirs)
