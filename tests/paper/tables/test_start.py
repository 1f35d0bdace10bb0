from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from conftest import TINY

from drethtr.base.errors import ConfigError
from drethtr.network.backend import fresh_network, network_of
from drethtr.network.embedding import sinusoid
from drethtr.paper.tables.start import FinishedImagePart
from drethtr.recognition.model.backbones import Light
from drethtr.text.tokenizer import EOS, PAD, Characters


def fresh(config, alphabet):
    tokenizer = Characters.learn([alphabet])
    return fresh_network(config, tokenizer).eval(), tokenizer


def test_a_finished_image_part_is_taken_over(tiny_model, tiny_path):
    """Whether it learns is for the run's tuning to say."""
    network, tokenizer = fresh(replace(TINY, width=32), "abxyz")
    FinishedImagePart.of(tiny_path).apply(network, tokenizer)
    theirs, ours = network_of(tiny_model).backbone.state_dict(), network.backbone.state_dict()
    assert all(torch.equal(theirs[name], weight) for name, weight in ours.items())
    assert all(parameter.requires_grad for parameter in network.parameters())


@torch.inference_mode()
def test_at_first_image_tokens_are_their_place_and_what_the_draft_reads(tiny_path):
    network, tokenizer = fresh(replace(TINY, width=32), "abxyz")
    FinishedImagePart.of(tiny_path).apply(network, tokenizer)
    [b] = tokenizer.encode("b")
    draft = 50 * F.one_hot(torch.tensor([[PAD, b, PAD]]), tokenizer.size).float()
    seen = network.to_width(torch.randn(1, 3, network.backbone.width))
    tokens = network.ctc.add_draft(seen, draft)[0]
    told = network.ctc.inform.weight[:, b]
    expected = sinusoid(torch.tensor([0.0, 1.0, 1.0]), 32) + torch.stack([0 * told, told, 0 * told])
    torch.testing.assert_close(tokens, expected)


def test_the_draft_writes_what_it_wrote_before(tiny_model, tiny_path):
    """Characters keep their rows though their numbers change; an unknown one starts unlikely."""
    network, tokenizer = fresh(TINY, "abxyz")
    FinishedImagePart.of(tiny_path).apply(network, tokenizer)
    draft, theirs = network.ctc.draft, network_of(tiny_model).ctc.draft
    [ours_b], [their_b] = tokenizer.encode("b"), tiny_model.tokenizer.encode("b")
    assert ours_b == their_b - 1  # there is a space before it
    for ours, their in ((ours_b, their_b), (PAD, PAD), (EOS, EOS)):
        assert torch.equal(draft.weight[ours], theirs.weight[their]) and draft.bias[ours] == theirs.bias[their]
    assert draft.bias[tokenizer.encode("z")[0]] == -8


def test_another_backbone_is_refused(tiny_path):
    network, tokenizer = fresh(replace(TINY, backbone=Light(height=64)), "ab")
    with pytest.raises(ConfigError, match="differs from this run's"):
        FinishedImagePart.of(tiny_path).apply(network, tokenizer)


def test_two_versions_of_a_model_are_two_starts(tiny_path):
    before = FinishedImagePart.of(tiny_path)
    tiny_path.write_bytes(tiny_path.read_bytes() + b" ")
    assert FinishedImagePart.of(tiny_path) != before
    with pytest.raises(ConfigError, match="cannot be read"):
        FinishedImagePart.of(tiny_path.with_name("gone.safetensors"))
