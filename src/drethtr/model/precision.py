"""In which numbers a network reads images."""

from enum import Enum

import torch
from torch import Tensor

from drethtr.model.attention import KeyValue
from drethtr.model.ctc import CTCReading
from drethtr.model.network import DRetHTR, ImageMemory


class Precision(Enum):
    """Images are most of the work, so they may be read in bfloat16, where the processor computes with it.

    Text is decoded in float32 either way, and what is remembered of it is kept in float32.
    """

    FLOAT32 = torch.float32
    BFLOAT16 = torch.bfloat16

    def encode(self, network: DRetHTR, images: Tensor, widths: Tensor) -> ImageMemory:
        """`network.encode_image`, its results in float32."""
        if self is Precision.FLOAT32:
            return network.encode_image(images, widths)
        with torch.autocast(images.device.type, dtype=self.value):
            memory = network.encode_image(images, widths)
        return in_float32(memory)


def in_float32(memory: ImageMemory) -> ImageMemory:
    """The same memory in numbers for the decoder."""
    layers = tuple(KeyValue(kept.keys.float(), kept.values.float()) for kept in memory.layers)
    ctc = (
        None
        if memory.ctc is None
        else CTCReading(memory.ctc.draft.float(), memory.ctc.refined.float(), memory.ctc.counts)
    )
    return ImageMemory(layers, memory.mask, ctc)
