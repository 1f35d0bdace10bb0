"""What rows change, relative to a given run, so that it means the same at every scale."""

from dataclasses import replace
from functools import reduce

from drethtr.recognition.architecture import (
    EncoderDecoder,
    ImagePositionsConfig,
    MixerConfig,
    NetworkConfig,
    OutputConfig,
    PriorConfig,
)
from drethtr.recognition.backbones import BackboneConfig
from drethtr.research.tables.course import Change
from drethtr.training.feed.supply import Real
from drethtr.training.run import RunConfig
from drethtr.training.start import Fresh, InPieces
from drethtr.training.tuning import Whole


def both(*changes: Change) -> Change:
    """Several changes, in order."""
    return lambda run: reduce(lambda changed, change: change(changed), changes, run)


def mixing(mixer: MixerConfig) -> Change:
    """Another way to weigh the text."""
    return lambda run: replace(run, network=replace(run.network, mixer=mixer))


def weighing(prior: PriorConfig) -> Change:
    """Another image prior."""
    return lambda run: replace(run, network=replace(run.network, prior=prior))


def giving_out(output: OutputConfig) -> Change:
    """Another output of the heads."""
    return lambda run: replace(run, network=replace(run.network, output=output))


def seeing(backbone: BackboneConfig, positions: ImagePositionsConfig) -> Change:
    """Another backbone, with random initial weights, on lines of 64 rows, without a CTC draft."""

    def change(run: RunConfig) -> RunConfig:
        network = replace(run.network, backbone=backbone, positions=positions, ctc=None)
        preparation = replace(run.preparation, height=64)
        return replace(run, network=network, preparation=preparation, start=Fresh(), tuning=Whole())

    return change


def system(preset: NetworkConfig) -> Change:
    """Architecture, mixer and output of a preset; its encoder is in proportion to the decoder as there."""

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
    """SMALL to BASE: three times the layers, three quarters of the width, half as many heads again."""
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
    """Texts in 500 pieces of words, learned from the real training lines."""
    paths = tuple(path for source in run.train if isinstance(source, Real) for path in source.paths)
    return replace(run, start=InPieces(paths=paths, start=run.start))
