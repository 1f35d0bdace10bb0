"""A run learns a teacher's probabilities of the lines that it reads."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from conftest import TINY
from training.test_objective import BOTH, batch_of

from drethtr.base.errors import ConfigError
from drethtr.images.prepare import Preparation
from drethtr.network.network import DRetHTR
from drethtr.recognition.model.file import load_model, save_model
from drethtr.training.objective import LossConfig, Objective, teacher_forcing
from drethtr.training.teacher import Teacher, TeacherConfig

CONFIG = TeacherConfig(path="", share=1.0, batches=1.0, known=1e9)
LOSSES = LossConfig(draft=0.0, label_smoothing=0.0)


def network(seed: int) -> DRetHTR:
    torch.manual_seed(seed)
    return DRetHTR(TINY, 12).eval()


def test_a_network_has_nothing_to_learn_from_itself() -> None:
    learner, own = network(0), network(0)
    losses = Objective(learner, LOSSES, Teacher(CONFIG, own))(batch_of([0, 1]), BOTH)
    torch.testing.assert_close(losses.total, torch.zeros(()), atol=1e-5, rtol=0)


def distances(one: DRetHTR, other: DRetHTR) -> tuple[float, float]:
    """How far two networks are apart, in the probabilities of the texts of a batch, and of its steps."""
    batch = batch_of([0, 1])
    before, _ = teacher_forcing(batch.tokens, batch.lengths)
    lessons = [Teacher(CONFIG, deepcopy(network)).output(batch, before) for network in (one, other)]
    texts, steps = (
        [logits.softmax(dim=-1) for logits in both]
        for both in zip(*((lesson.logits, lesson.ctc.refined) for lesson in lessons if lesson), strict=True)
    )
    return float((texts[0] - texts[1]).abs().max()), float((steps[0] - steps[1]).abs().max())


def test_steps_towards_a_teacher_come_nearer_to_its_probabilities() -> None:
    learner, teacher = network(0), network(1)
    begun = distances(learner, teacher)
    objective = Objective(learner, LOSSES, Teacher(CONFIG, teacher))
    optimizer = torch.optim.Adam(learner.parameters(), lr=3e-3)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        total = objective(batch_of([0, 1]), BOTH).total
        total.backward()
        optimizer.step()
        losses.append(float(total.detach()))
    assert losses[-1] < 0.2 * losses[0]
    ended = distances(learner, teacher)
    assert ended[0] < 0.2 * begun[0] and ended[1] < 0.7 * begun[1]


def test_only_lines_that_it_reads_are_learned_from_it() -> None:
    learner, plain = network(0), Objective(network(0), LOSSES)
    unread = Objective(learner, LOSSES, Teacher(replace(CONFIG, known=1e-9), network(1)))
    torch.testing.assert_close(unread(batch_of([0, 1]), BOTH), plain(batch_of([0, 1]), BOTH))


def test_a_share_lies_between_the_text_and_the_teacher() -> None:
    batch = batch_of([0, 1])

    def total(share: float | None) -> torch.Tensor:
        teacher = None if share is None else Teacher(replace(CONFIG, share=share), network(1))
        found: torch.Tensor = Objective(network(0), LOSSES, teacher)(batch, BOTH).total
        return found

    torch.testing.assert_close(total(0.25), 0.75 * total(None) + 0.25 * total(1.0))


def test_it_is_asked_for_a_share_of_the_batches_and_does_not_learn() -> None:
    teacher = Teacher(replace(CONFIG, batches=0.5), network(1))
    objective = Objective(network(0), LOSSES, teacher)
    batch = batch_of([0, 1])
    before, _ = teacher_forcing(batch.tokens, batch.lengths)
    torch.manual_seed(0)
    asked = sum(teacher.output(batch, before) is not None for _ in range(200))
    assert 70 < asked < 130
    assert not any("teacher" in name for name, _ in objective.named_parameters())
    assert not any(weight.requires_grad for weight in teacher.network.parameters())


def test_a_model_that_cannot_teach_is_refused(tiny_path, tmp_path) -> None:
    model, cpu = load_model(tiny_path), torch.device("cpu")
    config = replace(CONFIG, path=str(tiny_path))
    assert Teacher.open(config, model.tokenizer, model.preparation, cpu).network.config == model.network
    other = Preparation(height=model.preparation.height, stretch=3.0)
    with pytest.raises(ConfigError, match="at another size"):
        Teacher.open(config, model.tokenizer, other, cpu)
    path = tmp_path / "without.safetensors"
    weights = {name: weight for name, weight in model.weights.items() if not name.startswith("ctc.")}
    save_model(replace(model, network=replace(model.network, ctc=None), weights=weights), path)
    with pytest.raises(ConfigError, match="no CTC head"):
        Teacher.open(replace(config, path=str(path)), model.tokenizer, model.preparation, cpu)


@pytest.mark.parametrize(("name", "value"), [("share", 0.0), ("share", 1.5), ("batches", 0.0), ("known", 0.0)])
def test_a_wrong_setting_is_named(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"^{name} must be"):
        replace(CONFIG, **{name: value})
