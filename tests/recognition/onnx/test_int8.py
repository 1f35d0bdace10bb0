"""Matrix products of bytes: near those of float32."""

import numpy as np
import pytest

from drethtr.recognition.onnx.graph import Graph
from drethtr.recognition.onnx.int8 import linear_int8, linear_of_places_int8, multiplied, quantize_by_output
from drethtr.recognition.onnx.network import Session


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def product(x, weights, linear=linear_int8, **options):
    graph = Graph(weights)
    outputs, inputs = weights["w.weight"].shape[:2]
    graph.output(linear(graph, graph.input("x", ("tokens", inputs)), "w", inputs, outputs, **options))
    return Session(graph).run({"x": x})[0]


def in_bytes(x):
    """As ONNX defines dynamic quantization, and back: the oracle."""
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = (high - low) / 255
    zero = np.rint(-low / scale)
    return (np.clip(np.rint(x / scale) + zero, 0, 255) - zero) * scale


@pytest.mark.parametrize("bias", [True, False])
def test_a_product_is_that_of_rounded_numbers(bias):
    x, weights = numbers(50, 96), {"w.weight": numbers(40, 96, seed=1), "w.bias": numbers(40, seed=2)}
    rounded, scales = quantize_by_output(weights["w.weight"])
    expected = in_bytes(x) @ (rounded * scales[:, None]).T + weights["w.bias"] * bias
    np.testing.assert_allclose(product(x, weights, bias=bias), expected, atol=1e-4)
    exact = x @ weights["w.weight"].T + weights["w.bias"] * bias
    assert np.abs(expected - exact).mean() < 0.02 * np.abs(exact).mean()


@pytest.mark.parametrize("unsigned", [True, None])
def test_sums_are_exact_beyond_16_bits(unsigned):
    """With unsigned weights on every processor, and as this one's are chosen."""
    graph, ones = Graph({"w.weight": np.ones((8, 64), np.float32)}), np.ones((8, 64), np.float32)
    x = graph.input("x", ones.shape)
    chosen = linear_int8(graph, x, "w", 64, 8, bias=False) if unsigned is None else None
    graph.output(chosen or multiplied(graph, x, "w", ones, unsigned=True))
    np.testing.assert_allclose(Session(graph).run({"x": ones})[0], 64, rtol=1e-4)


def test_a_convolution_of_single_places_is_a_product():
    x, weight = numbers(5, 8), numbers(6, 8, seed=1)
    as_kernel = {"w.weight": weight[:, :, None, None], "w.bias": np.zeros(6, np.float32)}
    found = product(x, as_kernel, linear_of_places_int8)
    assert np.array_equal(found, product(x, {"w.weight": weight}, bias=False))


def test_weights_of_an_output_share_a_scale_and_zeros_stay():
    weight = np.array([[1, -2, 4], [0, 0, 0], [1e-3, 0, 0]], dtype=np.float32)
    rounded, scales = quantize_by_output(weight)
    assert rounded.tolist() == [[32, -64, 127], [0, 0, 0], [127, 0, 0]]
    np.testing.assert_allclose(rounded * scales[:, None], weight, atol=4 / 127 / 2)
