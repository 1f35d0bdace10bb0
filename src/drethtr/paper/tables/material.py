"""The data for reproducing tables: lines of the paper's data sets, fonts and texts, given or generated."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from PIL import ImageFont

from drethtr.base.errors import ConfigError
from drethtr.base.urls import digest_of, find_files, identity
from drethtr.datasets.open import matching
from drethtr.datasets.parquet import store_parquet
from drethtr.synthesis.corpus import Wording
from drethtr.synthesis.fragments import fragment
from drethtr.synthesis.synthetic import Synthetic

IAM, RIMES, READ_2016, BENTHAM = SETS = ("iam", "rimes", "read2016", "bentham")
"""The data sets of the paper; lines given without a name belong to the first."""


@dataclass(frozen=True)
class DataFiles:
    """The files of one data set, by split."""

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]

    @classmethod
    def of(cls, stems: Sequence[str]) -> Self:
        """The files written by `drethtr data import`: STEM.train.parquet, STEM.val.parquet, STEM.test.parquet.

        Paths are absolute, so that a run can be resumed from another working folder.
        """
        splits = (tuple(identity(f"{stem}.{split}.parquet") for stem in stems) for split in ("train", "val", "test"))
        return cls(*splits)


@dataclass(frozen=True)
class PaperData:
    """Lines by name of their data set, and the generator of synthetic lines."""

    sets: Mapping[str, DataFiles] = field(default_factory=dict)
    synthetic: Synthetic | None = None

    @classmethod
    def given(cls, data: Sequence[str], fonts: str | None, texts: Sequence[str]) -> Self:
        """Parse command-line arguments: `NAME=STEM` or `STEM`, fonts and texts.

        Raises:
            ConfigError: for a data set that the paper does not have, or fonts without texts.
        """
        stems: dict[str, list[str]] = defaultdict(list)
        for word in data:
            name, equals, stem = word.partition("=")
            if equals and name not in SETS:
                raise ConfigError(f"--data {word}: the paper has no data set {name!r}; it has {', '.join(SETS)}")
            stems[name if equals else IAM].append(stem if equals else word)
        if bool(fonts) != bool(texts):
            raise ConfigError("synthetic lines need both --fonts FOLDER and --text FILE")
        synthetic = Synthetic(fonts=identity(fonts), texts=tuple(map(identity, texts))) if fonts else None
        return cls({name: DataFiles.of(of_set) for name, of_set in stems.items()}, synthetic)

    def lines(self, name: str) -> DataFiles:
        """The lines of a data set.

        Raises:
            ConfigError: if they were not given.
        """
        if name not in self.sets:
            raise ConfigError(
                f"no lines of {name} to train on; give --data {name}=STEM for STEM.train.parquet, STEM.val.parquet and "
                "STEM.test.parquet, as `drethtr data import` writes them, or try --scale smoke, which needs none"
            )
        return self.sets[name]

    def made(self) -> Synthetic:
        """The generator of synthetic lines.

        Raises:
            ConfigError: if no fonts and texts were given.
        """
        if self.synthetic is None:
            raise ConfigError(
                "synthetic pretraining needs handwriting fonts and texts; give --fonts FOLDER --text FILE"
            )
        return self.synthetic


def contents(patterns: Sequence[str]) -> tuple[str, ...]:
    """Name and digest of every file that matches the patterns, wherever the files are.

    Names are included because they may give the language or set.
    """
    files = (file for pattern in patterns for path in matching(pattern) for file in find_files(path))
    return tuple(f"{Path(file).name} {digest_of((file,))}" for file in files)


STEM = "made"
"""The name of generated files."""

SPLITS = {"train": 12, "val": 2, "test": 4}
"""Number of lines generated for each split."""

PARAGRAPHS, PIECES = 20, 8
"""Paragraphs of the generated text, and fragments in each."""


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
            # Another seed for each split, or the test lines would be training lines.
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
