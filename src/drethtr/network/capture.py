"""A step as a CUDA graph: hundreds of kernels, which the host then launches at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from weakref import WeakValueDictionary

import torch

STREAMS = 32
"""Streams of a GPU that torch hands out, in turn."""

WARM_UP = 3
"""Steps before one is captured, in which libraries allocate what they need."""

NO_MEMORY = "CUDA error: out of memory"
"""Part of the message if memory outside of torch's allocator is missing."""

CAPTURING = Lock()
"""One graph at a time may be captured in a process, whatever its network and GPU."""

GRAPHS: WeakValueDictionary[tuple[int, int], torch.cuda.CUDAGraph] = WeakValueDictionary()
"""The graphs that are alive, by the GPU and the stream that they were captured on."""


def free_stream() -> torch.cuda.Stream | None:
    """A stream on which no graph that is alive was captured; None if there is none.

    With the first graph of a stream, torch frees what cuBLAS needs for all of its graphs (pytorch issue 193402).
    """
    streams = (torch.cuda.Stream() for _ in range(STREAMS))  # type: ignore[no-untyped-call]
    return next((stream for stream in streams if (stream.device_index, stream.cuda_stream) not in GRAPHS), None)


@torch.inference_mode()
def captured(step: Callable[[], None]) -> Callable[[], None]:
    """A step as a CUDA graph, which the result replays; the step is run a few times for that.

    Without a free stream the result is the step itself, which is slower.
    """
    with CAPTURING:
        here, side = torch.cuda.current_stream(), free_stream()
        if side is None:
            return step
        graph = torch.cuda.CUDAGraph()
        side.wait_stream(here)
        try:
            # If a capture cannot be ended, torch leaves its stream as the current one; this restores the previous one.
            with memory_as_reason(), torch.cuda.stream(side):
                for _ in range(WARM_UP):
                    step()
                # Other threads may prepare their batches meanwhile, which the strict mode would forbid. The default
                # stream belongs to the GPU that was captured on first.
                with torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"):
                    step()
        finally:
            here.wait_stream(side)
        GRAPHS[side.device_index, side.cuda_stream] = graph
    return graph.replay


@contextmanager
def memory_as_reason() -> Iterator[None]:
    """Report a capture that runs out of memory as such: ending it raises another error, which may hide the first."""
    try:
        yield
    except Exception as error:
        if isinstance(error.__context__, torch.cuda.OutOfMemoryError):
            raise error.__context__ from None
        if NO_MEMORY in str(error):  # for the graph itself
            raise torch.cuda.OutOfMemoryError(str(error)) from None
        raise
