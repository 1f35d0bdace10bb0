"""The tables say what the paper says."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from drethtr import config
from drethtr.conversion import IAM_ALPHABET
from drethtr.data.synthetic import Synthetic
from drethtr.experiments.course import Plan
from drethtr.experiments.material import Lines, Material
from drethtr.experiments.published import fine_tuning, pretraining, training
from drethtr.experiments.reproduce import result_path
from drethtr.experiments.result import MEASURES, PARAMETERS
from drethtr.experiments.scale import Full, Small, Smoke
from drethtr.experiments.tables import TABLES
from drethtr.experiments.timed import TimedTrOCR
from drethtr.model.attention import Multiplied
from drethtr.model.backbones import EfficientNetV2S
from drethtr.model.network import BASE, DRetHTR
from drethtr.text.tokenizer import Characters
from drethtr.training.run import RunConfig

RECIPES = Path(__file__).parents[2] / "recipes"
LINES = Lines(("iam.train.parquet",), ("iam.val.parquet",), ("iam.test.parquet",))
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
    """But for the network, here SMALL without image prior, and where a run computes."""
    recipe = config.load(RunConfig, RECIPES / f"{name}.toml")
    validation = replace(run.validation, lines=recipe.validation.lines)
    network = replace(BASE, backbone=replace(recipe.network.backbone, canvas=None), prior=Multiplied())
    assert network == replace(recipe.network, backbone=network.backbone)
    elsewhere = {"start": recipe.start, "bfloat16": recipe.bfloat16, "batches_per_step": recipe.batches_per_step}
    assert replace(run, network=recipe.network, validation=validation, **elsewhere) == recipe


@pytest.mark.parametrize("row", [row for row in OURS if PARAMETERS in row.paper], ids=lambda row: row.name)
def test_the_published_number_of_parameters(row):
    run = row.experiment.change(Full().fit(training(LINES)))
    with torch.device("meta"):
        network = DRetHTR(run.network, getattr(row.experiment, "vocabulary", Characters(IAM_ALPHABET).size))
    count = sum(parameter.numel() for parameter in network.parameters())
    assert count / 1e6 == pytest.approx(row.paper[PARAMETERS], abs=1)


@pytest.mark.parametrize("scale", [Full(), Small(), Smoke()], ids=lambda scale: scale.name)
def test_the_rows_of_a_table_differ_at_every_scale(scale):
    for table in TABLES.values():
        changed = [
            (config.to_dict(row.experiment.change(scale.fit(training(LINES)))), vars(row.experiment))
            for row in table.rows
            if row in OURS
        ]
        assert all(changed.count(one) == 1 for one in changed)


def test_base_is_base():
    run = TABLES["data-sets"].rows[0].experiment.change(Full().fit(training(LINES)))
    assert run.network == replace(BASE, backbone=EfficientNetV2S(dropout=0.3))


def test_a_pretrained_row_pretrains_first():
    row = TABLES["pretraining"].rows[1]
    material = Material({"iam": LINES}, Synthetic(fonts="fonts", texts=("text",)))
    plan = Plan(row.experiment.change, Full(), seed=3)
    stage = row.experiment.course.stage(plan, LINES, LINES.train, material)
    assert stage.after is not None and stage.after.after is None
    assert (stage.after.run.samples, stage.run.samples) == (52_920_000, 6_161_000)
    assert stage.run.seed == stage.after.run.seed == 3
