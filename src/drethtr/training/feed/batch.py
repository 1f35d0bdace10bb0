"""Batches of lines of similar width, as tensors, with text without images that trains the decoder as a language model.

B lines, H rows, W columns of the widest line, T tokens of the longest text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from drethtr.base.config import check_positive
from drethtr.base.errors import ConfigError, DataError
from drethtr.base.urls import digest_of
from drethtr.datasets.sample import LeftOut, Sample
from drethtr.images.prepare import Preparation, Prepared
from drethtr.network.backend import stack
from drethtr.recognition.batching import WIDTH_STEP, group_by_width, padded_width
from drethtr.synthesis.corpus import Corpus
from drethtr.synthesis.random_step import RandomStep, augment
from drethtr.text.tokenizer import PAD, Tokenizer
from drethtr.training.feed.mixture import LineMixture


@dataclass(frozen=True, kw_only=True)
class Prose:
    """The texts of each batch, plus `lines` lines from text files, plain or compressed, if any are given."""

    texts: tuple[str, ...] = ()
    lines: int = 12  # a tenth more time per step; with 48, as much as all else (LOG.md, 2026-11-23)

    def __post_init__(self) -> None:
        check_positive(self, "lines")

    @property
    def files(self) -> tuple[Path, ...]:
        """The text files."""
        return tuple(map(Path, self.texts))


MIN_COLUMNS = 2
"""Minimum columns per character: a line with more text is probably wrong, and would lengthen its whole batch."""

AUGMENT, SHUFFLE, DRAW, FILL = 1, 2, 3, 4
"""Separate the random streams used here from each other and from those of the mixture."""


class Batch(NamedTuple):
    """Some lines with their texts.

    images      float32 (B, 1, H, W), ink +1 and paper -1; shorter lines are padded with paper on the right
    widths      int64 (B,), columns of each line
    tokens      int64 (B, T), without `BOS` and `EOS`, padded with `PAD`
    lengths     int64 (B,), tokens of each text
    prose       int64 (P, T'), these texts and others without images, padded likewise; None if not used
    left_out    lines left out since the previous batch: too wide, with more text than fits the image, or unusable
    unusable    why the images of some of them cannot be used, naming each
    """

    images: Tensor
    widths: Tensor
    tokens: Tensor
    lengths: Tensor
    texts: tuple[str, ...]
    left_out: int = 0
    unusable: tuple[str, ...] = ()
    prose: Tensor | None = None


@dataclass(frozen=True, kw_only=True)
class BatchConfig:
    """Size limits of batches.

    pixels          maximum pixels of a batch, padding included: lines x rows x columns of the widest line
    lines           maximum lines of a batch
    max_columns     wider lines are left out, and lines with less than `MIN_COLUMNS` columns per character
    chunk           samples that are sorted by width together and read by one worker in one go
    fixed_shapes    for GPUs, where cuDNN takes seconds for each new shape: all batches of one width have the same
                    number of lines; some lines of a chunk are used twice to fill the last one
    """

    pixels: int = 48 * 40_000
    lines: int = 64
    max_columns: int = 4000
    chunk: int = 512
    fixed_shapes: bool = False

    def __post_init__(self) -> None:
        check_positive(self, "pixels", "lines", "max_columns", "chunk")


class Batches:
    """An endless sequence of batches. Item i holds samples i * chunk to (i + 1) * chunk, in shuffled batches.

    An item depends only on its number and the seed of the mixture, so processes can divide the items among them.
    """

    def __init__(
        self,
        mixture: LineMixture,
        preparation: Preparation,
        tokenizer: Tokenizer,
        config: BatchConfig,
        augmentation: Sequence[RandomStep] = (),
        prose: Prose | None = None,
    ) -> None:
        widest = preparation.height * padded_width(config.max_columns)
        if widest > config.pixels:
            raise ConfigError(
                f"batches.pixels {config.pixels:,} has no room for a line of {preparation.height} rows and "
                f"batches.max_columns {config.max_columns:,} columns, which takes {widest:,} pixels"
            )
        self.mixture = mixture
        self.preparation = preparation
        self.tokenizer = tokenizer
        self.config = config
        self.augmentation = tuple(augmentation)
        self.prose = prose
        self.corpus: Corpus | None = None
        if prose is not None and prose.texts:
            self.corpus = Corpus(files=prose.files, alphabet=tokenizer.alphabet)

    def __getitem__(self, chunk: int) -> list[Batch]:
        """The batches of one chunk, at least one.

        Raises:
            DataError: if every line of the chunk is left out, or a file cannot be read.
        """
        config = self.config
        kept: list[tuple[Prepared, str]] = []
        unusable: list[str] = []
        # All lines of a chunk are loaded before any batch, so that lines of similar width can be grouped.
        for index in range(chunk * config.chunk, (chunk + 1) * config.chunk):
            sample = self.mixture.sample(index)
            try:
                if isinstance(sample, LeftOut):
                    raise sample.error()
                line = self.prepared(sample, index)
            except DataError as error:  # one bad line among thousands must not end a run after hours
                unusable.append(str(error))
                continue
            if MIN_COLUMNS * len(sample.text) <= line.shape[1] <= config.max_columns:
                kept.append((line, sample.text))
        if not kept:
            others = f", or cannot be used: {unusable[0]}" if unusable else ""
            raise DataError(
                f"all {config.chunk} lines of chunk {chunk} have more than {config.max_columns} columns "
                f"(batches.max_columns), or more text than fits the image{others}"
            )
        batches: list[Batch] = []
        for columns, group in self.groups([line.shape[1] for line, _ in kept], chunk):
            lines, texts = zip(*(kept[i] for i in group), strict=True)
            batches.append(self.with_prose(collate(lines, texts, self.tokenizer, columns), chunk, len(batches)))
        np.random.default_rng((self.mixture.seed, chunk, SHUFFLE)).shuffle(batches)
        # The first batch reports for its chunk, since every chunk has one.
        batches[0] = batches[0]._replace(left_out=config.chunk - len(kept), unusable=tuple(unusable))
        return batches

    def groups(self, widths: Sequence[int], chunk: int) -> Iterator[tuple[int, list[int]]]:
        """The least columns and the members of the batches of a chunk, given the widths of its lines."""
        limits = self.config.pixels // self.preparation.height, self.config.lines
        if self.config.fixed_shapes:
            return groups_of_fixed_shapes(widths, *limits, np.random.default_rng((self.mixture.seed, chunk, FILL)))
        return ((0, group) for group in group_by_width(widths, *limits))

    def digests(self) -> list[str]:
        """The digests of all sources.

        Raises:
            DataError: if a file cannot be read.
        """
        prose = [] if self.prose is None else [f"prose [{digest_of(self.prose.files)}]"]
        return [*self.mixture.digests(), *prose]

    def with_prose(self, batch: Batch, chunk: int, number: int) -> Batch:
        """The batch with the given number in a chunk, with text without images for the decoder, if any."""
        if self.prose is None:
            return batch
        rng = np.random.default_rng((self.mixture.seed, chunk, number, DRAW))
        drawn = [] if self.corpus is None else [self.corpus.draw(rng).text for _ in range(self.prose.lines)]
        prose, _ = encode_all([*batch.texts, *drawn], self.tokenizer)
        return batch._replace(prose=prose)

    def prepared(self, sample: Sample, index: int) -> Prepared:
        """The line of a sample, preprocessed for a batch.

        Raises:
            DataError: naming the sample, if it cannot be used.
        """
        line, rng = sample.line(), np.random.default_rng((self.mixture.seed, index, AUGMENT))
        try:
            # As published: slants are measured on the ink, before augmentation adds noise and paper.
            augmented = augment(self.augmentation, self.preparation.upright(line), rng)
            return self.preparation.scaled(augmented)
        except DataError as error:
            raise DataError(str(error), sample.key) from error


def groups_of_fixed_shapes(
    widths: Sequence[int], columns: int, lines: int, rng: np.random.Generator
) -> Iterator[tuple[int, list[int]]]:
    """Columns and indices of groups of similar width, narrowest first, whose size depends on the columns only.

    All lines are used; the last group is filled with random ones.
    """
    by_width = np.argsort(widths, kind="stable").tolist()
    # The width of a group grows until enough of the narrowest lines fit into it to fill it; only the last group, with
    # all that are left, is filled up.
    group = WIDTH_STEP
    while by_width:
        size = max(1, min(lines, columns // group))
        fitting = [i for i in by_width[:size] if widths[i] <= group]
        if len(fitting) == size:
            yield group, fitting
            del by_width[:size]
        elif len(fitting) == len(by_width):
            yield group, fitting + rng.choice(len(widths), size - len(fitting)).tolist()
            return
        else:
            group += WIDTH_STEP


def collate(lines: Sequence[Prepared], texts: Sequence[str], tokenizer: Tokenizer, columns: int = 0) -> Batch:
    """Collate prepared lines of equal height and their texts into a batch of at least `columns` columns."""
    images, widths = stack(lines, columns=columns)
    tokens, lengths = encode_all(texts, tokenizer)
    return Batch(images, widths, tokens, lengths, tuple(texts))


def encode_all(texts: Sequence[str], tokenizer: Tokenizer) -> tuple[Tensor, Tensor]:
    """The tokens of N texts, int64 (N, T), padded with `PAD`, and their lengths, (N,)."""
    encoded = [tokenizer.encode(text) for text in texts]
    lengths = [len(ids) for ids in encoded]
    tokens = torch.full((len(encoded), max(lengths)), PAD)
    for row, ids in zip(tokens, encoded, strict=True):
        row[: len(ids)] = torch.tensor(ids)
    return tokens, torch.tensor(lengths)
