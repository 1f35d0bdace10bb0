from dataclasses import replace
from pathlib import Path

import pytest

from drethtr.base import config
from drethtr.language.languages import Languages
from drethtr.language.learn import Ingredient, learn
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import Joint
from drethtr.recognition.model.file import SHIPPED, load_model
from drethtr.text.alphabet import AlphabetChange
from drethtr.text.tokenizer import Characters
from drethtr.training.feed.batch import Prose
from drethtr.training.finetuning.material import Material, Parts, network_without_weights
from drethtr.training.finetuning.plan import Plan
from drethtr.training.finetuning.run import further_run_of, rank_of, run_of, samples_for
from drethtr.training.optimize import learning_rate
from drethtr.training.run import RunConfig
from drethtr.training.tuning import LowRank, Whole

AMOUNTS = (50, 200, 1000, 5000)


def run(model, tokenizer=None, lines=200, old=None, **wishes):
    plan = Plan(data=("mine",), **wishes)
    return run_of(material(model, plan, tokenizer), lines, Path("[mine].parquet"), Path("val.parquet"), old)


def material(model, plan, tokenizer=None):
    alphabet = AlphabetChange(tokenizer or model.tokenizer, {}, {})
    return Material(plan, model, Parts((), (), by_page=False, left_out={}), (), (), (), alphabet)


def test_fewer_lines_come_more_often_but_more_lines_are_more_work():
    samples = list(map(samples_for, AMOUNTS))
    rounds = [number / lines for number, lines in zip(samples, AMOUNTS, strict=True)]
    assert samples == sorted(samples) and rounds == sorted(rounds, reverse=True)


def test_few_lines_are_learned_in_more_and_smaller_steps(tiny_model):
    few, many = run(tiny_model, lines=60), run(tiny_model, lines=600)
    assert few.batches.lines < many.batches.lines and few.batches.pixels < many.batches.pixels
    assert few.optimizer.learning_rate < many.optimizer.learning_rate


def test_the_image_embedding_moves_too_but_more_slowly(tiny_model):
    wanted = run(tiny_model, lines=50)
    assert wanted.tuning == Whole() and 0 < wanted.optimizer.backbone_scale < 1


def test_the_model_determines_the_network_and_a_run_is_a_config(tiny_model):
    wanted = run(tiny_model)
    assert wanted.network == tiny_model.network and wanted.preparation == tiny_model.preparation
    assert config.from_dict(RunConfig, config.to_dict(wanted)) == wanted


def test_old_data_get_their_share(tiny_model):
    own, old = run(tiny_model, old=Path("old.parquet")).train
    assert (own.weight, old.weight) == (0.7, 0.3)
    assert (own.paths, old.paths) == (("[[]mine].parquet",), ("old.parquet",))


def test_an_alphabet_is_named_only_if_it_changes(tiny_model):
    assert run(tiny_model).start.characters is None
    assert run(tiny_model, Characters("abc")).start.characters == "abc"


@pytest.mark.parametrize(("weight", "prose"), [(0.3, Prose()), (0.0, None), (None, None)])
def test_a_model_that_counts_on_language_learns_that_of_the_new_lines(tiny_model, weight, prose):
    known = replace(tiny_model, record=CalibrationRecord(strategy=Joint(language_weight=weight)))
    assert run(known).prose == prose and run(tiny_model).prose is None
    ngrams = learn([Ingredient(["abba", "a bag"])], tiny_model.tokenizer, order=2, most=9)
    assert run(replace(known, languages=Languages({"all": ngrams}))).prose is None


def test_brackets_in_a_name_are_no_pattern(tiny_model):
    assert run(tiny_model).train[0].paths == ("[[]mine].parquet",)


def test_an_adapter_is_as_large_as_its_file_may_be(tiny_model):
    assert run(tiny_model, adapter=True).tuning == LowRank(rank_of(tiny_model))


@pytest.mark.skipif(not SHIPPED.exists(), reason="no model is in the package yet")
def test_an_adapter_of_the_shipped_model_has_a_useful_rank():
    assert rank_of(load_model(SHIPPED)) >= 4


@pytest.mark.skipif(not SHIPPED.exists(), reason="no model is in the package yet")
def test_only_the_first_layers_of_the_shipped_model_stay_as_they_are():
    model = load_model(SHIPPED)
    network = network_without_weights(model)
    run(model).tuning.begin(network)
    kept = {name.split(".")[1] for name, weight in network.named_parameters() if not weight.requires_grad}
    assert kept == {"stem", "blocks"} and any(weight.requires_grad for weight in network.backbone.blocks.parameters())


def test_a_run_that_ends_early_has_the_rates_of_a_whole_one_until_then(tiny_model):
    own = material(tiny_model, Plan(data=("mine",), samples=500))
    whole, part, more = (run_of(own, 60, Path("mine.parquet"), None, effort=share) for share in (1, 0.6, 1.03))
    assert (whole.samples, part.samples) == (500, 300)
    assert more == whole, "the lines of a last step may be more than planned"
    rates = [[learning_rate(run.optimizer, seen, run.samples) for seen in range(0, 300, 20)] for run in (whole, part)]
    assert rates[0] == pytest.approx(rates[1]) and rates[0][-1] < max(rates[0])


def test_the_run_that_goes_on_is_shorter_and_slower_and_never_validates(tiny_model):
    own = material(tiny_model, Plan(data=("mine",), samples=500))
    whole, further = run_of(own, 0, Path("mine.parquet"), None), further_run_of(own, Path("a.st"), Path("mine.parquet"))
    assert further.start.path == "a.st" and further.train == whole.train and not further.validation.paths
    assert 0 < further.samples < whole.samples and further.validation.every == further.samples
    rates = [
        max(learning_rate(run.optimizer, seen, run.samples) for seen in range(run.samples)) for run in (further, whole)
    ]
    assert (
        0 < rates[0] < rates[1] and learning_rate(further.optimizer, further.samples, further.samples) < rates[0] / 10
    )
