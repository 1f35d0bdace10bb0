"""Surprise is what the network says of the right text, token by token."""

from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
import torch
from conftest import written
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample
from drethtr.paper.tables.experiments import CHARACTERS, Trained, nats_of_lines, prepare_trocr
from drethtr.paper.tables.material import DataFiles
from drethtr.paper.tables.table import LINES
from drethtr.recognition.decoding.scorer import log_softmax
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import BOS, EOS


def store(path, text, page):
    file = BytesIO()
    Image.fromarray(written(text)).save(file, "PNG")
    store_parquet([Sample(file.getvalue(), text, set="hand", page=page)], path)


@pytest.mark.parametrize("shared", [("train", "val"), ("train", "test"), ("val", "test")], ids="-".join)
def test_a_page_in_two_splits_is_refused_before_anything_is_trained(shared, conditions, tmp_path):
    for split in ("train", "val", "test"):
        store(tmp_path / f"hand.{split}.parquet", split, "page 7" if split in shared else f"of {split}")
    own = replace(conditions.material, sets={"iam": DataFiles.of([str(tmp_path / "hand")])})
    with pytest.raises(DataError, match="page 'page 7' of 'hand' is in"):
        Trained().prepare(replace(conditions, material=own), seed=0)


def test_characters_outside_the_alphabet_are_reported(conditions, tmp_path):
    store(tmp_path / "hand.test.parquet", "a € e", "page 7")
    lines, said = replace(conditions.material.lines("iam"), test=(str(tmp_path / "hand.test.parquet"),)), []
    own = replace(conditions, material=replace(conditions.material, sets={"iam": lines}), say=said.append)
    outcome = Trained().measure(own, seed=0)
    assert outcome.figures[LINES] == 1 and outcome.lines[0].text == "a € e"
    assert outcome.decoder == repr(conditions.scale.strategy)
    assert "reading 1 test lines (1 characters are not in the model's alphabet)" in said[-1]


def sample(text, width=1):
    line = written(text)
    return Sample(image=line.repeat(width, axis=1), text=text)


def step_by_step(recognizer, one):
    [part] = recognizer.pieces.prepare(0, one.line())
    network = recognizer.network
    memory = network.encode([part.prepared])
    state, token, nats = network.begin(memory), BOS, 0.0
    for following in [*recognizer.model.tokenizer.encode(one.text), EOS]:
        logits, state = network.step(memory, np.array([token]), state)
        nats -= float(log_softmax(logits[0].astype(float))[following])
        token = following
    return nats


def test_it_is_the_sum_over_single_steps_whatever_the_company(tiny_model):
    recognizer = Recognizer(tiny_model)
    samples = [sample("abc"), sample("a bad cafe"), sample("hi")]
    for one, nats in zip(samples, nats_of_lines(recognizer, samples), strict=True):
        assert nats == pytest.approx(step_by_step(recognizer, one), abs=1e-3)


def test_a_line_in_pieces_has_none(tiny_model):
    samples = [sample("abc"), sample("abc", width=400)]
    nats = nats_of_lines(Recognizer(tiny_model), samples)
    assert nats[0] is not None and nats[1] is None


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
