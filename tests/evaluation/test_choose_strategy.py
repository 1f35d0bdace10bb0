from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from conftest import written

from drethtr.datasets.sample import Sample
from drethtr.evaluation.calibrate import calibrate
from drethtr.evaluation.choose_strategy import (
    LANGUAGE_WEIGHTS,
    TRAINED_WEIGHTS,
    Best,
    best_strategies,
    knows_language,
    try_strategies,
)
from drethtr.evaluation.metrics import Counts, score
from drethtr.language.languages import Languages
from drethtr.language.learn import Ingredient, learn
from drethtr.network.backend import network_of, with_network
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import CTC, Greedy, Joint
from drethtr.recognition.model.file import load_model, save_model
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import PAD
from drethtr.training.objective import teacher_forcing


@pytest.fixture
def samples(tiny_model):
    """Lines with the texts that three strategies find, each on a third of them."""
    lines = [written("abc " * (1 + number % 3)) for number in range(9)]
    strategies = CTC(), Greedy(), Joint(ctc_weight=0.5)
    readings = [Recognizer(tiny_model, strategy).read(lines) for strategy in strategies]
    return [Sample(line, readings[n // 3][n].text, key=f"line {n}") for n, line in enumerate(lines)]


def test_a_chosen_strategy_makes_as_many_errors_as_in_the_trial(tiny_model, samples):
    tried = {one.strategy: one.counts for one in try_strategies(Recognizer, tiny_model, samples)}
    texts, images = [sample.text for sample in samples], [sample.image for sample in samples]
    # Texts are corrected with the usual weight, so others may find better ones.
    for strategy in (CTC(), Joint().completed_by(None)):
        read = [reading.text for reading in Recognizer(tiny_model, strategy).read(images)]
        assert tried[strategy] == sum(score(texts, read), Counts())


def test_the_best_one_is_chosen(tiny_model, samples):
    tiny_model.weights["ctc.refine.weight"][:] *= 0.1  # an image part that holds many texts for possible
    read = Recognizer(tiny_model, Joint()).read([sample.image for sample in samples])
    asked = [replace(sample, text=reading.text) for sample, reading in zip(samples, read, strict=True)]
    best, *others = try_strategies(Recognizer, tiny_model, asked)
    assert best.counts.edits == 0 < others[-1].counts.edits
    assert best.strategy == Joint().completed_by(None)
    assert best_strategies(Recognizer, tiny_model, asked) == (best.strategy, CTC())


def test_of_equals_the_faster_is_chosen(tiny_model, samples):
    read = Recognizer(tiny_model, CTC()).read([sample.image for sample in samples])
    easy = [replace(sample, text=reading.text) for sample, reading in zip(samples, read, strict=True)]
    assert best_strategies(Recognizer, tiny_model, easy) == (CTC(), CTC())


def test_who_has_one_reader_has_no_choice(headless_model, samples):
    assert best_strategies(Recognizer, headless_model, samples) == Best()


def test_lines_read_in_pieces_tell_nothing_of_strategies(tiny_model, samples, monkeypatch):
    monkeypatch.setattr("drethtr.recognition.pieces.LONGEST_PIECE", 40)
    assert best_strategies(Recognizer, tiny_model, samples) == Best()
    monkeypatch.undo()
    assert best_strategies(Recognizer, tiny_model, samples).strategy is not None


def test_a_calibrated_model_uses_the_chosen_strategy(tiny_model, samples, tmp_path):
    save_model(calibrate(tiny_model, samples), tmp_path / "model.safetensors")
    model = load_model(tmp_path / "model.safetensors")
    best = best_strategies(Recognizer, tiny_model, samples)
    assert Recognizer(model).strategy == model.record.strategy == best.strategy
    assert Recognizer(replace(model, record=CalibrationRecord())).strategy == CTC()
    assert all(reading.calibrated for reading in Recognizer(model).read([sample.image for sample in samples]))


def test_the_chosen_strategy_stays_when_others_are_calibrated(tiny_model, samples):
    chosen = replace(tiny_model, record=CalibrationRecord(strategy=Joint(ctc_weight=0.2)))
    assert calibrate(chosen, samples, [(CTC(),)]).record.strategy == Joint(ctc_weight=0.2)


PROSE = ("abcabc", "abcab", "abcabcabcabc")


@pytest.fixture
def linguist(tiny_model):
    """A model whose decoder has learned a language, of which b follows a, c follows b, and a follows c."""
    network = network_of(tiny_model)
    prose = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(tiny_model.tokenizer.encode(text)) for text in PROSE], batch_first=True, padding_value=PAD
    )
    before, after = teacher_forcing(prose, (prose != PAD).sum(1))
    optimizer = torch.optim.AdamW([p for block in network.blocks for p in block.parameters()], 1e-2)
    for _ in range(60):
        nothing = network.without_image(len(prose))
        logits, _ = network.decode_text(before, nothing, network.initial_state(nothing))
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), after.flatten(), ignore_index=PAD).backward()
        optimizer.step()
    return with_network(tiny_model, network)


def knows(model, texts):
    return knows_language(model, Recognizer(model).network, texts)


def test_a_decoder_without_prose_is_no_language_model(tiny_model, samples):
    assert not knows(tiny_model, PROSE)
    tried = try_strategies(Recognizer, tiny_model, samples)
    assert {one.strategy.language_weight for one in tried if one.strategy != CTC()} == {0}


def test_a_decoder_trained_on_prose_is_a_language_model(linguist, samples):
    assert knows(linguist, PROSE) and not knows(linguist, ["acbacb", "aacc"])
    of_language = [replace(sample, text="abcabc") for sample in samples]
    tried = try_strategies(Recognizer, linguist, of_language)
    assert {one.strategy.language_weight for one in tried if one.strategy != CTC()} == set(LANGUAGE_WEIGHTS)


def test_ngrams_are_tried_with_several_weights_by_both_readers(tiny_model, samples):
    ngrams = learn([Ingredient([sample.text for sample in samples])], tiny_model.tokenizer, order=3, most=99)
    told = replace(tiny_model, languages=Languages({"all": ngrams}))
    tried = {one.strategy: one.counts for one in try_strategies(Recognizer, told, samples)}
    alone = [strategy for strategy in tried if isinstance(strategy, CTC)]
    assert [strategy.language_weight for strategy in alone].count(None) == 0 and len(alone) == len(TRAINED_WEIGHTS)
    assert {strategy.weights.language for strategy in tried} == {*TRAINED_WEIGHTS}
    texts, images = [sample.text for sample in samples], [sample.image for sample in samples]
    for strategy in alone:
        read = [reading.text for reading in Recognizer(told, strategy).read(images)]
        assert tried[strategy] == sum(score(texts, read), Counts())


def test_the_ctc_head_alone_listens_to_ngrams_as_suits_it_best(tiny_model, samples):
    """Not as they count in joint reading."""
    ngrams = learn([Ingredient([sample.text or "a" for sample in samples])], tiny_model.tokenizer, order=2, most=99)
    told = replace(tiny_model, languages=Languages({"all": ngrams}))
    best = best_strategies(Recognizer, told, samples)
    tried = [one for one in try_strategies(Recognizer, told, samples) if isinstance(one.strategy, CTC)]
    assert best.alone == tried[0].strategy and len(tried) == len(TRAINED_WEIGHTS)
    calibrated = calibrate(told, samples)
    assert Recognizer(calibrated, CTC()).strategy == best.alone
    for other in (Joint(ctc_weight=0.3, language_weight=0.1), CTC(language_weight=0.2)):
        trusted = replace(calibrated, record=replace(calibrated.record, strategy=other))
        assert Recognizer(trusted, CTC()).strategy == best.alone
