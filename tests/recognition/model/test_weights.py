"""Quantized weights are nearly the same, and stay what they are when they are quantized again."""

import json
import zlib

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from drethtr.base.errors import CheckpointError
from drethtr.recognition.model.weights import (
    PACKED,
    SCALES,
    as_bfloat16,
    dequantize,
    packed,
    quantize,
    read_file,
    read_metadata,
    to_bfloat16,
    write_tensors,
)


@pytest.fixture
def weights():
    """What networks have: matrices of odd shapes, scales far apart, zeros, kernels, biases and counts."""
    rng = np.random.default_rng(0)
    return {
        "matrix": (rng.normal(size=(7, 70)) * np.logspace(-8, 3, 7)[:, None]).astype(np.float32),
        "even": rng.normal(size=(5, 68)).astype(np.float32),
        "narrow": rng.normal(size=(3, 1)).astype(np.float32),
        "zeros": np.zeros((2, 40), np.float32),
        "empty": np.zeros((0, 5), np.float32),
        "kernel": rng.normal(size=(4, 2, 3, 3)).astype(np.float32),
        "bias": rng.normal(size=9).astype(np.float32),
        "count": np.array(7),
    }


def test_every_number_is_nearly_the_same(weights):
    found = dequantize(quantize(weights))
    assert found.keys() == weights.keys()
    for columns in (slice(0, 32), slice(32, 64), slice(64, 70)):
        given, read = weights["matrix"][:, columns], found["matrix"][:, columns]
        assert (np.abs(given - read) <= np.abs(given).max(1, keepdims=True) / 127 * 0.51).all()
    for name in ("kernel", "bias"):
        np.testing.assert_allclose(found[name], weights[name], rtol=1e-3, atol=1e-3)
    for name in ("zeros", "empty", "count"):
        assert np.array_equal(found[name], weights[name]) and found[name].dtype == weights[name].dtype


def test_numbers_of_4_bits_are_within_half_a_step_or_clipped(weights):
    given = weights["even"]
    stored = quantize(weights, ("even",))
    assert stored["even"].dtype == np.uint8 and stored["even"].shape == (5, 34)
    found = dequantize(stored)["even"]
    step = np.repeat(as_bfloat16(stored["even" + SCALES]), 32, axis=1)[:, :68]
    clipped = np.abs(found) > 6.5 * step
    assert (np.abs(given - found) <= np.where(clipped, 2 * step, 0.51 * step)).all()
    assert np.square(given - found).mean() < np.square(step).mean() / 11, "as even rounding without clipping"


def test_what_had_4_bits_stays_in_8_bits(weights):
    once = dequantize(quantize(weights, ("even",)))
    assert np.array_equal(dequantize(quantize(once))["even"], once["even"])


@pytest.mark.parametrize("coarse", [(), ("",), ("even",)], ids=["fine", "coarse", "both"])
def test_quantizing_again_changes_nothing(weights, coarse):
    once = dequantize(quantize(weights, coarse))
    again = dequantize(quantize(once, coarse))
    assert all(np.array_equal(again[name], weight) for name, weight in once.items())


def test_a_matrix_takes_a_good_half_of_float16():
    for coarse, bits in (((), 8), (("matrix",), 4)):
        stored = quantize({"matrix": np.ones((64, 256), np.float32)}, coarse)
        assert sum(tensor.nbytes for tensor in stored.values()) == 64 * 256 * bits // 8 + 64 * 8 * 2


def test_weights_that_are_not_quantized_stay(weights):
    found = dequantize(weights)
    assert all(np.array_equal(tensor, weights[name]) for name, tensor in found.items())


def test_numbers_too_large_for_half_precision_are_kept():
    variances = {"running_var": np.array([1.0, 1e5], np.float32)}
    assert np.array_equal(dequantize(quantize(variances))["running_var"], variances["running_var"])


def test_half_precision_becomes_float32(weights):
    found = dequantize({"bias": weights["bias"].astype(np.float16)})["bias"]
    assert found.dtype == np.float32 and np.array_equal(found, weights["bias"].astype(np.float16))


def test_scales_are_rounded_as_torch_rounds():
    """Ties go to even: files of format 1 have scales from torch."""
    largest = np.random.default_rng(0).uniform(0, 1, (1000, 1)).astype(np.float32)
    ties = np.array([[0x3F808000], [0x3F818000], [0x3F80FFFF]], np.uint32).view(np.float32)
    for numbers in (largest, ties):
        assert np.array_equal(to_bfloat16(numbers), torch.tensor(numbers).bfloat16().view(torch.uint16).numpy())


def test_bfloat16_is_read_from_its_bits(tmp_path):
    """Numpy has no such numbers; torch writes them."""
    numbers = torch.tensor([[1.5, -2.0, 1e-30], [3.25, 0.0, 1e30]]).bfloat16()
    save_file({"weight": numbers}, tmp_path / "file", {"who": "torch"})
    read, metadata = read_file(tmp_path / "file")
    assert metadata == {"who": "torch"}
    for found in (as_bfloat16(read["weight"]), dequantize(read)["weight"]):
        assert np.array_equal(found, numbers.float().numpy())


def test_what_is_written_is_read(weights, tmp_path):
    stored = quantize(weights)
    write_tensors(stored, tmp_path / "file", {"a": "b"})
    found, metadata = read_file(tmp_path / "file")
    assert found.keys() == stored.keys() and metadata == read_metadata(tmp_path / "file") == {"a": "b"}
    for name, tensor in stored.items():
        assert np.array_equal(found[name], tensor) and found[name].dtype == tensor.dtype


def test_what_is_packed_is_read_and_smaller(weights, tmp_path):
    stored = quantize(weights | {"large": np.random.default_rng(1).normal(size=(64, 640)).astype(np.float32)})
    for pack in (False, True):
        write_tensors(stored, tmp_path / f"{pack}.safetensors", {"a": "b"}, pack=pack)
    read, metadata = read_file(tmp_path / "True.safetensors")
    assert metadata == {"a": "b"} and read.keys() == stored.keys()
    assert all(read[name].dtype == stored[name].dtype for name in stored)
    assert all(np.array_equal(read[name], stored[name]) for name in stored)
    plain, small = ((tmp_path / f"{pack}.safetensors").stat().st_size for pack in (False, True))
    assert small < plain


@pytest.mark.parametrize(
    ("codes", "shapes"),
    [
        (b"", "deep"),
        (zlib.compress(bytes(10**7)), {"w": [10**7]}),  # no Huffman codes alone: a thousand numbers a byte
        (packed(np.zeros(50, np.int8)), {"w": [49]}),
        (packed(np.zeros(50, np.int8))[:-5], {"w": [50]}),
        (b"no zlib stream", {"w": [14]}),
        (packed(np.zeros(50, np.int8)), {"v": [50]}),
        (packed(np.zeros(50, np.int8)), {"w": "x"}),
        (packed(np.zeros(50, np.int8)), ["w"]),
    ],
)
def test_packed_tensors_of_a_bad_file_are_refused(codes, shapes, tmp_path):
    path = tmp_path / "bad.safetensors"
    text = "[" * 100_000 if shapes == "deep" else json.dumps(shapes)
    write_tensors({"w": np.frombuffer(codes, np.uint8)}, path, {PACKED: text})
    with pytest.raises(CheckpointError, match="cannot be unpacked"):
        read_file(path)


def test_names_of_files_in_no_encoding_are_kept(tmp_path):
    """They are in the card of a model that was trained on such files, and broke writing it."""
    write_tensors({}, tmp_path / "file", {"card": json.dumps({"set": "M\udcfcller, é"}, ensure_ascii=False)})
    assert json.loads(read_metadata(tmp_path / "file")["card"]) == {"set": "M\udcfcller, é"}


def test_a_place_that_cannot_be_written_is_named(weights, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match=r"file/model.*: cannot be written"):
        write_tensors(weights, tmp_path / "file" / "model", {})


ODD_SCALES = [*(np.ones(shape, np.uint16) for shape in [(7, 2), (6, 3), (), (7, 3, 1)]), np.ones((7, 3), np.float32)]


@pytest.mark.parametrize("scales", ODD_SCALES, ids=["few", "rows", "one", "3D", "floats"])
def test_scales_of_another_shape_or_kind_are_refused(scales, weights):
    with pytest.raises(CheckpointError, match=r"matrix\.scales does not fit a matrix of shape \(7, 70\)"):
        dequantize(quantize(weights) | {"matrix" + SCALES: scales})


def test_scales_without_a_matrix_are_refused():
    with pytest.raises(CheckpointError, match=r"lost\.scales does not fit a matrix"):
        dequantize({"lost.scales": np.ones((2, 2), np.uint16)})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(value, weights):
    with pytest.raises(CheckpointError, match="non-finite numbers in bias"):
        dequantize(weights | {"bias": np.array([1.0, value], np.float32)})
