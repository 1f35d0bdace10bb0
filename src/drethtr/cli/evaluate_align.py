"""`drethtr evaluate --align`: how well running text is aligned with the lines of pages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drethtr.base.errors import ConfigError
from drethtr.cli.tables import EvaluationResult, figure, interval

if TYPE_CHECKING:
    from drethtr.evaluation.alignment import KnownPage
    from drethtr.evaluation.alignment_figures import AlignmentFigures
    from drethtr.recognition.recognizer import Recognizer


def open_known(data: Sequence[str], lines: str | None, limit: int | None, seed: int) -> "Sequence[KnownPage]":
    """The pages of data sets with their marked lines; those of PAGE and ALTO files, if `lines` says how to find them.

    Raises:
        ConfigError: if an option does not go with found lines.
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
        raise ConfigError("--limit draws pages of marked lines; leave it out, or --lines")
    segmentation = segmentation_named(lines)
    return [FoundPage.of(original, segmentation) for original in open_references(data)]


def evaluate_align(recognizer: "Recognizer", pages: "Sequence[KnownPage]", seed: int) -> EvaluationResult:
    """Align texts with pages, with a progress bar, and measure how well."""
    from tqdm import tqdm

    from drethtr.evaluation.alignment import align_pages
    from drethtr.evaluation.alignment_figures import measure_alignment
    from drethtr.evaluation.pools import known_sets

    with tqdm(total=sum(len(page.samples) for page in pages), unit="line", disable=None) as bar:
        aligned = align_pages(recognizer, pages, seed, bar.update)
    found = measure_alignment(aligned, known_sets(recognizer.model))
    return EvaluationResult(alignment_table(found), {"sets": [pool.to_json() for pool in found]})


def alignment_table(pools: "Sequence[AlignmentFigures]") -> str:
    """Figures in percent, a row for each set and pool."""
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
