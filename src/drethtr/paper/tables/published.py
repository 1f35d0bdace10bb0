"""The published training runs: DRetHTR-SMALL on IAM, which the ablations vary.

Training on real lines alone follows the paper's description (Sec. 5.4); pretraining and fine-tuning follow the authors'
logs (recipes/published_*.toml). Lines keep their own width: with masked padding, a canvas of 2227 columns only costs
time.
"""

from collections.abc import Sequence
from dataclasses import replace

from drethtr.images.prepare import Preparation
from drethtr.paper.authors import CANVAS
from drethtr.paper.tables.material import DataFiles
from drethtr.recognition.decoding.strategies import Greedy
from drethtr.recognition.model.architecture import SMALL, NoPrior
from drethtr.recognition.model.backbones import EfficientNetV2S
from drethtr.synthesis.augment import PUBLISHED
from drethtr.synthesis.synthetic import Synthetic
from drethtr.training.feed.batch import BatchConfig
from drethtr.training.feed.supply import Made, Real
from drethtr.training.objective import LossConfig
from drethtr.training.optimize import Constant, Cosine, OptimizerConfig
from drethtr.training.run import RunConfig, ValidationConfig

EPOCH = 6161
"""Training lines of IAM."""
OPTIMIZER = OptimizerConfig(
    learning_rate=1e-4,
    schedule=Cosine(final_share=0.01, cycles=33.333),
    warm_up=0,
    betas=(0.9, 0.999),
    weight_decay=1e-3,
    decay_all=True,
    backbone_scale=1.0,
    clip=float("inf"),
    average=0.0,
)


def training(lines: DataFiles) -> RunConfig:
    """1000 epochs on real lines from random weights, with a cosine schedule restarted every 30 epochs."""
    return RunConfig(
        train=(Real(paths=lines.train),),
        validation=ValidationConfig(paths=lines.validation, lines=2_000, every=10 * EPOCH, decoder=Greedy()),
        samples=1000 * EPOCH,
        network=replace(SMALL, backbone=EfficientNetV2S(dropout=0.3), prior=NoPrior()),
        preparation=Preparation(deslant=True),
        augmentation=PUBLISHED,
        batches=BatchConfig(lines=16, pixels=2_300_000, max_columns=CANVAS),
        batches_per_step=8,
        loss=LossConfig(label_smoothing=0.4),
        optimizer=OPTIMIZER,
        minimum_count=1,
        save_every=60_000,
        bfloat16=False,
    )


def fine_tuning(lines: DataFiles) -> RunConfig:
    """1000 epochs on real lines after pretraining, at half the learning rate."""
    schedule = Cosine(final_share=0.02, cycles=0.595)
    return replace(training(lines), optimizer=replace(OPTIMIZER, learning_rate=5e-5, schedule=schedule))


def pretraining(lines: DataFiles, alphabet: Sequence[str], synthetic: Synthetic) -> RunConfig:
    """Three passes over 17.64 million synthetic lines, at a constant learning rate.

    Args:
        lines: Lines for validation.
        alphabet: Files whose characters the network must know.
    """
    run = training(lines)
    real = Real(weight=0.0, paths=tuple(dict.fromkeys(alphabet)))  # only for its characters
    return replace(
        run,
        train=(Made(lines=synthetic), real),
        validation=replace(run.validation, every=400_000),
        samples=52_920_000,
        batches=replace(run.batches, lines=48, pixels=6_900_000),
        optimizer=replace(OPTIMIZER, schedule=Constant()),
        save_every=100_000,
    )
