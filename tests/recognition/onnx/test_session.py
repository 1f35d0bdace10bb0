"""What onnxruntime says where memory does not suffice."""

import numpy as np
import pytest
from conftest import written

from drethtr.recognition.onnx.graph import Graph
from drethtr.recognition.onnx.session import Session
from drethtr.recognition.recognizer import Recognizer


@pytest.fixture
def session():
    graph = Graph({})
    graph.output(graph.op("Relu", graph.input("x", ("n",))))
    return Session(graph)


def test_only_what_the_graph_takes_is_fed(session):
    given = {"x": np.array([-1, 2], dtype=np.float32), "y": np.zeros(3)}
    assert session.run(given)[0].tolist() == session.run(given, seldom=True)[0].tolist() == [0, 2]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("Non-zero status code returned while running Conv node: std::bad_alloc", MemoryError),
        ("BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 17", MemoryError),
        ("Unexpected input data type", RuntimeError),
    ],
)
def test_a_lack_of_memory_is_a_memory_error(session, monkeypatch, words, error):
    class Full:
        def run(self, *_):
            raise RuntimeError(words)

    monkeypatch.setattr(session, "_session", Full())
    with pytest.raises(error, match=words.split(":")[0]):
        session.run({"x": np.zeros(1, dtype=np.float32)})


def test_a_session_that_found_no_memory_is_made_by_the_next_call(tiny_model, monkeypatch):
    recognizer = Recognizer(tiny_model)

    def full(*_, **__):
        raise RuntimeError("std::bad_alloc")

    with monkeypatch.context() as change:
        change.setattr("onnxruntime.InferenceSession", full)
        with pytest.raises(MemoryError):
            recognizer.read([written("abc")])
    assert recognizer.read([written("abc")]) == Recognizer(tiny_model).read([written("abc")])
