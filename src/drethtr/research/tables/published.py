"""How the paper trained, as values: DRetHTR-SMALL on IAM, which its ablations vary.

Trained on real lines alone as the paper describes it (Sec. 5.4); pretrained and fine-tuned as the authors' logs have it
(recipes/published_*.toml). Lines keep their own width: where padding is masked, a canvas of 2227 columns
changes nothing but the time.
"""

from collections.abc import Sequence
from dataclasses import replace

from drethtr.images.prepare import Preparation
from drethtr.recognition.architecture import SMALL, NoPrior
from drethtr.recognition.backbones import EfficientNetV2S
from drethtr.recognition.search.strategies import Greedy
from drethtr.research.authors import CANVAS
from drethtr.research.tables.material import DataFiles
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
    """1000 epochs on real lines from random weights, the cosine restarted every 30."""
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
    """1000 epochs on real lines after pretraining, at half the rate."""
    schedule = Cosine(final_share=0.02, cycles=0.595)
    return replace(training(lines), optimizer=replace(OPTIMIZER, learning_rate=5e-5, schedule=schedule))


def pretraining(lines: DataFiles, alphabet: Sequence[str], synthetic: Synthetic) -> RunConfig:
    """17.64 million synthetic lines three times, at a constant rate.

    Args:
        alphabet: Files whose characters the network is to know; `lines` are for validation.
    """
    run = training(lines)
    real = Real(weight=0.0, paths=tuple(dict.fromkeys(alphabet)))  # only its characters are learned
    return replace(
        run,
        train=(Made(lines=synthetic), real),
        validation=replace(run.validation, every=400_000),
        samples=52_920_000,
        batches=replace(run.batches, lines=48, pixels=6_900_000),
        optimizer=replace(OPTIMIZER, schedule=Constant()),
        save_every=100_000,
    )
