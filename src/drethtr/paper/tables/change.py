"""The changes of rows, relative to a given run, so that they mean the same at every scale."""

from dataclasses import replace
from functools import reduce

from drethtr.paper.starts import InPieces
from drethtr.paper.tables.course import Change
from drethtr.paper.variants import EncoderDecoder
from drethtr.recognition.model.architecture import (
    ImagePositionsConfig,
    MixerConfig,
    NetworkConfig,
    OutputConfig,
    PriorConfig,
)
from drethtr.recognition.model.backbones import BackboneConfig
from drethtr.training.feed.supply import Real
from drethtr.training.run import RunConfig
from drethtr.training.start import Fresh
from drethtr.training.tuning import Whole


def both(*changes: Change) -> Change:
    """Apply several changes in order."""
    return lambda run: reduce(lambda changed, change: change(changed), changes, run)


def mixing(mixer: MixerConfig) -> Change:
    """Use another mixer."""
    return lambda run: replace(run, network=replace(run.network, mixer=mixer))


def weighing(prior: PriorConfig) -> Change:
    """Use another image prior."""
    return lambda run: replace(run, network=replace(run.network, prior=prior))


def giving_out(output: OutputConfig) -> Change:
    """Use another output of the heads."""
    return lambda run: replace(run, network=replace(run.network, output=output))


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
