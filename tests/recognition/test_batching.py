import numpy as np
import pytest
import torch

from drethtr.base.errors import DataError
from drethtr.recognition import batching
from drethtr.recognition.batching import WIDTH_STEP, group_by_width, in_memory, stack


def test_groups_are_of_like_width_and_within_budget():
    widths = np.random.default_rng(0).integers(1, 400, 200).tolist()
    groups = list(group_by_width(widths, columns=1000, lines=8))
    assert sorted(i for group in groups for i in group) == list(range(200))
    assert all(len(group) * max(widths[i] for i in group) <= 1000 and len(group) <= 8 for group in groups)
    ordered = [widths[i] for group in groups for i in group]
    assert ordered == sorted(widths, reverse=True)
    assert list(group_by_width([5, 2000, 5], columns=1000, lines=8)) == [[1], [0, 2]]
    assert list(group_by_width([], columns=1000, lines=8)) == []


def test_what_is_decoded_together_fits_into_memory(monkeypatch):
    """However large the images are, and however many; those that cannot be read are among the others."""
    monkeypatch.setattr(batching, "PIXELS_TOGETHER", 1000)
    widths = [60, 39, 0, 2, 70, 1, 1, 1, 1, 1, 1]
    lines = [(n, np.zeros((10, width), np.uint8) if width else DataError("bad")) for n, width in enumerate(widths)]
    groups = list(batching.in_groups(iter(lines), 5))
    assert [len(group) for group in groups] == [4, 5, 2]
    assert [item for group in groups for item, _ in group] == list(range(len(widths)))


def test_stack_fills_up_with_paper():
    lines = [np.full((4, WIDTH_STEP + 1), 0.5, np.float32), np.full((4, 2), 0.25, np.float32)]
    images, widths = stack(lines)
    assert images.shape == (2, 1, 4, 2 * WIDTH_STEP) and widths.tolist() == [WIDTH_STEP + 1, 2]
    for image, line in zip(images, lines, strict=True):
        assert (image[0, :, : line.shape[1]].numpy() == line).all() and (image[0, :, line.shape[1] :] == -1).all()


ON_WINDOWS = RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 4096 bytes.")
ON_A_MAC = RuntimeError(
    "MPS backend out of memory (MPS allocated: 17.99 GB, other allocations: 96.00 KB, max allowed: 18.13 GB). Tried to "
    "allocate 256.00 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory "
    "allocations (may cause system failure)."
)


@pytest.mark.parametrize(
    "error",
    [torch.cuda.OutOfMemoryError("CUDA out of memory"), MemoryError(), ON_WINDOWS, ON_A_MAC],
    ids=["CUDA", "Python", "Windows", "Mac"],
)
def test_a_batch_that_is_too_large_is_halved(error):
    asked = []

    def work(items):
        asked.append(len(items))
        if len(items) > 3:
            raise error
        return [item * 10 for item in items]

    assert in_memory(work, list(range(11))) == list(range(0, 110, 10))
    assert asked == [11, 5, 2, 3, 6, 3, 3]


def test_what_torch_says_on_a_cpu_is_understood():
    def work(items):
        return [torch.empty(1 << 50).numel()] if len(items) > 1 else items

    assert in_memory(work, [1, 2]) == [1, 2]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), MemoryError()], ids=repr)
def test_other_errors_and_single_lines_are_not_hidden(error):
    def work(items):
        raise error

    with pytest.raises(type(error)):
        in_memory(work, [1])
    if not isinstance(error, MemoryError):
        with pytest.raises(RuntimeError, match="a bug"):
            in_memory(work, [1, 2])
