"""`drethtr evaluate --align`: measure the alignment of running text with lines of pages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drethtr.base.errors import ConfigError
from drethtr.cli.tables import EvaluationResult, figure, interval, read_by

if TYPE_CHECKING:
    from drethtr.evaluation.alignment import KnownPage
    from drethtr.evaluation.alignment_figures import AlignmentFigures
    from drethtr.recognition.recognizer import Recognizer


def open_known(data: Sequence[str], lines: str | None, limit: int | None, seed: int) -> "Sequence[KnownPage]":
    """Open pages with known text: with their marked lines, or, given a segmentation `lines`, with detected ones.

    Raises:
        ConfigError: if an option does not go with detected lines.
        DataError: if there is no text, or the page of a line is unknown.
    """
    from drethtr.evaluation.alignment import FoundPage, marked_pages
    from drethtr.evaluation.evaluate import to_read
    from drethtr.evaluation.whole_pages import open_references
    from drethtr.lines.sources import open_all
    from drethtr.pages.segmentation import segmentation_named

    if lines is None:
        return marked_pages(to_read(open_all(data)), limit, seed)
    if limit is not None:
        raise ConfigError("--limit does not go with --lines; leave out one of them")
    segmentation = segmentation_named(lines)
    return [FoundPage.of(original, segmentation) for original in open_references(data)]


def evaluate_align(recognizer: "Recognizer", pages: "Sequence[KnownPage]", seed: int) -> EvaluationResult:
    """Align texts with pages, with a progress bar, and measure the result."""
    from tqdm import tqdm

    from drethtr.evaluation.alignment import align_pages
    from drethtr.evaluation.alignment_figures import measure_alignment
    from drethtr.evaluation.pools import known_sets

    with tqdm(total=sum(len(page.samples) for page in pages), unit="line", disable=None) as bar:
        aligned = align_pages(recognizer, pages, seed, bar.update)
    found = measure_alignment(aligned, known_sets(recognizer.model))
    text = f"{alignment_table(found)}\n{read_by(recognizer)}"
    return EvaluationResult(text, {"sets": [pool.to_json() for pool in found]})


def alignment_table(pools: "Sequence[AlignmentFigures]") -> str:
    """Figures in percent, a row per set and pool of sets."""
    from drethtr.evaluation.alignment_figures import CONVENTION

    width = max(len(pool.name) for pool in pools)
    rows = [
        f"{'':{width}}  {'pages':>6}  {'lines':>6}  {'exact %':>21}  {'with text':>9}  {'accepted %':>10}"
        f"  {'precision %':>11}"
    ]
    rows += [
        f"{pool.name:{width}}  {pool.pages:>6,}  {pool.lines:>6,}  {interval(pool.to_json(), 'exact'):>21}"
        f"  {pool.written:>9,}  {figure(pool.accepted, 1):>10}  {figure(pool.precision, 1):>11}"
        for pool in pools
    ]
    return "\n".join([*rows, "", CONVENTION])
