"""When a line detector counts as better than the one it started from."""

import pytest

from drethtr.training.layout.finetune import LayoutOutcome


@pytest.mark.parametrize(("f", "found", "better"), [(0.73, 0.6, True), (0.7252, 0.6, False), (0.725, 0.6, False)])
def test_a_gain_that_no_figure_shows_is_none(f, found, better):
    outcome = LayoutOutcome(4, 1, {"f": 0.725, "found": 0.6}, {"f": f, "found": found})
    assert outcome.better is better
