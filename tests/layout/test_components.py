"""Connected components, with OpenCV as the oracle."""

import cv2
import numpy as np
import pytest

from drethtr.layout.components import components


@pytest.mark.parametrize("share", [0.05, 0.3, 0.45, 0.7])
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (37, 53)])
def test_components_are_those_of_opencv(shape, share):
    for seed in range(10):
        mask = np.random.default_rng(seed).random(shape) < share
        number, labels, boxes, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
        expected = set()
        for label in range(1, number):
            left, top, width, height, _ = boxes[label]
            expected.add((left, top, (labels[top : top + height, left : left + width] == label).tobytes()))
        found = [(w[1].start, w[0].start, pixels.tobytes()) for w, pixels in components(mask)]
        assert len(found) == len(expected) and set(found) == expected


def test_nothing_has_no_components():
    assert list(components(np.zeros((5, 7), dtype=np.bool_))) == []
