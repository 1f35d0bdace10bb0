"""The training runs of rows: DRetHTR-SMALL on IAM as published, in one stage or two, and how rows change it.

Training on real lines alone follows the paper's description (Sec. 5.4); pretraining and fine-tuning follow the authors'
logs (recipes/published_*.toml). Unlike there, lines keep their own width: no layer sees the blank rest of a canvas of
2,227 columns, and batch norm statistics include less of it. Changes are relative to a given run, so that they mean the
same at every scale.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from drethtr.images.prepare import Preparation
from drethtr.paper.authors import CANVAS
from drethtr.paper.starts import InPieces
from drethtr.paper.tables.material import DataFiles, PaperData
from drethtr.paper.tables.scale import Scale
from drethtr.paper.tables.stage import TrainingStage
from drethtr.paper.variants import EncoderDecoder
from drethtr.recognition.decoding.strategies import Greedy
from drethtr.recognition.model.architecture import (
    SMALL,
    BackboneConfig,
    EfficientNetV2S,
    ImagePositionsConfig,
    MixerConfig,
    NetworkConfig,
    NoPrior,
    OutputConfig,
    PriorConfig,
)
from drethtr.synthesis.augment import PUBLISHED
from drethtr.synthesis.synthetic import Synthetic
from drethtr.training.feed.batch import BatchConfig
from drethtr.training.feed.supply import Made, Real
from drethtr.training.objective import LossConfig
from drethtr.training.optimize import Constant, Cosine, OptimizerConfig
from drethtr.training.run import RunConfig, ValidationConfig
from drethtr.training.start import Fresh
from drethtr.training.tuning import Whole

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
    """1000 epochs of IAM from random weights, with a cosine schedule restarted every 30 epochs."""
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
    """1000 epochs of IAM, or as many lines of another set, after pretraining, at half the learning rate."""
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


Change: TypeAlias = Callable[[RunConfig], RunConfig]
"""A row's change of a run."""


@dataclass(frozen=True)
class Variation:
    """A row's change with a scale and seed."""

    change: Change
    scale: Scale
    seed: int

    def stage(self, run: RunConfig, after: TrainingStage | None = None) -> TrainingStage:
        """Adapt a run of the paper to this row."""
        return TrainingStage(replace(self.change(self.scale.fit(run)), seed=self.seed), after)


Course: TypeAlias = Callable[[Variation, DataFiles, Sequence[str], PaperData], TrainingStage]
"""The last of the runs that train a model, which refers to the previous ones, on the lines of a data set.

Pretraining must know the characters of the files in the third argument.
"""


def real_only(variation: Variation, lines: DataFiles, alphabet: Sequence[str], material: PaperData) -> TrainingStage:
    """Real lines, from random weights: "IAM" in the paper."""
    return variation.stage(training(lines))


def synthetic_only(
    variation: Variation, lines: DataFiles, alphabet: Sequence[str], material: PaperData
) -> TrainingStage:
    """Synthetic lines: "zero-shot" in the paper."""
    return variation.stage(pretraining(lines, alphabet, material.made()))


def synthetic_first(
    variation: Variation, lines: DataFiles, alphabet: Sequence[str], material: PaperData
) -> TrainingStage:
    """Synthetic lines, then real ones: "IAM + Synth" in the paper."""
    return variation.stage(fine_tuning(lines), after=synthetic_only(variation, lines, alphabet, material))


def both(*changes: Change) -> Change:
    """Apply several changes in order."""
    return lambda run: reduce(lambda changed, change: change(changed), changes, run)


def having(**parts: MixerConfig | PriorConfig | OutputConfig) -> Change:
    """Use other parts of the network, by the names of `NetworkConfig`."""
    return lambda run: replace(run, network=replace(run.network, **parts))  # type: ignore[arg-type]


def seeing(backbone: BackboneConfig, positions: ImagePositionsConfig) -> Change:
    """Use another backbone with random initial weights, on lines of 64 rows, without a CTC head."""

    def change(run: RunConfig) -> RunConfig:
        network = replace(run.network, backbone=backbone, positions=positions, ctc=None)
        preparation = replace(run.preparation, height=64)
        return replace(run, network=network, preparation=preparation, start=Fresh(), tuning=Whole())

    return change


def system(preset: NetworkConfig) -> Change:
    """Use architecture, mixer and output of a preset; an encoder is scaled in proportion to the decoder."""

    def change(run: RunConfig) -> RunConfig:
        network, architecture = run.network, preset.architecture
        if isinstance(architecture, EncoderDecoder):
            architecture = EncoderDecoder(
                layers=network.layers * architecture.layers // preset.layers,
                hidden=network.hidden * architecture.hidden // preset.hidden,
            )
        changed = replace(network, architecture=architecture, mixer=preset.mixer, output=preset.output)
        return replace(run, network=changed)

    return change


def base(run: RunConfig) -> RunConfig:
    """Change SMALL to BASE: 3 times the layers, 3/4 of the width, 3/2 of the heads."""
    network = run.network
    larger = replace(
        network,
        layers=network.layers * 3,
        width=network.width * 3 // 4,
        heads=network.heads * 3 // 2,
        hidden=network.hidden * 3 // 4,
    )
    return replace(run, network=larger)


def in_pieces(run: RunConfig) -> RunConfig:
    """Use 500 subword tokens, learned from the real training lines."""
    paths = tuple(path for source in run.train if isinstance(source, Real) for path in source.paths)
    return replace(run, start=InPieces(paths=paths, start=run.start))
