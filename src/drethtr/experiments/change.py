"""What rows do differently, relative to the run they are given, so that it means the same at every scale."""

from dataclasses import replace
from functools import reduce

from drethtr.data.supply import Real
from drethtr.experiments.course import Change
from drethtr.experiments.start import InPieces
from drethtr.model.architecture import EncoderDecoder
from drethtr.model.attention import PriorConfig
from drethtr.model.backbones import BackboneConfig
from drethtr.model.embedding import ImagePositionsConfig
from drethtr.model.mixer import MixerConfig
from drethtr.model.output import OutputConfig
from drethtr.training.run import RunConfig
from drethtr.training.start import Fresh


def both(*changes: Change) -> Change:
    """All of them, one after the other."""
    return lambda run: reduce(lambda changed, change: change(changed), changes, run)


def mixing(mixer: MixerConfig) -> Change:
    """Another way to weigh the text."""
    return lambda run: replace(run, network=replace(run.network, mixer=mixer))


def weighing(prior: PriorConfig) -> Change:
    """Another image prior."""
    return lambda run: replace(run, network=replace(run.network, prior=prior))


def giving_out(output: OutputConfig) -> Change:
    """Something else done to what the heads found."""
    return lambda run: replace(run, network=replace(run.network, output=output))


def seeing(backbone: BackboneConfig, positions: ImagePositionsConfig | None = None) -> Change:
    """Another backbone, from random weights, on lines of 64 rows."""

    def change(run: RunConfig) -> RunConfig:
        network = replace(run.network, backbone=backbone, positions=positions or run.network.positions)
        return replace(run, network=network, preparation=replace(run.preparation, height=64), start=Fresh())

    return change


def encoder_decoder(run: RunConfig) -> RunConfig:
    """An encoder of as many layers, three quarters as wide inside: 4 of 3072 for SMALL (Sec. 5.5.1)."""
    network = run.network
    encoder = EncoderDecoder(layers=network.layers, hidden=network.hidden * 3 // 4)
    return replace(run, network=replace(network, architecture=encoder))


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
