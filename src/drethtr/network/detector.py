"""The line detector: the text detector of PP-OCRv6 (small), with maps beside the cores of lines.

Stem and blocks are those of the line reader of PP-OCR, here on whole pages. The modules are defined in the order in
which the published graph runs them, on which `drethtr.network.pretrained` relies. `drethtr.layout.network` computes the
same with onnxruntime.

Shapes, everywhere in this file: B pages, C channels, H rows and W columns of the input, multiples of 32.
Source: PP-OCR (Apache-2.0), as packed in rapidocr 3.10: PP-OCRv6_det_small.onnx.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.layout.network import MAPS, MEANS, NECK, SPREADS, STAGES, STEM, TEXT
from drethtr.network.backbones.ppocr import ConvBlock, Descent, Stem
from drethtr.network.padded import Padded


def pointwise(inputs: int, outputs: int, *, bias: bool = True) -> nn.Conv2d:
    """A convolution of each place by itself."""
    return nn.Conv2d(inputs, outputs, 1, bias=bias)


def depthwise(channels: int) -> nn.Conv2d:
    """A convolution of each channel by itself, over 7 x 7 places."""
    return nn.Conv2d(channels, channels, 7, padding=3, groups=channels)


class Squeeze(nn.Module):
    """The scale (B, C, 1, 1) of each channel, from its mean over the page."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = pointwise(channels, channels // 4), pointwise(channels // 4, channels)

    def forward(self, x: Tensor) -> Tensor:
        scale: Tensor = self.fc2(F.relu(self.fc1(x.mean((2, 3), keepdim=True))))
        return (0.2 * scale + 0.5).clamp(0, 1)  # steeper than torch's hard sigmoid, which the blocks have


class Lateral(nn.Module):
    """Channels mixed, then strengthened by their squeeze."""

    def __init__(self, inputs: int, outputs: int, *, wide: bool) -> None:
        super().__init__()
        self.depthwise = depthwise(inputs) if wide else nn.Identity()
        self.mix = pointwise(inputs, outputs, bias=False)
        self.squeeze = Squeeze(outputs)

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
        self.around = depthwise(width)
        self.expand = pointwise(width, 2 * width)
        self.project = pointwise(2 * width, width)
        self.leave = pointwise(width, maps)
        # Initially everything is text and has no other role, as for a network without these maps.
        nn.init.zeros_(self.leave.weight)
        assert self.leave.bias is not None
        nn.init.constant_(self.leave.bias, -3.0)
        nn.init.constant_(self.leave.bias[TEXT : TEXT + 1], 2.0)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.enter(x))
        x = x + self.project(F.gelu(self.expand(self.around(x))))
        found: Tensor = self.leave(x)
        return found


class PageBackbone(nn.Module):
    """(B, 3, H, W) to features of each place in its surroundings, (B, C, H/4, W/4)."""

    def __init__(self) -> None:
        super().__init__()
        before = STAGES[0][0]
        self.stem = Stem(3, STEM, before)
        stages: list[nn.Module] = []
        for width, blocks in STAGES:
            descent = [] if width == before else [Descent(before, width, (2, 2))]
            stages.append(nn.Sequential(*descent, *(ConvBlock(width, squeezed=squeezed) for squeezed in blocks)))
            before = width
        self.stages = nn.ModuleList(stages)
        self.entries = nn.ModuleList(Lateral(width, NECK, wide=False) for width, _ in reversed(STAGES))
        self.exits = nn.ModuleList(Lateral(NECK, NECK // 4, wide=True) for _ in STAGES)

    def forward(self, x: Tensor) -> Tensor:
        page = self.stem(Padded(x, torch.full((len(x),), x.shape[3], device=x.device), full=True))
        levels: list[Tensor] = []
        for stage in self.stages:
            page = stage(page)
            levels.insert(0, page.pixels)
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
        self.backbone = PageBackbone()
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
