"""The paper's other networks in torch: they register themselves for the configs of `drethtr.paper.variants`."""

from drethtr.paper.network import backbones, encoder_decoder, mixers

__all__ = ["backbones", "encoder_decoder", "mixers"]
