import torch

from drethtr.paper.tables.timed import CHARACTERS, prepare_trocr


class Recorded:
    """A stand-in for TrOCR that tells what it was asked for."""

    def __init__(self):
        self.asked = []

    def to(self, device):
        return self

    def generate(self, pixels, **options):
        self.asked.append((pixels, options))


def test_trocr_like_ours_is_timed_from_images_that_are_ready():
    network = Recorded()
    run = prepare_trocr(lambda: network, 2, 3, torch.device("cpu"))
    run()
    run()
    (first, options), (again, _) = network.asked
    assert first is again and first.shape == (2, 3, 384, 384) and -1 <= first.min() < 0 < first.max() <= 1
    assert options["num_beams"] == 3 and options["min_new_tokens"] == options["max_new_tokens"] == CHARACTERS // 4
