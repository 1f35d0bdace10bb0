"""What a network in bfloat16 may lose, and what it may not."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import TINY
from noise import VOCABULARY, noisy_weights

from drethtr.network.attention import KeyValue
from drethtr.network.backend import TorchNetwork
from drethtr.network.network import BatchMemory, DRetHTR
from drethtr.network.padded import Padded
from drethtr.network.precision import cast, pays_for_steps
from drethtr.paper.variants import RETHTR_SMALL, Gated, JointSoftmax, ResNet50, SwishGate
from drethtr.recognition.model.architecture import BASE, COMPACT, PPOCR, SMALL, EfficientNetV2S, Retentive
from drethtr.recognition.protocol import Precision

WIDTHS = torch.tensor([300, 180])


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


def lines_for(made: DRetHTR) -> torch.Tensor:
    """Two lines of noise."""
    return torch.rand(2, 1, made.backbone.height, 300, generator=torch.Generator().manual_seed(0)) * 2 - 1


def with_used_norms(made: DRetHTR) -> DRetHTR:
    """The same network, its batch norms as if they had seen something."""
    for module in made.backbone.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(std=0.1)
            module.running_var.uniform_(0.5, 2)
            module.weight.uniform_(0.5, 1.5)
            module.bias.normal_(std=0.1)
    return made


def test_float32_is_the_network_itself():
    made = noisy_weights()
    network = TorchNetwork(made, Precision.FLOAT32)
    assert network.image is network.text is made


def test_casting_leaves_the_network_as_it_was():
    made = noisy_weights()
    before = {name: weight.clone() for name, weight in made.state_dict().items()}
    TorchNetwork(made, Precision.BFLOAT16)
    assert all(torch.equal(weight, before[name]) for name, weight in made.state_dict().items())
    assert not any(module._forward_pre_hooks for module in made.modules())


@pytest.mark.parametrize(("config", "pays"), [(COMPACT, False), (SMALL, True), (BASE, True)], ids=["c", "s", "b"])
def test_text_is_coarse_where_that_is_faster(config, pays):
    assert pays_for_steps(config) is pays


def test_a_narrow_network_writes_in_float32():
    made = noisy_weights()
    network = TorchNetwork(made, Precision.BFLOAT16)
    assert network.text is made and network.image is not made
    assert network.dimensions.epsilon == torch.finfo(torch.float32).eps
    memory = network.encode([np.zeros((48, 120), np.float32)])
    assert {part.dtype for kept in memory.kept.layers for part in kept} == {torch.float32}


def test_a_wide_network_writes_in_bfloat16():
    torch.manual_seed(0)
    wide = DRetHTR(replace(TINY, layers=1, width=1024, hidden=1024), VOCABULARY).eval()
    network = TorchNetwork(wide, Precision.BFLOAT16)
    assert network.text is network.image is not wide
    assert network.dimensions.epsilon == torch.finfo(torch.bfloat16).eps
    memory = network.encode([np.zeros((48, 120), np.float32)])
    assert {part.dtype for kept in memory.kept.layers for part in kept} == {torch.bfloat16}


def test_image_tokens_are_counted_exactly():
    """bfloat16 has no 301."""
    network = TorchNetwork(noisy_weights(), Precision.BFLOAT16)
    layer = KeyValue(*(torch.zeros(2, 1, 301, 4, dtype=torch.bfloat16) for _ in range(2)))
    assert network.to_image_memory(BatchMemory((layer,), None, None)).tokens == (301, 301)


VARIANTS = {
    "retention": {},
    "gated": {"mixer": Retentive(decay=Gated())},
    "softmax": {"mixer": JointSoftmax()},
    "gated heads": {"output": SwishGate()},
    "encoder-decoder": {"architecture": RETHTR_SMALL.architecture},
    "EfficientNet": {"backbone": EfficientNetV2S()},
    "ResNet": {"backbone": ResNet50()},
    "PP-OCR": {"backbone": PPOCR()},
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_every_variant_says_nearly_the_same(changes):
    torch.manual_seed(0)
    made = with_used_norms(DRetHTR(replace(TINY, **changes), VOCABULARY).eval())
    coarse, images = cast(made, torch.bfloat16), lines_for(made)
    said = []
    for one in (made, coarse):
        memory, state, logits = one.encode_image(images, WIDTHS), None, []
        state = one.initial_state(memory)
        for tokens in ([[2], [2]], [[5], [6]], [[4, 5, 6], [7, 8, 9]]):
            step, state = one.decode_text(torch.tensor(tokens), memory, state)
            logits.append(step)
        said.append((torch.cat(logits, 1), memory.ctc.draft, memory.ctc.refined))
    for exact, near in zip(*said, strict=True):
        assert near.dtype == torch.float32
        difference = (exact - near).abs().max()
        assert 0 < difference < 0.05 * exact.abs().max()


def test_what_is_summed_up_stays_in_float32():
    coarse = cast(noisy_weights(), torch.bfloat16)
    memory = coarse.encode_image(lines_for(coarse), WIDTHS)
    assert {part.dtype for kept in memory.layers for part in kept} == {torch.bfloat16}
    logits, state = coarse.decode_text(torch.tensor([[2, 5, 6, 7]] * 2), memory, coarse.initial_state(memory))
    assert logits.dtype == torch.float32
    assert {part.dtype for layer in state.layers for part in layer.full_memory()} == {torch.float32}
    assert {layer.log_decay.dtype for layer in state.layers} == {torch.float32}


def test_means_count_every_pixel_in_half_precision():
    """1,000 columns are more than bfloat16 can count one by one."""
    pixels = torch.ones(2, 1, 3, 1001, dtype=torch.bfloat16)
    mean = Padded(pixels, torch.tensor([1001, 999]), full=False).mean()
    assert mean.dtype == torch.bfloat16 and mean.flatten().tolist() == [1, 1]
