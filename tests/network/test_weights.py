from dataclasses import replace

import torch
from conftest import TINY

from drethtr.network.network import DRetHTR
from drethtr.network.weights import with_vocabulary
from drethtr.recognition.model.architecture import CTCConfig

OLD, NEW = 12, 10
ROWS = torch.tensor([0, 1, 2, 3, 5, 7, 11, 5, 6, 8])
"""For each new token the old one that it is."""


def network(vocabulary, config=TINY):
    torch.manual_seed(0)
    network = DRetHTR(config, vocabulary).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return network


def both(config=TINY):
    old, new = network(OLD, config), network(NEW, config)
    new.load_state_dict(with_vocabulary(old.state_dict(), torch.eye(OLD)[ROWS]))
    return old, new


@torch.inference_mode()
def test_tokens_that_stay_are_written_as_before():
    config = replace(TINY, ctc=CTCConfig(steps=2, inform_decoder=False))
    old, new = both(config)
    images, widths = torch.rand(1, 1, 48, 160), torch.tensor([160])
    before, ctc_before = old(images, widths, ROWS[None, 4:7])
    after, ctc_after = new(images, widths, torch.tensor([[4, 5, 6]]))
    torch.testing.assert_close(after, before[..., ROWS])
    assert ctc_before is not None and ctc_after is not None
    torch.testing.assert_close(ctc_after.draft, ctc_before.draft[..., ROWS])
    torch.testing.assert_close(ctc_after.refined, ctc_before.refined[..., ROWS])


def test_the_draft_tells_the_decoder_the_same():
    old, new = both()
    assert old.ctc is not None and old.ctc.inform is not None and new.ctc is not None and new.ctc.inform is not None
    torch.testing.assert_close(new.ctc.inform.weight, old.ctc.inform.weight[:, ROWS])


def test_a_new_token_may_begin_as_a_blend():
    old = network(OLD)
    shares = torch.eye(OLD)[ROWS]
    shares[9] = 0
    shares[9, [4, 6]] = 0.5
    weight = old.state_dict()["embed.tokens.weight"]
    blended = with_vocabulary(old.state_dict(), shares)["embed.tokens.weight"][9]
    torch.testing.assert_close(blended, (weight[4] + weight[6]) / 2)


def test_what_is_not_told_of_tokens_stays():
    old, new = both()
    for name, weight in old.state_dict().items():
        if OLD not in weight.shape and 2 * OLD not in weight.shape:
            assert new.state_dict()[name].equal(weight), name
