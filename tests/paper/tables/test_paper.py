"""The tables say what the paper says."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from drethtr.base import config
from drethtr.network.network import DRetHTR
from drethtr.paper.authors import CANVAS, IAM_ALPHABET
from drethtr.paper.tables.experiments import TimedTrOCR, unchanged
from drethtr.paper.tables.material import DataFiles, PaperData
from drethtr.paper.tables.paper import TABLES
from drethtr.paper.tables.runs import fine_tuning, pretraining, training
from drethtr.paper.tables.scale import Full, Small, Smoke
from drethtr.paper.tables.stage import Conditions
from drethtr.paper.tables.table import MEASURES, PARAMETERS, result_path
from drethtr.recognition.model.architecture import BASE, EfficientNetV2S, Light, Multiplied, Unplaced
from drethtr.synthesis.synthetic import Synthetic
from drethtr.text.tokenizer import Characters
from drethtr.training.run import RunConfig

RECIPES = Path(__file__).parents[3] / "recipes"
LINES = DataFiles(("iam.train.parquet",), ("iam.val.parquet",), ("iam.test.parquet",))
SCALES = [Full(), Small(), Smoke()]
OURS = [row for table in TABLES.values() for row in table.rows if not isinstance(row.experiment, TimedTrOCR)]


def test_names_are_unique_and_figures_known():
    for table in TABLES.values():
        assert len({row.name for row in table.rows}) == len(table.rows)
        assert len({result_path(Path(), table, row, 0) for row in table.rows}) == len(table.rows)
        assert all(set(row.paper) <= set(MEASURES) for row in table.rows)


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("published_as_described", training(LINES)),
        ("published_as_run", fine_tuning(LINES)),
        (
            "published_pretraining",
            pretraining(LINES, LINES.train, Synthetic(fonts="fonts", texts=("text/cc100_eng.txt.xz",))),
        ),
    ],
)
def test_the_runs_are_those_of_the_recipes(name, run):
    """But for the network, here SMALL without image prior, and what a run begins with."""
    recipe = config.load(RunConfig, RECIPES / f"{name}.toml")
    validation = replace(run.validation, lines=recipe.validation.lines)
    network = replace(BASE, backbone=replace(recipe.network.backbone, canvas=None), prior=Multiplied())
    assert network == replace(recipe.network, backbone=network.backbone)
    assert replace(run, network=recipe.network, validation=validation, start=recipe.start) == recipe


@pytest.mark.parametrize("row", [row for row in OURS if PARAMETERS in row.paper], ids=lambda row: row.name)
def test_the_published_number_of_parameters(row):
    run = row.experiment.change(Full().fit(training(LINES)))
    with torch.device("meta"):
        network = DRetHTR(run.network, getattr(row.experiment, "vocabulary", Characters(IAM_ALPHABET).size))
    count = sum(parameter.numel() for parameter in network.parameters())
    assert count / 1e6 == pytest.approx(row.paper[PARAMETERS], abs=1)


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_the_rows_of_a_table_differ_at_every_scale(scale):
    """By what their changes do, and by what is done besides."""
    for table in TABLES.values():
        experiments = [row.experiment for row in table.rows if row in OURS]
        done = [(one.change(scale.fit(training(LINES))), replace(one, change=unchanged)) for one in experiments]
        assert all(done.count(one) == 1 for one in done)


def test_base_is_base():
    run = TABLES["data-sets"].rows[0].experiment.change(Full().fit(training(LINES)))
    assert run.network == replace(BASE, backbone=EfficientNetV2S(dropout=0.3))


def runs(row, scale, seed=0):
    """What a row trains, the first run first."""
    material = PaperData({"iam": LINES}, Synthetic(fonts="fonts", texts=("text",)))
    stage = row.experiment.stage(Conditions(scale, material, Path(), torch.device("cpu")), seed)
    found = []
    while stage is not None:
        found.insert(0, stage.run)
        stage = stage.after
    return found


def test_a_pretrained_row_pretrains_first():
    first, second = runs(TABLES["pretraining"].rows[1], Full(), seed=3)
    assert (first.samples, second.samples) == (52_920_000, 6_161_000) and first.seed == second.seed == 3


def frozen(run):
    """The weights that do not learn."""
    with torch.device("meta"):
        network = DRetHTR(run.network, 83)
    run.tuning.begin(network)
    return {name for name, parameter in network.named_parameters() if not parameter.requires_grad}


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_backbones_that_are_compared_all_learn_all_the_time(scale):
    assert [len(runs(row, scale)) for row in TABLES["backbones"].rows] == [1, 1, 1, 2, 2, 2]
    assert not any(frozen(run) for row in TABLES["backbones"].rows for run in runs(row, scale))


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_backbones_that_are_compared_differ_in_nothing_else(scale):
    """But for the number of positions, as many as a backbone makes tokens of the canvas."""
    stages = [run for row in TABLES["backbones"].rows[:3] for run in runs(row, scale)]
    places = [run.network.positions.places for run in stages]
    assert places == [-(-CANVAS // 16), -(-CANVAS // 16), 276]
    alike = [replace(run, network=replace(run.network, backbone=Light(), positions=Unplaced())) for run in stages]
    assert alike[0] == alike[1] == alike[2] and alike[0].network.ctc is None


def test_where_decoders_are_compared_at_the_small_scale_the_image_part_is_finished_all_the_time():
    for run in [run for name in ("gamma", "pretraining") for row in TABLES[name].rows for run in runs(row, Small())]:
        assert frozen(run) > {"ctc.draft.weight", "ctc.draft.bias"}
        assert all(name.startswith(("backbone.", "ctc.draft.")) for name in frozen(run))
