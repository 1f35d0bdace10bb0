"""Generate lines for trying experiments without data: random words in Pillow's own font."""

from pathlib import Path

import numpy as np
from PIL import ImageFont

from drethtr.base.errors import ConfigError
from drethtr.datasets.parquet import store_parquet
from drethtr.paper.tables.material import SETS, DataFiles, PaperData
from drethtr.synthesis.corpus import Wording
from drethtr.synthesis.fragments import fragment
from drethtr.synthesis.synthetic import Synthetic

STEM = "made"
SPLITS = {"train": 12, "val": 2, "test": 4}
PARAGRAPHS, PIECES = 20, 8


def make_material(folder: Path) -> PaperData:
    """Generate, if missing, one set of lines for all data sets, and font and texts for synthetic lines.

    Raises:
        ConfigError: if this Pillow has no scalable font.
    """
    fonts, text = folder / "fonts", folder / "made_en.txt"
    fonts.mkdir(parents=True, exist_ok=True)
    synthetic = Synthetic(
        fonts=str(fonts), texts=(str(text),), height=48, wording=Wording(shortest=4, longest=10, fragments=0.0)
    )
    lines = DataFiles.of([str(folder / STEM)])
    if not all(Path(path).exists() for split in (lines.train, lines.validation, lines.test) for path in split):
        (fonts / "plain.ttf").write_bytes(plain_font())
        text.write_text(prose(), encoding="utf-8")
        maker = synthetic.build()
        for seed, (split, number) in enumerate(SPLITS.items()):
            samples = [maker.render(index, seed) for index in range(number)]
            store_parquet(samples, folder / f"{STEM}.{split}.parquet")
    return PaperData(dict.fromkeys(SETS, lines), synthetic)


def plain_font() -> bytes:
    """Pillow's own font."""
    font = ImageFont.load_default(48)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise ConfigError("this Pillow was built without FreeType, so it cannot draw text; install Pillow from a wheel")
    return bytes(font.font_bytes)


def prose() -> str:
    """Paragraphs of names, dates and the like."""
    rng = np.random.default_rng(0)
    return "\n".join(" ".join(fragment("en", rng) for _ in range(PIECES)) for _ in range(PARAGRAPHS)) + "\n"
