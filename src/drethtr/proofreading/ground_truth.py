"""Lines of proofs to accept as training data without review: an edition becomes ground truth."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from drethtr.datasets.parquet import png_of
from drethtr.datasets.sample import Sample
from drethtr.documents.beside import numbered, page_stem
from drethtr.proofreading.proof import PageProof, ProofLine, strips_of
from drethtr.recognition.confidence.logistic import Floats
from drethtr.recognition.recognizer import Recognizer


def accepted(lines: Sequence[ProofLine], precision: float) -> list[ProofLine]:
    """The lines to accept, in order: as many as possible at an expected `precision`."""
    written = [line for line in lines if line.check.text]
    chosen = acceptable(np.array([line.check.probability for line in written]), precision)
    return [line for line, some in zip(written, chosen.tolist(), strict=True) if some]


def acceptable(probabilities: Floats, precision: float) -> NDArray[np.bool_]:
    """Which to accept, (N,): as many as possible at an expected `precision`."""
    order = np.argsort(-probabilities, kind="stable")
    enough = np.flatnonzero(probabilities[order].cumsum() >= precision * np.arange(1, len(order) + 1))
    accepted = np.zeros(len(order), dtype=np.bool_)
    accepted[order[: enough[-1] + 1 if len(enough) else 0]] = True
    return accepted


def ground_truth(pages: Sequence[PageProof], chosen: Sequence[ProofLine], recognizer: Recognizer) -> Iterator[Sample]:
    """The accepted lines of some pages, cut from their scans, for `drethtr model finetune`."""
    wanted = {id(line) for line in chosen}
    for proof in pages:
        of_page = {line.line for line in proof.lines if id(line) in wanted}
        lines = [line for line in proof.page.lines if line.id in of_page]
        source = proof.original.source
        page = page_stem(source.path) if source.pages == 1 else numbered(page_stem(source.path), source.number)
        strips = strips_of(proof.original, source.gray(), lines, recognizer, is_line=proof.is_line)
        for line, strip in zip(lines, strips, strict=True):
            if strip is not None:
                sample = Sample(strip.line, line.text, source.path.parent.resolve().name, page=page, id=line.id)
                yield replace(sample, image=png_of(sample))
