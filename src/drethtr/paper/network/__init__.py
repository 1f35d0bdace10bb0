"""The paper's other networks in torch: they register themselves for the configs of `drethtr.paper.variants`."""

from drethtr.paper.network import encoder_decoder, mixers, outputs, patches, resnet, shallow

__all__ = ["encoder_decoder", "mixers", "outputs", "patches", "resnet", "shallow"]
