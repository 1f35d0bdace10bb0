import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.recognition import batching
from drethtr.recognition.batching import group_by_width, in_parts_that_fit


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


def test_a_batch_that_is_too_large_is_halved():
    asked = []

    def work(items):
        asked.append(len(items))
        if len(items) > 3:
            raise MemoryError
        return [item * 10 for item in items]

    assert in_parts_that_fit(work, list(range(11))) == list(range(0, 110, 10))
    assert asked == [11, 5, 2, 3, 6, 3, 3]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), MemoryError()], ids=repr)
def test_other_errors_and_single_lines_are_not_hidden(error):
    def work(items):
        raise error

    with pytest.raises(type(error)):
        in_parts_that_fit(work, [1])
    if not isinstance(error, MemoryError):
        with pytest.raises(RuntimeError, match="a bug"):
            in_parts_that_fit(work, [1, 2])


def test_no_limit_below_one_makes_groups_without_end():
    lines = [(n, DataError("bad")) for n in range(3)]
    assert [len(group) for group in batching.in_groups(iter(lines), 0)] == [1, 1, 1]
