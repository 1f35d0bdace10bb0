"""Run graphs with onnxruntime."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Condition
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drethtr.recognition.onnx.graph import Graph

OUT_OF_MEMORY = ("bad_alloc", "Failed to allocate memory")
"""Parts of onnxruntime's messages for failed allocations."""


class Runs:
    """The number of runs of onnxruntime in progress in this process.

    A fork waits until there are none, since nobody would release their locks in the child.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._number = 0
        self._forking = False

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count what is done in this context as one run; not in the context of another."""
        with self._changed:
            self._changed.wait_for(lambda: not self._forking)
            self._number += 1
        try:
            yield
        finally:
            with self._changed:
                self._number -= 1
                self._changed.notify_all()

    def stop(self) -> None:
        """Wait for all runs to end, and let none begin before `go_on`."""
        self._changed.acquire()
        self._changed.wait_for(lambda: not self._forking)
        self._forking = True
        self._changed.wait_for(lambda: not self._number)

    def go_on(self) -> None:
        """Let runs begin again; called by the thread that has stopped them, or by its copy in the child."""
        self._forking = False
        self._changed.notify_all()
        self._changed.release()


RUNS = Runs()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=RUNS.stop, after_in_parent=RUNS.go_on, after_in_child=RUNS.go_on)


class Session:
    """A loaded graph; several threads may run it at once, and share its `threads` - 1 further ones."""

    def __init__(self, graph: Graph, threads: int = 1) -> None:
        import onnxruntime as ort  # takes a tenth of a command's start, and the command may end before it loads a model

        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        # With this, trees of texts take 0.83 of the time and images 0.98 (LOG.md, 2026-11-27); peak memory is the same.
        options.enable_mem_reuse = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads sleep
        # Sessions use the memory of these arrays without copying, so the arrays must live as long.
        self._shared = {name: ort.OrtValue.ortvalue_from_numpy(values) for name, values in graph.shared.items()}
        options.add_external_initializers(list(self._shared), list(self._shared.values()))
        with memory_errors():
            self._session = ort.InferenceSession(graph.model(), options, providers=["CPUExecutionProvider"])
        self._options_of_run = ort.RunOptions
        self._inputs, self._outputs = tuple(graph.inputs), graph.outputs

    def run(self, feeds: Mapping[str, NDArray[Any]], *, seldom: bool = False) -> list[NDArray[np.float32]]:
        """The outputs of the graph; unused feeds are ignored.

        A graph that needs much memory and is `seldom` run frees it; otherwise memory is kept for the next call.

        Raises:
            MemoryError: if there is not enough memory.
        """
        options = self._options_of_run()
        if seldom:
            options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        with RUNS.counted(), memory_errors():
            outputs: list[NDArray[np.float32]] = self._session.run(
                self._outputs, {name: feeds[name] for name in self._inputs}, options
            )
        return outputs


@contextmanager
def memory_errors() -> Iterator[None]:
    """Convert failed allocations to `MemoryError`; onnxruntime has no exception of its own for them."""
    try:
        yield
    except Exception as error:
        if any(words in str(error) for words in OUT_OF_MEMORY):
            raise MemoryError(str(error)) from error
        raise
