"""Photographed ink on paper: uneven paper, ink that runs dry and is dipped again, grain."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from drethtr.images.line import Line

TEXTURE = (256, 4096)  # rows, columns of the cached textures that lines are cut from


@dataclass(frozen=True, kw_only=True)
class Paper:
    """Tones from 0, black, to 255, white.

    `tone` is the range of paper tones and `ink` that of ink tones, relative to the paper; `uneven` and `grain` are the
    maximum amplitudes of slow and of fine noise; `dry` is the share of lines whose ink runs dry and is renewed.
    """

    tone: tuple[float, float] = (140.0, 255.0)
    ink: tuple[float, float] = (0.05, 0.62)
    uneven: float = 7.0
    grain: float = 4.0
    dry: float = 0.5


def put_on_paper(ink: NDArray[np.uint8], paper: Paper, rng: np.random.Generator) -> Line:
    """Render ink (height, width), 255 where the pen was, on paper."""
    height, width = ink.shape
    tone = rng.uniform(*paper.tone)
    ground = texture(SLOW, ink.shape, rng) * np.float32(rng.uniform(0.1, 1) * paper.uneven) + np.float32(tone)
    ground += np.linspace(-1, 1, width, dtype=np.float32) * np.float32(rng.normal(0, 0.025) * tone)

    flow = texture(FLOW, ink.shape, rng) * np.float32(rng.uniform(0.02, 0.16)) + np.float32(0.93)
    if rng.random() < paper.dry:
        flow *= supply_of_ink(width, height, rng)
    flow *= ink
    flow *= np.float32((1 - rng.uniform(*paper.ink)) / 255)
    np.minimum(flow, 0.98, out=flow)

    ground *= 1 - flow
    ground += texture(FINE, ink.shape, rng) * np.float32(rng.uniform(0.1, 1) * paper.grain)
    return ground.clip(0, 255).astype(np.uint8)


def supply_of_ink(width: int, height: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """The amount of ink at each column: full after a dip, then decreasing until the next."""
    dips = np.cumsum(rng.uniform(3, 16, 2 + width // (3 * height)) * height)
    dips = np.concatenate(([-rng.uniform(0, 8) * height], dips))
    columns = np.arange(width)
    last = np.searchsorted(dips, columns, side="right") - 1
    dryness = (columns - dips[last]) / (16 * height)
    return (1 - rng.uniform(0.15, 0.5) * dryness).astype(np.float32)


FINE, FLOW, SLOW = 1, 8, 48  # the grain size of a texture, in pixels


def texture(spot: int, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float32]:
    """A random piece of noise with unit variance and the given grain size."""
    height, width = shape
    noise = whole_texture(spot)
    if height > noise.shape[0] or width > noise.shape[1]:
        noise = np.tile(noise, (-(-height // noise.shape[0]), -(-width // noise.shape[1])))
    row = int(rng.integers(noise.shape[0] - height + 1))
    column = int(rng.integers(noise.shape[1] - width + 1))
    return noise[row : row + height, column : column + width]


@cache
def whole_texture(spot: int) -> NDArray[np.float32]:
    """Noise of the size `TEXTURE`, made once per process and always the same."""
    rows, columns = TEXTURE
    noise = np.random.default_rng(spot).standard_normal((rows // spot + 2, columns // spot + 2))
    image = Image.fromarray(noise.astype(np.float32))
    sheet = np.asarray(image.resize((columns, rows), Image.Resampling.BICUBIC) if spot > 1 else image)[:rows, :columns]
    unit: NDArray[np.float32] = (sheet - sheet.mean()) / sheet.std()
    unit.setflags(write=False)
    return unit
