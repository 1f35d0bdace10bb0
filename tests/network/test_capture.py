"""What can be known of captures without a GPU: what their errors say, and which streams they take."""

from itertools import cycle, repeat
from typing import NamedTuple

import pytest
import torch

from drethtr.network.capture import GRAPHS, STREAMS, free_stream, memory_as_reason


class EndOfCapture:
    """As torch's: if the capture has failed, its end fails as well."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        raise RuntimeError("CUDA error: operation failed due to a previous error during capture")


def test_a_capture_that_runs_out_of_memory_says_so():
    with pytest.raises(torch.cuda.OutOfMemoryError, match="tried to allocate"), memory_as_reason(), EndOfCapture():
        raise torch.cuda.OutOfMemoryError("tried to allocate 2 GiB")
    with pytest.raises(torch.cuda.OutOfMemoryError), memory_as_reason():
        raise RuntimeError("CUDA error: out of memory")  # for the graph, which no allocator of torch manages
    with pytest.raises(RuntimeError, match="previous error"), memory_as_reason(), EndOfCapture():
        raise RuntimeError("another reason")


class Stream(NamedTuple):
    """What is asked of a stream of a GPU."""

    device_index: int
    cuda_stream: int


class Graph:
    """A graph that may be alive."""


def test_no_two_graphs_that_are_alive_have_a_stream_together(monkeypatch):
    handed_out = map(Stream, repeat(0), cycle(range(STREAMS)))
    monkeypatch.setattr(torch.cuda, "Stream", lambda: next(handed_out))
    graphs = [Graph() for _ in range(STREAMS)]
    for graph in graphs:
        GRAPHS[free_stream()] = graph
    assert len(GRAPHS) == STREAMS and free_stream() is None
    del graph, graphs[7]
    assert free_stream() == (0, 7)
