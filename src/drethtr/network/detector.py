"""The network that finds lines: the text detector of PP-OCRv6 (small), with maps beside the cores of lines.

The modules are defined in the order in which the published graph runs them, on which `drethtr.network.weights`
relies. `drethtr.layout.network` computes the same with onnxruntime.

Shapes, everywhere in this file: B pages, C channels, H rows and W columns of the input, multiples of 32.
Source: PP-OCR (Apache-2.0), as packed in rapidocr 3.10: PP-OCRv6_det_small.onnx.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.layout.network import MAPS, MEANS, NECK, SPREADS, STAGES, STEM, TEXT
from drethtr.network.backbones.ppocr import strongest_of_four


def pointwise(inputs: int, outputs: int, *, bias: bool = True) -> nn.Conv2d:
    """A convolution of each place by itself."""
    return nn.Conv2d(inputs, outputs, 1, bias=bias)


def depthwise(channels: int, size: int = 3, stride: int = 1) -> nn.Conv2d:
    """A convolution of each channel by itself."""
    return nn.Conv2d(channels, channels, size, stride, size // 2, groups=channels)


class Squeeze(nn.Module):
    """The scale (B, C, 1, 1) of each channel, from its mean over the page; `slope` is that of the hard sigmoid."""

    def __init__(self, channels: int, slope: float) -> None:
        super().__init__()
        self.fc1, self.fc2 = pointwise(channels, channels // 4), pointwise(channels // 4, channels)
        self.slope = slope

    def forward(self, x: Tensor) -> Tensor:
        scale: Tensor = self.fc2(F.relu(self.fc1(x.mean((2, 3), keepdim=True))))
        return (self.slope * scale + 0.5).clamp(0, 1)


class Stem(nn.Module):
    """(B, 3, H, W) to (B, outputs, H/4, W/4), by max pooling and convolutions side by side."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.enter = nn.Conv2d(3, width, 3, 2, 1)
        self.narrow = nn.Conv2d(width, width // 2, 2)
        self.widen = nn.Conv2d(width // 2, width, 2)
        self.merge = nn.Conv2d(2 * width, width, 3, 2, 1)
        self.expand = pointwise(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.enter(x))
        mixed = F.relu(self.narrow(F.pad(x, (0, 1, 0, 1))))
        mixed = F.relu(self.widen(F.pad(mixed, (0, 1, 0, 1))))
        x = torch.cat((strongest_of_four(x), mixed), dim=1)
        return F.relu(self.expand(F.relu(self.merge(x))))


class Block(nn.Module):
    """A depthwise convolution, then an MLP, with a residual around it unless the sizes differ."""

    def __init__(self, inputs: int, outputs: int, *, stride: int = 1, squeezed: bool = False) -> None:
        super().__init__()
        self.depthwise = depthwise(inputs, stride=stride)
        self.squeeze = Squeeze(inputs, 1 / 6) if squeezed else None
        self.expand, self.project = pointwise(inputs, 2 * inputs), pointwise(2 * inputs, outputs)
        self.residual = stride == 1

    def forward(self, x: Tensor) -> Tensor:
        x = self.depthwise(x)
        if self.squeeze is not None:
            x = x * self.squeeze(x)
        found: Tensor = self.project(F.gelu(self.expand(x)))
        return x + found if self.residual else found


class Lateral(nn.Module):
    """Channels mixed, then strengthened by their squeeze."""

    def __init__(self, inputs: int, outputs: int, *, wide: bool) -> None:
        super().__init__()
        self.depthwise = depthwise(inputs, 7) if wide else nn.Identity()
        self.mix = pointwise(inputs, outputs, bias=False)
        self.squeeze = Squeeze(outputs, 0.2)

    def forward(self, x: Tensor) -> Tensor:
        mixed: Tensor = self.mix(self.depthwise(x))
        strength: Tensor = self.squeeze(mixed)
        return mixed + mixed * strength


class Head(nn.Module):
    """(B, C, H/4, W/4) to the logits of the cores of lines, (B, 1, H, W)."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.enter = nn.Conv2d(inputs, width, 3, padding=1)
        self.larger = nn.ConvTranspose2d(width, width, 2, 2)
        self.largest = nn.ConvTranspose2d(width, 1, 2, 2)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.largest(F.relu(self.larger(F.relu(self.enter(x)))))
        return found


class MapsHead(nn.Module):
    """(B, C, H/4, W/4) to the logits of the other maps, (B, maps, H/4, W/4)."""

    def __init__(self, inputs: int, width: int, maps: int) -> None:
        super().__init__()
        self.enter = nn.Conv2d(inputs, width, 3, padding=1)
        self.around = depthwise(width, 7)
        self.expand = pointwise(width, 2 * width)
        self.project = pointwise(2 * width, width)
        self.leave = pointwise(width, maps)
        # At first all is text and nothing is anything else, as for a network without these maps.
        nn.init.zeros_(self.leave.weight)
        assert self.leave.bias is not None
        nn.init.constant_(self.leave.bias, -3.0)
        nn.init.constant_(self.leave.bias[TEXT : TEXT + 1], 2.0)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.enter(x))
        x = x + self.project(F.gelu(self.expand(self.around(x))))
        found: Tensor = self.leave(x)
        return found


class Backbone(nn.Module):
    """(B, 3, H, W) to features of each place in its surroundings, (B, C, H/4, W/4)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Stem(STEM, STAGES[0][0])
        stages: list[nn.Module] = []
        before = STAGES[0][0]
        for width, blocks in STAGES:
            descent = [] if width == before else [Block(before, width, stride=2)]
            stages.append(nn.Sequential(*descent, *(Block(width, width, squeezed=squeezed) for squeezed in blocks)))
            before = width
        self.stages = nn.ModuleList(stages)
        self.entries = nn.ModuleList(Lateral(width, NECK, wide=False) for width, _ in reversed(STAGES))
        self.exits = nn.ModuleList(Lateral(NECK, NECK // 4, wide=True) for _ in STAGES)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        levels: list[Tensor] = []
        for stage in self.stages:
            x = stage(x)
            levels.insert(0, x)
        found: list[Tensor] = []
        for level, entry in zip(levels, self.entries, strict=True):
            entered = entry(level)
            found.append(entered + F.interpolate(found[-1], scale_factor=2.0) if found else entered)
        *coarser, finest = (leave(level) for level, leave in zip(found, self.exits, strict=True))
        enlarged = (F.interpolate(x, scale_factor=s) for x, s in zip(coarser, (8.0, 4.0, 2.0), strict=True))
        return torch.cat([*enlarged, finest], dim=1)


class Detector(nn.Module):
    """Grays to maps; see `drethtr.layout.network` for what they mean."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = Backbone()
        self.head = Head(NECK, NECK // 4)
        self.maps = MapsHead(NECK, NECK // 2, len(MAPS))
        self.means: Tensor
        self.spreads: Tensor
        self.register_buffer("means", torch.tensor(MEANS), persistent=False)
        self.register_buffer("spreads", torch.tensor(SPREADS), persistent=False)

    def forward(self, grays: Tensor) -> tuple[Tensor, Tensor]:
        """The logits of cores (B, 1, H, W) and of the other maps (B, maps, H/4, W/4).

        Args:
            grays: (B, 1, H, W), from 0 for black to 1 for white.
        """
        x = self.backbone((grays - self.means) / self.spreads)
        return self.head(x), self.maps(x)
