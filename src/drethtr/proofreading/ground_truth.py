"""Lines of proofs that can be trusted as training data: an edition becomes ground truth."""

from collections.abc import Iterator, Sequence

from drethtr.documents.beside import page_stem
from drethtr.lines.sample import Sample
from drethtr.lines.write_parquet import png_of
from drethtr.proofreading.proof import PageProof, ProofLine, strips_of
from drethtr.recognition.recognizer import Recognizer


def accepted(lines: Sequence[ProofLine], precision: float) -> list[ProofLine]:
    """As many lines as can be accepted so that this share of them is expected to be right; the order is kept."""
    written = sorted((line for line in lines if line.check.words), key=lambda line: -line.check.probability)
    total, number = 0.0, 0
    for count, line in enumerate(written, start=1):
        total += line.check.probability
        if total >= precision * count:
            number = count
    chosen = {id(line) for line in written[:number]}
    return [line for line in lines if id(line) in chosen]


def ground_truth(pages: Sequence[PageProof], chosen: Sequence[ProofLine], recognizer: Recognizer) -> Iterator[Sample]:
    """The accepted lines of some pages, cut from their scans, as `drethtr finetune` takes them."""
    wanted = {id(line) for line in chosen}
    for proof in pages:
        of_page = {line.line for line in proof.lines if id(line) in wanted}
        lines = [line for line in proof.page.lines if line.id in of_page]
        name = proof.original.source.path
        for line, strip in zip(
            lines, strips_of(proof.original, proof.original.source.grey(), lines, recognizer), strict=True
        ):
            if strip is not None:
                sample = Sample(strip.line, line.text, name.parent.resolve().name, page=page_stem(name))
                yield Sample(png_of(sample), line.text, sample.set, page=sample.page)
