"""The torch backend: batches, and what it says when memory is short.

That onnxruntime equals it: `recognition/onnx/test_network.py`.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from noise import noise_lines, noisy_weights

from drethtr.network.attention import KeyValue
from drethtr.network.backend import TorchNetwork, memory_errors, open_network, stack
from drethtr.network.network import BatchMemory
from drethtr.network.tree import of_similar_size
from drethtr.recognition.batching import WIDTH_STEP
from drethtr.recognition.model.file import SHIPPED, load_model
from drethtr.recognition.protocol import Precision


def test_stack_fills_up_with_paper():
    lines = [np.full((4, WIDTH_STEP + 1), 0.5, np.float32), np.full((4, 2), 0.25, np.float32)]
    images, widths = stack(lines)
    assert images.shape == (2, 1, 4, 2 * WIDTH_STEP) and widths.tolist() == [WIDTH_STEP + 1, 2]
    for image, line in zip(images, lines, strict=True):
        assert (image[0, :, : line.shape[1]].numpy() == line).all() and (image[0, :, line.shape[1] :] == -1).all()


@pytest.mark.parametrize("lines", [1, 3, 8])
def test_batches_have_few_shapes_on_a_gpu(lines):
    """Blank lines fill a batch up to a power of two; they change nothing, and nothing of them is kept."""
    network, sizes = noisy_weights(), []
    network.backbone.register_forward_pre_hook(lambda _, given: sizes.append(len(given[0])))
    memory, filled = (noise_lines(TorchNetwork(network, as_on_gpu=way), lines) for way in (False, True))
    assert sizes == [lines, {1: 1, 3: 4, 8: 8}[lines]]
    assert filled.tokens == memory.tokens and filled.kept.layers[0].keys.shape == memory.kept.layers[0].keys.shape
    np.testing.assert_allclose(filled.mean, memory.mean, atol=1e-5)
    for name in ("drafts", "ctc"):
        for row, expected in zip(getattr(filled, name), getattr(memory, name), strict=True):
            np.testing.assert_allclose(row, expected, atol=1e-5)


def test_trees_of_similar_size_are_read_together():
    assert list(of_similar_size([9, 1, 20, 25, 1, 8])) == [[3, 2], [0, 5], [1, 4]]


ON_WINDOWS = RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 4096 bytes.")
ON_A_MAC = RuntimeError(
    "MPS backend out of memory (MPS allocated: 17.99 GB, other allocations: 96.00 KB, max allowed: 18.13 GB). Tried to "
    "allocate 256.00 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory "
    "allocations (may cause system failure)."
)


@pytest.mark.parametrize(
    "error",
    [
        torch.cuda.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("GET was unable to find an engine to execute this computation"),
        ON_WINDOWS,
        ON_A_MAC,
    ],
    ids=["CUDA", "driver", "cuBLAS", "cuDNN", "Windows", "Mac"],
)
def test_a_failed_allocation_is_a_memory_error(error):
    with pytest.raises(MemoryError), memory_errors():
        raise error


def test_what_torch_says_on_a_cpu_is_understood():
    with pytest.raises(MemoryError), memory_errors():
        torch.empty(1 << 50)


def test_keeping_lines_may_exhaust_memory():
    """Only `MemoryError` makes the recognizer halve a group of lines."""
    network = TorchNetwork(noisy_weights())
    memory = noise_lines(network, 2)
    huge = torch.zeros(()).expand(2, 1, 1, 1 << 50)
    with pytest.raises(MemoryError):
        network.keep(replace(memory, kept=BatchMemory((KeyValue(huge, huge),), None, None)), [0])


def test_other_errors_are_not_hidden():
    with pytest.raises(RuntimeError, match="a bug"), memory_errors():
        raise RuntimeError("a bug")


def test_a_model_is_opened_without_drawing_weights(monkeypatch):
    """Drawing on the meta device loads a compiler: opening the model with its rescorer took ten seconds longer."""
    monkeypatch.setattr(torch.nn.init, "normal_", lambda *given, **settings: pytest.fail("weights are drawn"))
    assert open_network(load_model(SHIPPED), "cpu", Precision.FLOAT32, 1).rescorer is not None
