"""Every recipe is a valid run, and the published ones have the published settings."""

import importlib
import runpy
import subprocess
import sys
from dataclasses import replace
from math import isinf
from pathlib import Path

import numpy as np
import pytest
from conftest import written
from PIL import Image
from sharing_examples import RECORD

from drethtr.base import config
from drethtr.base.errors import DataError
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample
from drethtr.evaluation.metrics import bootstrap, score
from drethtr.layout.network import SHIPPED, load_lines, save_lines
from drethtr.paper.authors import PRESETS
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.decoding.strategies import Greedy
from drethtr.recognition.model.file import load_model, save_model
from drethtr.recognition.pieces import reading_of
from drethtr.recognition.reading import Character
from drethtr.synthesis import augment
from drethtr.text.tokenizer import Characters
from drethtr.training.feed.mixture import LineMixture
from drethtr.training.finetuning.finetune import PLAN, folder_of
from drethtr.training.finetuning.material import MIN_LINES
from drethtr.training.layout.run import LayoutRun
from drethtr.training.layout.sources import Drawn, Marked
from drethtr.training.optimize import learning_rate
from drethtr.training.run import RunConfig
from drethtr.training.tuning import Whole

RECIPES = Path(__file__).parents[1] / "recipes"
PUBLISHED = ["published_pretraining", "published_as_run", "published_as_described"]


def recipe(name):
    return config.load(RunConfig, RECIPES / f"{name}.toml")


PROGRAMS = [path for path in sorted(RECIPES.glob("*.py")) if "__main__" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_recipe_says_what_it_does(path, tmp_path, monkeypatch, capsys):
    """Asked for help, one wrote a model into a file of the name --help."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(RECIPES)
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(path), run_name="__main__")
    assert end.value.code == 0 and "usage: " in capsys.readouterr().out and not list(tmp_path.iterdir())


def test_the_base_of_fine_tuning_is_a_short_training_of_compact_without_three_sets():
    compact, base = recipe("compact"), recipe("finetune_base")
    real, made = base.train
    left_out = {factor.set for factor in real.factors if factor.factor == 0} - {"csafe_en"}
    assert left_out == {"hooker_en", "leopold_de", "cremma19_fr"}
    kept = tuple(factor for factor in real.factors if factor.set not in left_out)
    assert (replace(real, factors=kept), made) == compact.train
    for name in ("preparation", "augmentation", "start", "loss", "batches"):
        assert getattr(base, name) == getattr(compact, name)
    assert replace(base.network, dropout=0.1, embedding_dropout=0.1) == compact.network
    assert base.samples < compact.samples


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_recipes_train_the_published_network(name):
    run = recipe(name)
    assert run.network == PRESETS["base"].network and run.preparation == PRESETS["base"].preparation
    assert run.augmentation == augment.PUBLISHED and run.loss.label_smoothing == 0.4
    assert config.from_dict(RunConfig, config.to_dict(run)) == run
    assert config.from_dict(RunConfig, config.changes(run)) == run


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("published_pretraining", 1e-4, 1e-4),
        ("published_as_run", 5e-5, 1.83e-5),
        ("published_as_described", 1e-4, 7.53e-5),
    ],
)
def test_the_learning_rates_are_those_of_the_logs_and_of_the_paper(name, first, last):
    run = recipe(name)
    assert learning_rate(run.optimizer, 0, run.samples) == pytest.approx(first)
    assert learning_rate(run.optimizer, run.samples, run.samples) == pytest.approx(last, rel=1e-3)


def test_the_described_rate_restarts_every_30_epochs():
    run = recipe("published_as_described")
    epoch = run.samples // 1000
    at = [learning_rate(run.optimizer, int(epochs * epoch), run.samples) for epochs in (29.99, 30.1, 59.99)]
    assert at == pytest.approx([1e-6, 1e-4, 1e-6], rel=0.05)


def test_a_gradient_that_may_be_as_long_as_it_likes_is_left_alone():
    assert isinf(recipe("published_as_run").optimizer.clip)


@pytest.mark.parametrize("changed", ["model", "test"])
def test_a_figure_is_not_reported_for_other_files(changed, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(RECIPES)
    curve = importlib.import_module("finetune_curve")
    files = [tmp_path / "model", tmp_path / "test"]
    for file in files:
        file.write_text("before")
    row = curve.Row("hooker_en", 0, "before", 0.1, 0.05, 0.2, 0.0)
    for better in (row, replace(row, cer=0.05)):  # stored, and not measured again
        assert curve.kept(tmp_path / "out.json", files, lambda found=better: found) == row
    (tmp_path / changed).write_text("after")
    with pytest.raises(DataError, match=r"out\.json: measured with other versions of .*model, .*test"):
        curve.kept(tmp_path / "out.json", files, lambda: row)


def test_few_pages_have_no_interval(monkeypatch):
    monkeypatch.syspath_prepend(RECIPES)
    curve, rivals = importlib.import_module("finetune_curve"), importlib.import_module("rivals")
    counts, lines = score(["abc", "a bag"] * 3, ["abc", "a bad"] * 3), [Sample(written("a"), "a")] * 6
    few, many = (curve.row_of("mine", 9, "before", bootstrap(some), 0.0) for some in (counts[:5], counts))
    assert few.cer_low is few.cer_high is None and many.cer_low < many.cer < many.cer_high
    assert rivals.row("mine", lines[:5], ["a"] * 5) == "| mine | 5 | 0.0 | 0.0 |"
    assert rivals.row("mine", lines, ["a"] * 6) == "| mine | 6 | 0.0 [0.0, 0.0] | 0.0 |"


def test_a_run_that_was_stopped_starts_over_so_that_its_time_is_whole(tiny_path, tmp_path, monkeypatch):
    """Also one that was stopped after its model was written, while that was evaluated."""
    monkeypatch.syspath_prepend(RECIPES)
    curve = importlib.import_module("finetune_curve")
    pages = [[Sample(written(f"a bag {number}"), f"a bag {number}")] for number in range(MIN_LINES + 2)]
    case = curve.Case("mine", (), pages[2:], curve.joined(pages[:2]), whole=False)
    result = tmp_path / "mine_20.safetensors"
    result.write_bytes(tiny_path.read_bytes())
    trained = folder_of(result) / f"{MIN_LINES}_lines.safetensors"
    trained.parent.mkdir()
    trained.write_bytes(tiny_path.read_bytes())
    (trained.parent / PLAN).write_text("{}")

    class Begun(Exception):
        pass

    def train_share(*given):
        assert not trained.exists()
        raise Begun

    monkeypatch.setattr(importlib.import_module("drethtr.training.finetuning.finetune"), "train_share", train_share)
    with pytest.raises(Begun):
        curve.learned(tiny_path, case, result, MIN_LINES, curve.WHOLE)


def test_kraken_has_nothing_to_learn_where_fine_tuning_did_not_help(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(RECIPES)
    kraken = importlib.import_module("kraken_curve")
    with pytest.raises(DataError, match=r"mine_50\.run: has no lines: run finetune_curve\.py first"):
        kraken.trained(tmp_path, tmp_path / "mine_50.run", tmp_path)


def test_pages_of_doubtful_lines_are_hands_that_the_model_does_not_know(monkeypatch):
    monkeypatch.syspath_prepend(RECIPES)
    recipe = importlib.import_module("unknown_hands")
    rate = ErrorRate(Greedy(), factor=1.0, spread=0.1, noise=1.0, sets=5)
    sure, unsure = (reading_of([Character("a", confidence, 0, 1)]) for confidence in (0.9, 0.5))
    rng = np.random.default_rng(0)
    shares = [recipe.share_flagged(rate, readings, 10, rng) for readings in ([sure], [sure, unsure], [unsure])]
    assert shares[0] == 0 < shares[1] < shares[2] == 1


def test_folds_keep_pages_apart_and_each_is_measured_once(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(RECIPES)
    curve = importlib.import_module("finetune_curve")
    lines = [Sample(written(f"{page} {line}"), f"{page} {line}", page=page) for page in "abcde" for line in (1, 2)]
    store_parquet(lines, tmp_path / "mine.parquet")
    cases = list(curve.folds_of(tmp_path, "mine", 2, whole=True))
    assert sorted(sample.text for case in cases for sample in case.test) == sorted(sample.text for sample in lines)
    for case in cases:
        few, more = case.lines(1), case.lines(2)
        assert len(few) == 2 and len(more) == 4 and more[:2] == few
        assert not {sample.page for sample in more} & {sample.page for sample in case.test}
    with pytest.raises(DataError, match="mine_fold1 has fewer than 3 pages"):
        cases[0].lines(3)


def test_forgetting_becomes_a_table(tiny_path, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(RECIPES)
    forgetting = importlib.import_module("forgetting")
    for number in range(MIN_LINES):
        Image.fromarray(np.asarray(written(f"a bag {number}"))).save(tmp_path / f"{number}.png")
        (tmp_path / f"{number}.txt").write_text("a bag", encoding="utf-8")
    head, _, *rows = forgetting.rows(tiny_path, str(tmp_path), tmp_path / "out", 8, [], [str(tmp_path)])
    assert head.count("|") == 4 and len(rows) == len(forgetting.SHARES)
    assert all(row.count("|") == 4 for row in rows)


def test_each_new_set_is_left_out_once(tiny_path, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(RECIPES)
    monkeypatch.chdir(tmp_path)
    leave_one_out = importlib.import_module("leave_one_out")
    (tmp_path / "lines").mkdir()
    for name in ("known", "first", "second", "never"):
        for split, text in (("train", "a bag"), ("test", "a log")):
            samples = [Sample(written(f"{text} {name}"), f"{text} {name}", name, page=split)]
            store_parquet(samples, tmp_path / "lines" / f"{name}.{split}.parquet")
    (tmp_path / "lines" / "never.train.parquet").unlink()
    settings = {
        "train": [{"kind": "Real", "paths": ["lines/*.train.parquet"]}],
        "validation": {"paths": ["lines/known.test.parquet"]},
        "samples": 1,
        "batches": {"lines": 4, "chunk": 4},
        "bfloat16": False,
    }
    run = config.from_dict(RunConfig, settings)
    trained_on = LineMixture.open(leave_one_out.without(run, ["first"]).train, 0).supplies
    assert [supply.set for supply in trained_on] == ["known", "second"]
    head, _, *rows = leave_one_out.rows(run, tiny_path, tmp_path / "out", ["first", "second"], [], ["never"])
    assert head == "| left out | first | second | never |"
    measured = [[bool(cell.strip()) for cell in row.split("|")[2:-1]] for row in rows]
    assert measured == [[True, True, True], [True, True, True], [True, False, True], [False, True, True]]


def test_sets_that_are_never_trained_on_are_in_no_run(tiny_path, tmp_path, monkeypatch):
    """Also if there is a file to train on them."""
    monkeypatch.syspath_prepend(RECIPES)
    monkeypatch.chdir(tmp_path)
    leave_one_out = importlib.import_module("leave_one_out")
    (tmp_path / "lines").mkdir()
    for name in ("known", "first", "never"):
        for split in ("train", "test"):
            samples = [Sample(written(f"a {split}"), f"a {split}", name, page=split)]
            store_parquet(samples, tmp_path / "lines" / f"{name}.{split}.parquet")
    trained_on = []

    def train(run, folder, **options):
        trained_on.append([supply.set for supply in LineMixture.open(run.train, 0).supplies])
        folder.mkdir(parents=True)
        (folder / leave_one_out.LATEST).write_bytes(tiny_path.read_bytes())

    monkeypatch.setattr(leave_one_out, "train", train)
    settings = {
        "train": [{"kind": "Real", "paths": ["lines/*.train.parquet"]}],
        "validation": {"paths": ["lines/known.test.parquet"]},
        "samples": 1,
    }
    run = config.from_dict(RunConfig, settings)
    list(leave_one_out.rows(run, tiny_path, tmp_path / "out", ["first"], [], ["never"]))
    assert trained_on == [["known"], ["known"]]


def test_the_card_that_is_shipped_has_the_totals_of_all_runs(tiny_model, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(RECIPES)
    ship = importlib.import_module("ship")
    trained = replace(tiny_model, record=RECORD, card={"samples": 7, "trained_by": "drethtr 9", "run": {"samples": 7}})
    save_model(trained, tmp_path / "trained.safetensors")
    monkeypatch.setattr(ship, "SHIPPED", tmp_path / "shipped.safetensors")
    ship.ship(tmp_path / "trained.safetensors")
    card = load_model(tmp_path / "shipped.safetensors").card
    assert card["samples"] > 1_000_000 and card["run"] == {"samples": 7} and card["trained_by"] == "drethtr 9"


def test_an_older_model_is_compared_by_its_weights_alone(tiny_model, tiny_path, monkeypatch):
    monkeypatch.syspath_prepend(RECIPES)
    older = {name: np.array(weight) for name, weight in tiny_model.weights.items()}
    tiny_model.weights["to_logits.weight"] += 1
    more = Characters("".join(sorted({*tiny_model.tokenizer.alphabet, "ñ"})))
    newer = replace(tiny_model, tokenizer=more, card={"name": "newer"})
    mixed = importlib.import_module("weights_alone").with_weights_of(tiny_path, newer)
    place = more.ids["a"], tiny_model.tokenizer.ids["a"]
    assert np.array_equal(mixed.weights["to_logits.weight"][place[0]], older["to_logits.weight"][place[1]])
    assert mixed.tokenizer == more and mixed.card == {"name": "newer"}


def test_weights_that_find_lines_are_averaged_like_models(tmp_path):
    start, run, mean = (tmp_path / f"{name}.safetensors" for name in ("start", "run", "mean"))
    lines = load_lines(SHIPPED)
    save_lines(lines, start)
    save_lines(replace(lines, weights={name: weight + 1 for name, weight in lines.weights.items()}), run)
    subprocess.run([sys.executable, RECIPES / "average.py", start, run, "0.25", mean], check=True)
    for name, weight in load_lines(mean).weights.items():
        np.testing.assert_allclose(weight, lines.weights[name] + 0.25, rtol=1e-6, atol=1e-6)


def test_the_recipe_of_the_lines_network_trains_all_of_it():
    run = config.load(LayoutRun, RECIPES / "layout.toml")
    assert run.tuning == Whole()
    assert {type(source) for source in run.train} == {Marked, Drawn}
    assert config.from_dict(LayoutRun, config.changes(run)) == run
