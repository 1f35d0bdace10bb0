"""finetune_layout(data, output): adapt the line detector to pages whose lines a person has corrected.

The run is in a folder beside the result, `mine.run` for `mine.safetensors`; an interrupted one continues from there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from typing import Any

import torch

from drethtr.base.errors import ConfigError, DataError
from drethtr.base.links import make_marked, refuse_link, remove_marked
from drethtr.base.locks import claimed
from drethtr.base.wording import counted
from drethtr.evaluation.layout import figures_of
from drethtr.evaluation.whole_pages import collections_of, find_and_compare, open_references
from drethtr.layout.network import SHIPPED, load_lines, save_lines
from drethtr.pages.segmentation import DetectedLines
from drethtr.training.finetuning.finetune import folder_of
from drethtr.training.layout.loop import error_of, train_layout
from drethtr.training.layout.run import LayoutRun, PagesValidation
from drethtr.training.layout.sources import Marked, place_of
from drethtr.training.optimize import OptimizerConfig

MIN_PAGES = 5
"""Minimum number of pages; with fewer, one page would decide which weights are the best."""

EVERY = 5
"""One page in this many is for validation."""

CROPS, MAX_CROPS = 20, 8_000
"""Crops seen per page, and at most. Of 380 on 19 pages, the best weights were those after 192 (LOG.md,
2026-11-27, night); the shipped ones saw 8,000 of 182 pages."""

VALIDATIONS = 4  # each reads whole pages, so more would take longer than the training

MIN_GAIN = 1e-3
"""Minimum fall of the error for a network to be better, visible in figures; less is chance on a few pages."""

RATE = 5e-5
"""Learning rate: at four times as much, cores of neighboring lines grow together (LOG.md, 2026-11-27)."""


@dataclass(frozen=True)
class LayoutOutcome:
    """The result.

    train, validation  numbers of pages
    before, after      figures of `evaluate --layout` on the validation pages, with the first network and the new one
    """

    train: int
    validation: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def better(self) -> bool:
        """Whether the network finds the lines better than the one it started from; otherwise it is not written."""
        return error_of(self.before) - error_of(self.after) >= MIN_GAIN


def split(data: Sequence[str], validation: Sequence[str], images: Path | None = None) -> tuple[list[str], list[str]]:
    """The PAGE or ALTO files to train on, and those for validation: given ones, or every fifth of all.

    Raises:
        DataError: if there are too few pages, or pages are in both.
    """
    pages = described(data, images)
    names = sorted(pages.values())
    if validation:
        given = described(validation, images)
        if both := pages.keys() & given.keys():
            name = min(pages[place] for place in both)
            raise DataError(f"{name} is both in DATA and in --validation; leave it out of one of them")
        return names, sorted(given.values())
    if len(names) < MIN_PAGES:
        raise DataError(f"{counted(len(names), 'page')} with lines; correct at least {MIN_PAGES}, better 20")
    ordered = [name for members in collections_of(names).values() for name in sorted(members)]
    held = ordered[EVERY - 1 :: EVERY]
    return sorted(set(names).difference(held)), held


def described(data: Sequence[str], images: Path | None) -> dict[tuple[Path, int], str]:
    """The PAGE or ALTO files by the image they describe, each with one of the names that it is given by.

    Raises:
        DataError: if two of them describe the same image.
    """
    found: dict[tuple[Path, int], str] = {}
    for original in open_references(data, texts=False, images=images):
        name = str(original.description)
        first = found.setdefault(place_of(original), name)
        if Path(first).resolve() != Path(name).resolve():
            raise DataError(f"describes the same page as {first}; give one of them", name)
    return found


def finetune_layout(
    data: Sequence[str],
    output: Path,
    *,
    start: Path | None = None,
    validation: Sequence[str] = (),
    images: Path | None = None,
    samples: int | None = None,
    seed: int = 0,
    resume: bool = False,
    force: bool = False,
    device: str = "cpu",
    workers: int = 1,
    report: Callable[[str], object] = lambda words: None,
) -> LayoutOutcome:
    """Fine-tune the network and, if it became better, write it to `output`.

    Args:
        start: The network to start from; the included one by default.
        images: A folder in which the images of the pages are looked for first.
        samples: Crops seen in training; by default they depend on the number of pages.
        resume: Continue an interrupted run beside `output`.
        force: Otherwise, remove such a run.
        report: Called with a sentence before each step that takes a while.

    Raises:
        CheckpointError: if `start` cannot be used.
        ConfigError: if there is such a run and both are false, or another folder has its name.
        DataError: if pages are too few or cannot be used, or another program is writing the output, or has written it
            and `force` is false.
    """
    folder = folder_of(output.parent.resolve() / output.name)  # only a parent that is not a link has marked folders
    with claimed(output, replace=force or (resume and folder.exists())):
        refuse_link(folder)
        if folder.exists() and not resume:
            if not force:
                raise ConfigError(f"{folder} contains an unfinished run; add --resume to continue it, or --force")
            remove_marked(folder)
            if folder.exists():
                raise ConfigError(f"{folder} is not from an unfinished run; rename it, or choose another output")
        train, held = split(data, validation, images)
        if not folder.exists():
            make_marked(folder)
        total = samples or min(CROPS * len(train), MAX_CROPS)
        place = None if images is None else str(images)
        run = LayoutRun(
            train=(Marked(paths=tuple(map(escape, train)), images=place),),
            validation=PagesValidation(
                paths=tuple(map(escape, held)), images=place, every=max(1, total // VALIDATIONS)
            ),
            samples=total,
            start=str(start) if start is not None else None,
            optimizer=OptimizerConfig(learning_rate=RATE, warm_up=min(100, total // 10)),
            save_every=max(1, total // (4 * VALIDATIONS)),
            seed=seed,
        )
        report(f"training on {counted(len(train), 'page')}, {total:,} crops; {len(held)} more for validation")
        best = train_layout(run, folder, resume=True, device=device, workers=workers)
        report(f"finding the lines of {counted(len(held), 'page')} with both networks")
        before, after = (figures_on(held, path, images) for path in (start or SHIPPED, best))
        outcome = LayoutOutcome(len(train), len(held), before, after)
        if outcome.better:
            model = load_lines(best)
            # In float32: 8 bits, as in the included network, would cost half of the gain (LOG.md, 2026-11-27).
            card = {name: value for name, value in model.card.items() if name != "run"}  # which names all pages
            save_lines(replace(model, card={**card, "pages": len(train)}), output)
        remove_marked(folder)
        return outcome


def figures_on(pages: Sequence[str], network: Path, images: Path | None) -> Mapping[str, Any]:
    """The figures of `evaluate --layout` of a network on some pages."""
    originals = open_references([escape(page) for page in pages], texts=False, images=images)
    compared = find_and_compare(originals, DetectedLines(str(network)), torch.get_num_threads())
    return figures_of(list(compared.values()))
