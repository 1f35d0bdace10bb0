"""Models written by hand are what `onnx` reads, and its reference computes the same."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from drethtr.base.errors import CheckpointError
from drethtr.recognition.onnx import protobuf
from drethtr.recognition.onnx.graph import SMALL, Graph, floats, ints
from drethtr.recognition.onnx.network import Session


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def computed(graph, **feeds):
    """The outputs by onnxruntime and by the reference."""
    reference = ReferenceEvaluator(onnx.load_from_string(graph.model()))
    return Session(graph).run(feeds), reference.run(None, feeds)


def test_a_model_is_read_by_onnx():
    graph = Graph({"w": numbers(4, 3), "b": numbers(4)})
    x = graph.input("x", ("tokens", 3))
    graph.output(graph.op("Gemm", x, graph.weight("w", 4, 3), graph.weight("b", 4), transB=1))
    model = onnx.load_from_string(graph.model())
    assert model.producer_name == "drethtr" and model.ir_version == protobuf.IR_VERSION
    assert {opset.domain: opset.version for opset in model.opset_import} == protobuf.OPSETS
    [given] = model.graph.input
    assert given.type.tensor_type.shape.dim[0].dim_param == "tokens"
    assert given.type.tensor_type.shape.dim[1].dim_value == 3
    assert onnx.numpy_helper.to_array(model.graph.initializer[0]).tolist() == graph.weights["w"].tolist()
    [found], [expected] = computed(graph, x=numbers(5, 3, seed=3))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_attributes_and_constants_of_every_kind():
    graph = Graph({})
    x = graph.input("x", (2, 3, "n"))
    turned = graph.op("Transpose", x, perm=(2, 0, 1))
    parts = graph.split_op("Split", turned, outputs=3, axis=-1, num_outputs=3)
    leaky = graph.op("LeakyRelu", parts[0], alpha=0.25)
    kept = graph.op("Where", np.array([True, False])[None, :, None], leaky, parts[2])
    moved = graph.op("Slice", graph.op("Pad", kept, ints(1, 0, 0, 0, 0, 0), mode="edge"), ints(0), ints(-1), ints(0))
    graph.output(moved, graph.op("Mul", parts[1], floats([-1.5, 2])[:, None]))
    for found, expected in zip(*computed(graph, x=numbers(2, 3, 7)), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_large_constants_are_shared_and_not_copied_into_the_model():
    weight = numbers(64, 64)
    graph = Graph({"w": weight})
    x = graph.input("x", ("n", 64))
    graph.output(graph.op("MatMul", x, graph.weight("w", 64, 64)))
    assert graph.shared["w"] is weight and weight.nbytes > SMALL
    assert len(graph.model()) < 1000
    given = numbers(3, 64, seed=1)
    np.testing.assert_allclose(Session(graph).run({"x": given})[0], given @ weight, atol=1e-4)


def test_constants_need_not_lie_in_order():
    weight = numbers(64, 32).T
    graph = Graph({})
    graph.output(graph.op("MatMul", graph.input("x", ("n", 32)), weight))
    given = numbers(3, 32, seed=1)
    np.testing.assert_allclose(Session(graph).run({"x": given})[0], given @ weight, atol=1e-4)


def test_a_loop_sees_what_is_around_it():
    graph = Graph({})
    x = graph.input("x", (3,))
    graph.output(
        graph.loop(graph.constant(np.array(4)), lambda inside, turn: inside.op("Mul", x, as_real(inside, turn)))
    )
    [found] = Session(graph).run({"x": floats([1, 2, 3])})
    assert found.tolist() == [[0, 0, 0], [1, 2, 3], [2, 4, 6], [3, 6, 9]]


def as_real(graph, value):
    return graph.op("Cast", value, to=int(protobuf.ElementType.FLOAT))


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**31, 2**63 - 1, -1, -(2**63)])
def test_numbers_as_onnx_writes_them(value):
    tensor = onnx.TensorProto(data_type=0, dims=[value])
    assert onnx.TensorProto.FromString(protobuf.number(1, value)).dims == tensor.dims


def test_missing_weights_are_named():
    with pytest.raises(CheckpointError, match="lack w"):
        Graph({}).weight("w", 3)


def test_the_package_names_neither_torch_nor_onnx():
    """What it stands on is looked at by the job without torch."""
    for path in Path(protobuf.__file__).parent.glob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        modules = [line.split()[1] for line in lines if line.startswith(("from ", "import "))]
        assert not [name for name in modules if name.split(".")[0] in ("torch", "onnx") or "drethtr.network" in name]
