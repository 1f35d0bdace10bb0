"""Shared parts of `align` and `check`: reading with a progress bar, and writing pages."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from drethtr.base.config import named
from drethtr.base.errors import DataError
from drethtr.base.files import make_folder, refuse_file
from drethtr.cli.progress import report_skipped, say
from drethtr.documents.beside import page_stem, stem_of_page
from drethtr.documents.document import Document
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import Page
from drethtr.pages.opening import refuse_same_endings
from drethtr.pages.record import provenance_of
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original
from drethtr.pages.task import write_result
from drethtr.proofreading.alignment import LineBreaks
from drethtr.proofreading.inputs import ProofInput
from drethtr.proofreading.proof import PageProof
from drethtr.proofreading.rules import Rules
from drethtr.proofreading.text import TextProof, prove_text
from drethtr.recognition.recognizer import Recognizer


def prove_all(
    given: Sequence[ProofInput],
    recognizer: Recognizer,
    segmentation: Segmentation,
    rules: Rules,
    line_breaks: LineBreaks = LineBreaks.IGNORED,
) -> tuple[list[TextProof], int]:
    """Check each text against its pages, with a progress bar.

    Returns:
        The proofs, and the number of failures, which are reported: unreadable pages, and texts of other pages.

    Raises:
        DataError: if all texts fail.
    """
    proofs, failures = [], []
    with tqdm(total=sum(len(one.originals) for one in given), unit="page", disable=None) as bar:

        def report(original: Original, page: Page) -> None:
            bar.update()
            for words in original.remarks(page):
                say(words)

        for one in given:
            try:
                proofs.append(prove_text(one, recognizer, segmentation, rules, line_breaks, report))
            except DataError as error:
                failures.append(error)
    if not proofs:
        raise failures[0]
    failures += [error for proof in proofs for error in proof.unreadable]
    for failure in failures:
        report_skipped(failure)
    return proofs, len(failures)


PAGE_FORMATS = {name: format for name, format in FORMATS.items() if name != "txt"}
"""Those that can express doubts, unlike plain text."""


def formats_of_pages(names: str) -> tuple[str, ...]:
    """Parse a comma-separated list of `PAGE_FORMATS`.

    Raises:
        ConfigError: if one is unknown, or two have the same file extension.
    """
    wanted = dict.fromkeys(name.strip() for name in names.split(","))
    formats = {name: named("format", name, PAGE_FORMATS) for name in wanted}
    refuse_same_endings(formats)
    return tuple(formats)


def targets_of(originals: Sequence[Original], output: Path, formats: Sequence[str], *, force: bool) -> dict[str, Path]:
    """The output path of each page without extension, by the page's name.

    Raises:
        DataError: if a file is there and may not be replaced, or two pages would have the same name.
    """
    refuse_file(output)
    targets: dict[str, Path] = {}
    for original in originals:
        stem = stem_of_page(page_stem(original.description or original.source.path), original.source)
        if output / stem in targets.values():
            raise DataError(f"another page is also named {stem}; process them in two runs", original.name)
        targets[original.name] = output / stem
        for name in formats:
            path = output / f"{stem}{FORMATS[name].ending}"
            if path.exists() and not force:
                raise DataError(f"{path} exists; choose another folder or use --force")
    return targets


def write_pages(
    pages: Sequence[PageProof], recognizer: Recognizer, targets: Mapping[str, Path], formats: Sequence[str]
) -> None:
    """Write each page in each format.

    Raises:
        DataError: if a file cannot be written, or a person has worked on it.
    """
    made_by = provenance_of(recognizer)
    for proof in pages:
        target = targets[proof.original.name]
        make_folder(target.parent)
        document = Document((proof.original.sheet(proof.page),), made_by)
        for name in formats:
            path = target.parent / f"{target.name}{FORMATS[name].ending}"
            write_result(path, FORMATS[name].write(document), "choose another folder")
