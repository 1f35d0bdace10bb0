"""Training and decoding are the same function, and no line knows its neighbors."""

from dataclasses import dataclass, replace
from itertools import product

import pytest
import torch
from torch import Tensor, nn

from drethtr.base.errors import ConfigError
from drethtr.network.backbones import BACKBONES, Backbone, ImageFeatures
from drethtr.network.cache import TextCache
from drethtr.network.network import DRetHTR
from drethtr.network.padded import valid
from drethtr.paper.variants import (
    DTRHTR_SMALL,
    RETHTR_SMALL,
    TRHTR_SMALL,
    EncoderDecoder,
    Fade,
    Gated,
    HeadNorm,
    JointSoftmax,
    SplitSoftmax,
    SwishGate,
)
from drethtr.recognition.model.architecture import (
    BASE,
    COMPACT,
    SMALL,
    Added,
    BackboneConfig,
    CTCConfig,
    Learned,
    Multiplied,
    NetworkConfig,
    NoPrior,
    Retentive,
    Sinusoidal,
)
from drethtr.recognition.model.decay import Scheduled

VOCABULARY, TEXT = 11, 7


class Strips(Backbone):
    """A token is the pixels of its 4 columns, nothing else."""

    height, columns_per_token, width = 4, 4, 16

    def forward(self, images, widths):
        padded = self.padded(images, widths)
        counts = (padded.widths + 3) // 4
        missing = -padded.pixels.shape[-1] % 4
        pixels = nn.functional.pad(padded.cleared().pixels, (0, missing))
        return ImageFeatures(pixels.unflatten(-1, (-1, 4)).permute(0, 3, 1, 2, 4).flatten(2), counts)


@dataclass(frozen=True)
class Striped(BackboneConfig):
    pass


@BACKBONES.computes(Striped)
def strips(config: Striped) -> Backbone:
    return Strips()


TINY = NetworkConfig(layers=3, width=16, heads=4, hidden=32, backbone=Striped(), positions=Sinusoidal())
MIXERS = {
    "retentive, original": Retentive(Scheduled("original")),
    "retentive, layerwise": Retentive(),
    "retentive, gated": Retentive(Gated()),
    "retentive, not normalized": Retentive(Scheduled("headwise"), normalize=False),
    "joint softmax": JointSoftmax(),
    "split softmax": SplitSoftmax(),
    "joint softmax, fading": JointSoftmax(Fade()),
    "split softmax, fading": SplitSoftmax(Fade(Scheduled("headwise"), normalize=False)),
}
SURROUNDINGS = {
    "alone": {"prior": NoPrior()},
    "published": {"prior": Multiplied(), "positions": Learned(places=5)},
    "with CTC": {"prior": Added(), "ctc": CTCConfig(), "final_norm": True},
    "gated": {"prior": NoPrior(), "output": SwishGate(), "text_positions": False},
    "normed text": {"prior": Multiplied(), "output": HeadNorm(on_image=False)},
    "encoder-decoder": {"prior": NoPrior(), "architecture": EncoderDecoder(layers=2, hidden=24)},
    "encoder-decoder with CTC": {"prior": Added(), "architecture": EncoderDecoder(1, 24), "ctc": CTCConfig()},
    "with CTC of 1 step, uninformed": {"prior": Added(), "ctc": CTCConfig(steps=1, inform_decoder=False)},
}
every_mixer = pytest.mark.parametrize("mixer", MIXERS.values(), ids=MIXERS.keys())
everywhere = pytest.mark.parametrize("around", SURROUNDINGS.values(), ids=SURROUNDINGS.keys())
in_both_precisions = pytest.mark.parametrize(
    ("mixer", "around", "dtype", "tolerance"),
    [
        pytest.param(MIXERS[mixer], SURROUNDINGS[around], dtype, tolerance, id=f"{mixer}, {around}, {dtype}")
        for dtype, tolerance, pairs in (
            (torch.float64, 1e-9, product(MIXERS, SURROUNDINGS)),
            (torch.float32, 1e-4, zip(MIXERS, SURROUNDINGS, strict=True)),
        )
        for mixer, around in pairs
    ],
)
"""Every mixer in all surroundings; with the coarser numbers, each of them once."""

WIDTHS = (41, 3, 24)


def build(config, dtype=torch.float64):
    """A network in which nothing is small enough to be overlooked, not even what training starts from zero."""
    torch.manual_seed(0)
    network = DRetHTR(config, VOCABULARY).to(dtype).eval()
    for name, parameter in network.named_parameters():
        if parameter.ndim > 1 and not name.startswith("backbone"):
            nn.init.normal_(parameter, std=2 / parameter.shape[-1] ** 0.5)
    return network


def tiny(mixer, around, dtype=torch.float64):
    return build(replace(TINY, mixer=mixer, **around), dtype)


def draw(widths=WIDTHS, height=4, dtype=torch.float64, tokens=TEXT):
    """Lines, their widths and texts; right of the shorter lines is anything."""
    generator = torch.Generator().manual_seed(1)
    images = torch.rand(len(widths), 1, height, max(widths), generator=generator, dtype=torch.float64) * 2 - 1
    texts = torch.randint(VOCABULARY, (len(widths), tokens), generator=generator)
    return images.to(dtype), torch.tensor(widths), texts


def assert_alike(found, expected, tolerance):
    """Within so much of the largest value: sums round by the size of what is added, not of what is left."""
    torch.testing.assert_close(found, expected, rtol=0, atol=tolerance * float(expected.abs().max()))


@in_both_precisions
@torch.inference_mode()
def test_writing_in_any_pieces_equals_writing_at_once(mixer, around, dtype, tolerance):
    network, (images, widths, texts) = tiny(mixer, around, dtype), draw(dtype=dtype)
    at_once, _ = network(images, widths, texts)
    memory = network.encode_image(images, widths)
    for cut in ([1] * TEXT, [1, TEXT - 1], [3, 4], [2, 1, 4], [TEXT]):
        state, pieces = network.initial_state(memory), []
        for piece in texts.split(cut, dim=1):
            logits, state = network.decode_text(piece, memory, state)
            pieces.append(logits)
        assert state.length == TEXT
        assert_alike(torch.cat(pieces, dim=1), at_once, tolerance)


@every_mixer
@torch.inference_mode()
def test_long_texts_go_on_like_short_ones(mixer):
    """Beyond the chunk that retention takes at once."""
    network, (images, widths, texts) = tiny(mixer, {}), draw(tokens=300)
    at_once, _ = network(images, widths, texts)
    memory = network.encode_image(images, widths)
    _, state = network.decode_text(texts[:, :290], memory, network.initial_state(memory))
    logits, _ = network.decode_text(texts[:, 290:], memory, state)
    torch.testing.assert_close(logits, at_once[:, 290:], rtol=1e-9, atol=1e-9)


@everywhere
@every_mixer
@torch.inference_mode()
def test_without_images_lines_are_alike_and_alone(mixer, around):
    """A text is as likely in any line of a blank memory, and in pieces as at once."""
    network, (*_, texts) = tiny(mixer, around), draw()
    nothing = network.without_image(len(texts))
    at_once, _ = network.decode_text(texts, nothing, network.initial_state(nothing))
    one = network.without_image(1)
    for text, expected in zip(texts, at_once, strict=True):
        state, pieces = network.initial_state(one), []
        for piece in text[None].split([1, 4, TEXT - 5], dim=1):
            logits, state = network.decode_text(piece, one, state)
            pieces.append(logits)
        torch.testing.assert_close(torch.cat(pieces, dim=1)[0], expected, rtol=1e-9, atol=1e-9)


@everywhere
@every_mixer
@torch.inference_mode()
def test_the_future_is_unseen(mixer, around):
    network, (images, widths, texts) = tiny(mixer, around), draw()
    before, _ = network(images, widths, texts)
    texts[:, 4:] = (texts[:, 4:] + 1) % VOCABULARY
    after, _ = network(images, widths, texts)
    torch.testing.assert_close(after[:, :4], before[:, :4], rtol=1e-12, atol=1e-12)
    assert not torch.isclose(after[:, 4], before[:, 4]).any()


@everywhere
@every_mixer
@torch.inference_mode()
def test_beams_get_the_answers_of_their_line(mixer, around):
    """Three texts for each line, all three sharing its image, answer like lines of their own; state included."""
    network, (images, widths, _) = tiny(mixer, around), draw()
    texts = torch.randint(VOCABULARY, (3 * len(widths), TEXT))
    memory = network.encode_image(images, widths)
    copies = network.encode_image(images.repeat_interleave(3, 0), widths.repeat_interleave(3))
    shared, alone = network.initial_state(memory, beams=3), network.initial_state(copies)
    for piece in texts.split([1, 4, 1, 1], dim=1):
        logits, shared = network.decode_text(piece, memory, shared)
        expected, alone = network.decode_text(piece, copies, alone)
        torch.testing.assert_close(logits, expected, rtol=1e-9, atol=1e-9)


def assert_a_line_is_read_alike_in_company(network, images, widths, texts, tolerance):
    together, reading = network(images, widths, texts)
    for row, width in enumerate(widths.tolist()):
        alone = slice(row, row + 1)
        logits, own = network(images[alone, ..., :width], widths[alone], texts[alone])
        assert_alike(together[alone], logits, tolerance)
        if reading is None:
            continue
        assert reading.counts[row] == own.counts and reading.steps[row] == own.steps == own.refined.shape[1]
        drafted, refined = reading.draft[alone, : own.counts], reading.refined[alone, : own.steps]
        assert_alike(drafted, own.draft, tolerance)
        assert_alike(refined, own.refined, tolerance)


@in_both_precisions
@torch.inference_mode()
def test_a_line_is_read_alike_alone_and_among_others(mixer, around, dtype, tolerance):
    """Also beside a line so long that what is right of the others lies beyond all that a fast decay can reach."""
    widths = (1, 2, 41, 23, 600)
    assert_a_line_is_read_alike_in_company(tiny(mixer, around, dtype), *draw(widths, dtype=dtype), tolerance)


@torch.inference_mode()
def test_compact_reads_a_line_alike_alone_and_among_others():
    network = build(COMPACT, torch.float32)
    widths = (1, 7, 9, 240, *range(13, 181, 6))
    assert len(widths) == 32
    lines = draw(widths, height=48, dtype=torch.float32)
    assert_a_line_is_read_alike_in_company(network, *lines, tolerance=1e-4)


@everywhere
@every_mixer
def test_every_weight_learns(mixer, around):
    """And what lies right of a line teaches nothing."""
    network, (images, widths, texts) = tiny(mixer, around).train(), draw()
    logits, reading = network(images.requires_grad_(), widths, texts)
    loss = logits.square().sum()
    if reading is not None:
        taught = valid(reading.steps, reading.refined.shape[1])
        loss = loss + reading.refined.square()[taught].sum()
    loss.backward()
    assert not [name for name, parameter in network.named_parameters() if parameter.grad is None]
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())
    for row, width in enumerate(WIDTHS):
        assert images.grad[row, ..., :width].any()
        assert not images.grad[row, ..., width:].any()


def stored(state):
    """Numbers in a nested state."""
    if isinstance(state, TextCache):
        return stored(state.tokens)
    if isinstance(state, Tensor):
        return state.numel()
    return sum(map(stored, state)) if isinstance(state, tuple) else 0


@every_mixer
@torch.inference_mode()
def test_retention_needs_no_more_memory_for_a_longer_text(mixer):
    """Than for its memory and as much again; a cache grows with the text."""
    network, (images, widths, texts) = tiny(mixer, {}), draw(tokens=60)
    memory = network.encode_image(images, widths)
    state, sizes = network.initial_state(memory), []
    for token in texts.split(1, dim=1):
        _, state = network.decode_text(token, memory, state)
        sizes.append(stored(state))
    numbers = len(WIDTHS) * TINY.layers * TINY.width  # one for every line, layer and channel
    if isinstance(mixer, Retentive):
        assert max(sizes) <= 2 * TINY.width // TINY.heads * numbers
    else:
        assert sizes == [2 * tokens * numbers for tokens in range(1, 61)]


@everywhere
@every_mixer
@torch.inference_mode()
def test_bfloat16_is_close(mixer, around):
    (images, widths, texts), network = draw(dtype=torch.float32), tiny(mixer, around, torch.float32)
    expected, _ = network(images, widths, texts)
    with torch.autocast("cpu", torch.bfloat16):
        mixed, _ = network(images, widths, texts)
    cast, _ = network.bfloat16()(images.bfloat16(), widths, texts)
    assert (mixed - expected).norm() < 0.07 * expected.norm()
    assert cast.dtype == torch.bfloat16 and (cast - expected).norm() < 0.07 * expected.norm()


def size(config, vocabulary):
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in DRetHTR(config, vocabulary).parameters())


def test_the_published_sizes():
    """Spec 1.1; softmax and retention are alike, a gate adds one number per head and channel."""
    assert size(SMALL, 83) == size(replace(SMALL, mixer=JointSoftmax()), 83) == 73_485_472
    assert size(BASE, 83) == 107_405_728
    assert size(SMALL, 500) == 74_339_488
    assert size(replace(SMALL, mixer=Retentive(Gated())), 83) == 73_518_240
    assert size(replace(SMALL, output=SwishGate()), 83) == 77_687_968


def test_the_sizes_of_all_systems():
    """Spec 1.1: 73, 73, 136 and 132 million in the paper's table."""
    assert size(DTRHTR_SMALL, 83) == size(SMALL, 83)
    assert size(RETHTR_SMALL, 83) == 136_457_376
    assert size(TRHTR_SMALL, 83) == 132_254_880


def test_compact_is_compact():
    assert 6e6 < size(COMPACT, 83) < size(COMPACT, 300) < 9e6


def test_weights_start_as_published():
    """N(0, 0.02) and biases 0, but a CTC head starts with its draft, which nothing corrects."""
    torch.manual_seed(0)
    network = DRetHTR(replace(TINY, width=64, hidden=256, ctc=CTCConfig()), 300)
    for module in (network.to_width, network.to_logits, network.blocks[2].fusion.to_qkv, network.embed.tokens):
        assert module.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert not network.to_width.bias.any() and not network.blocks[0].feed_forward[1].bias.any()
    assert network.ctc.draft.weight.any() and not network.ctc.refine.weight.any()


def test_the_backbone_keeps_its_own_start():
    torch.manual_seed(0)
    started = BACKBONES.build(COMPACT.backbone).state_dict()
    torch.manual_seed(0)
    network = DRetHTR(COMPACT, VOCABULARY)
    assert all(torch.equal(weight, started[name]) for name, weight in network.backbone.state_dict().items())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 10, "heads": 4}, "width must be even and a multiple of heads, not 10 with 4 heads"),
        ({"width": 15, "heads": 3}, "width must be even and a multiple of heads, not 15"),
        ({"layers": 0}, "layers must be between 1 and 1,000, not 0"),
        ({"heads": 0}, "heads must be between 1 and 1,024, not 0"),
        ({"width": 1 << 16, "heads": 1 << 15}, "heads must be between 1 and 1,024, not 32768"),
        ({"width": 2, "heads": 1}, "width must be 4 to 65,536, hidden 1 to 65,536, not 2 and 4096"),
        ({"width": 1 << 20}, "width must be 4 to 65,536"),
        ({"hidden": 0}, "not 1024 and 0"),
        ({"dropout": 1.0}, "dropout must be at least 0 and less than 1, not 1.0"),
        ({"weight_dropout": -0.1}, "weight_dropout must be at least 0"),
    ],
    ids=str,
)
def test_a_bad_shape_is_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        NetworkConfig(**settings)
