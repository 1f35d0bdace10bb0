"""The two augmentation pipelines: the paper's, and ours for lines cut from scanned pages."""

from drethtr.synthesis.degrade import (
    BackgroundNoise,
    BleedThrough,
    Blur,
    DropInk,
    FadeInk,
    Grain,
    JpegCompression,
    NeighborLines,
    RuleLines,
    TableBorders,
    Tone,
    UnevenLight,
)
from drethtr.synthesis.distort import (
    Elastic,
    PadHorizontally,
    PadVertically,
    Rotate,
    Shrink,
    Slant,
    Stretch,
    Thicken,
    Thin,
    Zoom,
)
from drethtr.synthesis.random_step import RandomStep, Sometimes

PUBLISHED: tuple[RandomStep, ...] = (
    Sometimes(PadVertically(white=True)),
    Sometimes(PadHorizontally(white=True)),
    Sometimes(Stretch()),
    Sometimes(Thicken()),
    Sometimes(Thin()),
    Sometimes(Elastic(sigma=2)),
    Sometimes(Elastic(sigma=5)),
    Sometimes(BackgroundNoise()),
)
"""The augmentation of the paper (Sec. 5.3), each step with probability 0.5; strong for lines below 100 pixels."""

SCANS: tuple[RandomStep, ...] = (
    Shrink(64),
    # Handwriting.
    Sometimes(Slant(), 0.3),
    Sometimes(Stretch((0.75, 1.25)), 0.4),
    Sometimes(Elastic(sigma=2.5, pixels=1.2), 0.2),
    Sometimes(Elastic(sigma=8, pixels=3), 0.3),
    Sometimes(Thicken(sides=(1, 2), strength=(0.4, 1.0)), 0.2),
    Sometimes(Thin(strength=(0.2, 0.6)), 0.15),
    Sometimes(FadeInk(), 0.15),
    # Page.
    Sometimes(BleedThrough(), 0.15),
    Sometimes(NeighborLines(), 0.2),
    Sometimes(Zoom(), 0.4),
    Sometimes(PadHorizontally(share=1.0), 0.25),
    Sometimes(RuleLines(), 0.12),
    Sometimes(TableBorders(), 0.06),
    Sometimes(Rotate(), 0.3),
    Sometimes(DropInk(), 0.1),
    # Camera and file.
    Sometimes(BackgroundNoise(paper=(0.82, 1.0), ink=(0.0, 0.3)), 0.05),
    Sometimes(UnevenLight(), 0.2),
    Sometimes(Tone(), 0.4),
    Sometimes(Grain(), 0.2),
    Sometimes(Blur(), 0.25),
    Sometimes(JpegCompression(), 0.25),
)
"""For training on lines of many hands, archives and scanners. Text stays legible; most lines get 4 to 7 steps.

Networks for lines taller than 64 pixels need another `Shrink`. It comes first, since later steps are in pixels: on
scans with four times the resolution, elastic steps once had a quarter of their effect (LOG.md, 2026-11-23, evening).

No step covers parts of a line: their text would have to be invented, and with a fifth of each line covered, the CTC
loss of training did not fall (LOG.md, 2026-11-23, evening).

Ranges and probabilities are not tuned one by one. Wider ranges and higher probabilities gained nothing in 26,000 lines
(LOG.md, 2026-11-23, night), and were part of what gained in 1.5 million (`recipes/long.toml`; LOG.md, 2026-11-26).
"""
