"""Shared parts of `align` and `check`: reading with a progress bar, and writing pages."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from drethtr.base.errors import DataError
from drethtr.base.files import make_folder, refuse_file
from drethtr.cli.outputs import refuse_existing
from drethtr.cli.progress import report_skipped, say
from drethtr.documents.formats import Format
from drethtr.documents.page import Page
from drethtr.pages.catalog import Folders
from drethtr.pages.results import write_result
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original
from drethtr.pages.task import FileTask, refuse_overwriting, task_for
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
        DataError: that of the last text, if all fail.
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
    failures += [error for proof in proofs for error in proof.unreadable]
    for failure in failures if proofs else failures[:-1]:
        report_skipped(failure)
    if not proofs:
        raise failures[-1]
    return proofs, len(failures)


def tasks_of(
    given: Sequence[ProofInput], output: Path | None, formats: Mapping[str, Format], *, force: bool
) -> list[FileTask]:
    """What to write for each file of pages; nothing without a folder for it.

    Raises:
        DataError: if a file is there and may not be replaced, or would replace another or an input.
    """
    if output is None:
        return []
    refuse_file(output)
    tasks = [
        task_for(file, originals, formats, output, update=False)
        for one in given
        for file, originals in one.files.items()
    ]
    refuse_overwriting(tasks, Folders(), [text for one in given for text in one.texts])
    refuse_existing(*(path for task in tasks for path in task.wanted), force=force)
    return tasks


def write_pages(
    tasks: Sequence[FileTask], pages: Sequence[PageProof], recognizer: Recognizer, formats: Mapping[str, Format]
) -> int:
    """Write the pages of each file in each format, without those that could not be read.

    Returns:
        The number of files that could not be written, or on which a person has worked, which are reported.
    """
    made_by, failed = recognizer.provenance(), 0
    sheets = {proof.original.name: proof.original.sheet(proof.page) for proof in pages}
    for task in tasks:
        read = [sheets.get(original.name) for original in task.originals]
        for name, format in formats.items():
            for path, document in task.documents(name, format, read, made_by):
                try:
                    make_folder(path.parent)
                    write_result(path, format.write(document), "choose another folder")
                except DataError as error:  # one failure must not lose the other files, after hours of reading
                    report_skipped(error)
                    failed += 1
    return failed
