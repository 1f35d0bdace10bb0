"""A rescorer learns what is likely, and a run that was stopped ends as if nothing had happened."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from drethtr.base.errors import CheckpointError, ConfigError, DataError
from drethtr.network.backend import rescorer_of
from drethtr.recognition.model.architecture import RescorerConfig
from drethtr.recognition.model.file import Rescorer
from drethtr.recognition.model.weights import write_tensors
from drethtr.synthesis.corpus import Corpus
from drethtr.text.tokenizer import BOS, EOS, Characters
from drethtr.training.devices import Devices
from drethtr.training.rescorer import AT_A_TIME, HEADER, RescorerRun, TrainingTexts, finetuned, train_rescorer

TOKENIZER = Characters.learn(["abcdefghij klmnop"])
LINES = ["abc abc", "cab", "back", "a bad cab"]
RUN = RescorerRun(
    network=RescorerConfig(layers=2, width=16, heads=2, hidden=32),
    characters=6_400,
    per_step=100,
    average=0.9,
    bfloat16=False,
)


@pytest.fixture
def material():
    return TrainingTexts(LINES, None, TOKENIZER, RUN)


def surprise(rescorer, text):
    """The loss of a text in nats."""
    tokens = TOKENIZER.encode(text)
    with torch.inference_mode():
        [logits] = rescorer_of(rescorer, TOKENIZER)(torch.tensor([[BOS, *tokens]]))
    return float(F.cross_entropy(logits, torch.tensor([*tokens, EOS]), reduction="sum"))


def test_it_learns_what_is_likely(material, tmp_path):
    trained = train_rescorer(material, tmp_path / "run")
    assert surprise(trained, "a bad cab") < 0.3 * surprise(trained, "dcbdacbaa")
    assert surprise(trained, "cab") < 0.5 * len("cab") * np.log(TOKENIZER.size)


def test_it_goes_on_from_trained_weights(material, tmp_path):
    """What was learned before is still known after a few steps on other texts."""
    trained = train_rescorer(material, tmp_path / "run")
    few = replace(material, lines=["mop", "pond"], run=replace(RUN, characters=400, learning_rate=0.002))
    started, anew = (train_rescorer(few, tmp_path / name, start=start) for name, start in (("a", trained), ("b", None)))
    assert surprise(started, "a bad cab") < 0.5 * surprise(anew, "a bad cab")
    assert surprise(started, "pond") < surprise(trained, "pond")


def test_a_start_that_lacks_weights_is_refused(material):
    with pytest.raises(CheckpointError, match="the weights lack "):
        train_rescorer(material, None, start=Rescorer(RUN.network, {}))


def test_it_is_fine_tuned_on_the_lines_of_a_hand(material, tmp_path):
    """And is the same each time."""
    trained = train_rescorer(material, tmp_path / "run")
    first, again = (finetuned(trained, ["mop", "pond"], TOKENIZER, bfloat16=False) for _ in range(2))
    assert surprise(first, "pond") < surprise(trained, "pond") - 1
    assert surprise(first, "pond") == surprise(again, "pond")


def test_a_stopped_run_resumes(material, tmp_path, monkeypatch):
    monkeypatch.setattr("drethtr.training.rescorer.SAVED", 5)
    whole = train_rescorer(material, tmp_path / "whole")

    def stop(done, loss):
        if done in (7, AT_A_TIME + 3):
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            train_rescorer(material, tmp_path / "run", advance=stop)
    ended = train_rescorer(material, tmp_path / "run")
    assert all(np.array_equal(ended.weights[name], weight) for name, weight in whole.weights.items())


def test_a_resumed_run_keeps_its_precision(material, tmp_path, monkeypatch):
    """Measured again on a busy machine, it might be another."""
    monkeypatch.setattr("drethtr.training.rescorer.SAVED", 5)
    measured = replace(material, run=replace(RUN, bfloat16=None))
    monkeypatch.setattr(Devices, "uses_bfloat16", lambda *_: True)
    whole = train_rescorer(measured, tmp_path / "whole")

    def stop(done, loss):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_rescorer(measured, tmp_path / "run", advance=stop)
    monkeypatch.setattr(Devices, "uses_bfloat16", lambda *_: False)
    ended = train_rescorer(measured, tmp_path / "run")
    assert all(np.array_equal(ended.weights[name], weight) for name, weight in whole.weights.items())


def test_a_gradient_that_is_no_number_ends_the_run(material, tmp_path):
    wild = replace(material, run=replace(RUN, learning_rate=1e30))
    with pytest.raises(ConfigError, match=r"the gradient of step \d+ is (nan|inf); start again with another seed"):
        train_rescorer(wild, tmp_path / "run")


def test_an_empty_text_is_a_text(material):
    empty = replace(material, lines=["", "cab"])
    batches = [batch for batch, _ in zip(empty.batches(0), range(AT_A_TIME), strict=False)]
    assert {batch.dtype for batch in batches} == {torch.long}
    assert {TOKENIZER.decode(row.tolist()) for batch in batches for row in batch} == {"", "cab"}


@pytest.mark.parametrize(
    "change",
    [
        lambda some: replace(some, lines=LINES[1:]),
        lambda some: replace(some, run=replace(RUN, seed=1)),
        lambda some: replace(some, tokenizer=Characters.learn(["abcdefghij klmnoq"])),
    ],
    ids=["lines", "seed", "alphabet"],
)
def test_another_run_is_not_continued(change, material, tmp_path, monkeypatch):
    monkeypatch.setattr("drethtr.training.rescorer.SAVED", 64)
    train_rescorer(material, tmp_path / "run")
    with pytest.raises(CheckpointError, match="other settings or texts"):
        train_rescorer(change(material), tmp_path / "run")


@pytest.mark.parametrize("header", ["[]", "{}", "7"])
def test_what_is_no_snapshot_of_a_rescorer_is_told(header, material, tmp_path):
    write_tensors({}, tmp_path / "run", {HEADER: header})
    with pytest.raises(CheckpointError, match="not a snapshot of a rescorer's run"):
        train_rescorer(material, tmp_path / "run")


def test_texts_have_their_share(tmp_path):
    (tmp_path / "book.txt").write_text("mop on a pond\n" * 50, encoding="utf-8")
    corpus = Corpus(files=(tmp_path / "book.txt",), alphabet=TOKENIZER.alphabet)
    for share in (0.0, 0.6, 1.0):
        material = TrainingTexts(LINES, corpus, TOKENIZER, replace(RUN, share=share))
        batches = [batch for batch, _ in zip(material.batches(0), range(AT_A_TIME), strict=False)]
        texts = [TOKENIZER.decode(row.tolist()) for batch in batches for row in batch]
        of_lines = sum(len(text) + 1 for text in texts if text in LINES)
        assert of_lines / sum(len(text) + 1 for text in texts) == pytest.approx(1 - share, abs=0.1)


def test_without_lines_there_is_nothing_to_learn(tmp_path):
    with pytest.raises(DataError, match="no line has a text"):
        train_rescorer(TrainingTexts([], None, TOKENIZER, RUN), tmp_path / "run")


@pytest.mark.parametrize("settings", [{"characters": 0}, {"per_step": 0}, {"share": 1.5}], ids=str)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ConfigError):
        RescorerRun(**settings)
