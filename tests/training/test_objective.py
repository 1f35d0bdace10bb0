"""Losses are what they are said to be."""

import pytest
import torch
from conftest import TINY

from drethtr.base.errors import ConfigError
from drethtr.network.network import DRetHTR
from drethtr.text.tokenizer import BOS, EOS, PAD
from drethtr.training.feed.batch import Batch
from drethtr.training.objective import BatchCounts, LossConfig, Objective, teacher_forcing


def test_teacher_forcing_shifts_by_one() -> None:
    tokens = torch.tensor([[7, 8, 9], [5, PAD, PAD]])
    before, after = teacher_forcing(tokens, torch.tensor([3, 1]))
    assert before.tolist() == [[BOS, 7, 8, 9], [BOS, 5, PAD, PAD]]
    assert after.tolist() == [[7, 8, 9, EOS], [5, EOS, PAD, PAD]]


def batch_of(rows: list[int]) -> Batch:
    rng = torch.Generator().manual_seed(0)
    images = torch.rand(2, 1, 48, 128, generator=rng) * 2 - 1
    tokens = torch.tensor([[4, 5, 6, 4], [7, 8, PAD, PAD]])
    lengths = torch.tensor([4, 2])
    return Batch(images[rows], torch.tensor([128, 128])[rows], tokens[rows], lengths[rows], ("",) * len(rows))


BOTH = BatchCounts(lines=2, characters=6, tokens=8)


def test_losses_of_a_step_are_the_sum_over_its_batches() -> None:
    torch.manual_seed(0)
    objective = Objective(DRetHTR(TINY, 12).eval(), LossConfig(label_smoothing=0.0))
    both, first, second = (objective(batch_of(rows), BOTH) for rows in ([0, 1], [0], [1]))
    for whole, one, other in zip(both, first, second, strict=True):
        torch.testing.assert_close(whole, one + other)


def test_gradients_gathered_over_the_batches_of_a_step_are_those_of_one_batch() -> None:
    torch.manual_seed(0)
    objective = Objective(DRetHTR(TINY, 12).double().eval(), LossConfig())

    def gradients(*parts: list[int]) -> dict[str, torch.Tensor]:
        objective.zero_grad()
        for rows in parts:
            batch = batch_of(rows)
            objective(batch._replace(images=batch.images.double()), BOTH).total.backward()
        return {name: p.grad.clone() for name, p in objective.named_parameters() if p.grad is not None}

    whole, gathered = gradients([0, 1]), gradients([0], [1])
    assert whole and whole.keys() == gathered.keys()
    for name, gradient in whole.items():
        torch.testing.assert_close(gathered[name], gradient, rtol=1e-9, atol=1e-12, msg=lambda m, n=name: f"{n}: {m}")


def test_losses_are_means_over_tokens() -> None:
    torch.manual_seed(0)
    objective = Objective(DRetHTR(TINY, 12).eval(), LossConfig(label_smoothing=0.0))
    both, first, second = (
        objective(batch_of(rows), own)
        for rows, own in (([0, 1], BOTH), ([0], BatchCounts(1, 4, 5)), ([1], BatchCounts(1, 2, 3)))
    )
    torch.testing.assert_close(both.text * 8, first.text * 5 + second.text * 3)
    torch.testing.assert_close(both.ctc * 6, first.ctc * 4 + second.ctc * 2)


def test_total_weighs_the_parts() -> None:
    losses = Objective(DRetHTR(TINY, 12).eval(), LossConfig(ctc=2.0, draft=0.5))(batch_of([0, 1]), BOTH)
    torch.testing.assert_close(losses.total, losses.text + 2 * losses.ctc + 0.5 * losses.draft)


PROSE = torch.tensor([[4, 5, 6], [7, PAD, PAD], [8, 9, PAD]])


def test_prose_is_learned_as_if_written_without_an_image() -> None:
    torch.manual_seed(0)
    network = DRetHTR(TINY, 12).eval()
    counts = BOTH._replace(prose=9)
    losses = Objective(network, LossConfig(language=0.5))(batch_of([0, 1])._replace(prose=PROSE), counts)
    before, after = teacher_forcing(PROSE, torch.tensor([3, 1, 2]))
    nothing = network.without_image(3)
    logits, _ = network.decode_text(before, nothing, network.initial_state(nothing))
    expected = -logits.log_softmax(-1).gather(2, after[..., None])[after != PAD].mean()
    torch.testing.assert_close(losses.language, expected)
    without = Objective(network, LossConfig())(batch_of([0, 1]), BOTH)
    assert without.language == 0
    torch.testing.assert_close(losses.total, without.total + 0.5 * losses.language)


def test_prose_teaches_nothing_about_images() -> None:
    network = DRetHTR(TINY, 12)
    losses = Objective(network, LossConfig())(batch_of([0, 1])._replace(prose=PROSE), BOTH._replace(prose=9))
    losses.language.backward()
    assert all(parameter.grad is None for parameter in network.backbone.parameters())
    assert network.to_logits.weight.grad is not None and network.to_logits.weight.grad.any()


@pytest.mark.parametrize("part", ["ctc", "draft"])
def test_a_part_without_weight_is_zero_and_teaches_nothing(part: str) -> None:
    torch.manual_seed(0)
    network = DRetHTR(TINY, 12).eval()
    every = Objective(network, LossConfig())(batch_of([0, 1]), BOTH)
    losses = Objective(network, LossConfig(**{part: 0.0}))(batch_of([0, 1]), BOTH)
    assert getattr(every, part) > 0 and getattr(losses, part) == 0
    left = every.draft * 0.3 if part == "ctc" else every.ctc
    torch.testing.assert_close(losses.total, every.text + left)
    losses.total.backward()
    assert network.ctc is not None and (network.ctc.refine.weight.grad is None) == (part == "ctc")


@pytest.mark.parametrize(
    "setting", [{"label_smoothing": 1.0}, {"ctc": -1.0}, {"draft": -0.1}, {"language": -0.1}], ids=str
)
def test_senseless_weights_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="must be"):
        LossConfig(**setting)


def test_all_parts_of_the_network_learn() -> None:
    torch.manual_seed(0)
    network = DRetHTR(TINY, 12)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    Objective(network, LossConfig())(batch_of([0, 1]), BOTH).total.backward()
    still = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    assert not still
