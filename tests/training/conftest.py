"""What all tests of training share: the folder of a short run, and as many threads as its processes have."""

from collections.abc import Iterator

import pytest
import torch
from training_runs import data

__all__ = ["data", "one_thread"]


@pytest.fixture
def one_thread() -> Iterator[None]:
    """As programs that tests start have: with another number of threads, sums are rounded otherwise."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
