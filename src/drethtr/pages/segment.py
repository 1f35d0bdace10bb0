"""Find the lines, regions and reading order of pages without reading them: the first step in many programs."""

from collections.abc import Callable, Mapping

from drethtr.base.errors import DataError
from drethtr.base.files import is_there, make_folder
from drethtr.base.processors import free_processors
from drethtr.documents.document import Document, Provenance
from drethtr.documents.formats import Format
from drethtr.documents.page import Page
from drethtr.layout.order import arranged
from drethtr.pages.placing import ids_in, placed_line, regions_of
from drethtr.pages.results import refuse_replacing, write_result
from drethtr.pages.segmentation import Segmentation, name_of
from drethtr.pages.source import Original
from drethtr.pages.task import FileTask

KEPT = "without --force it is kept"


def segment_page(original: Original, segmentation: Segmentation, threads: int | None) -> Page:
    """A page with its lines, found or given, in regions and in reading order; only given ones have texts.

    Raises:
        DataError: if the image is damaged, or not the one that was described, or lines must be given and are not.
    """
    original = segmentation.prepare(original)
    gray = original.source.gray()
    given = original.given_for(gray)
    if given is not None and given.lines:
        return given
    height, width = gray.shape
    layout = arranged(segmentation.layout(original, gray, threads or free_processors()))
    lines = {
        number: placed_line(id, layout.lines[number], None, width, height) for number, id in ids_in(layout).items()
    }
    name = original.source.image_name if given is None else given.image
    return Page(name, width, height, regions_of(layout, lines, width, height))


def segment_file(
    task: FileTask,
    formats: Mapping[str, Format],
    segmentation: Segmentation,
    *,
    force: bool,
    threads: int | None,
    report: Callable[[str], object],
    skip: Callable[[DataError], object],
) -> int | None:
    """Write the pages of a file with their lines, one file for each; returns the number of lines written.

    Files that exist are kept; returns None if nothing was written.

    Args:
        force: Replace them, unless a person has corrected one, it was edited, or another program wrote it.
        report: Called with each remark on values of a description that were left out.
        skip: Called with the error of each page that cannot be used, or whose file cannot be written or replaced.
    """
    count = None
    for number, original in enumerate(task.originals):
        targets = {name: paths[number] for name, paths in task.targets.items() if force or not is_there(paths[number])}
        if not targets:
            continue
        try:
            for target in targets.values():
                refuse_replacing(target, KEPT)
            page = segment_page(original, segmentation, threads)
            for words in original.odd_values(page):
                report(words)
            document = Document((original.sheet(page),), Provenance.now(f"lines {name_of(segmentation)}"))
            for name, target in targets.items():
                make_folder(target.parent)
                write_result(target, formats[name].write(document), KEPT)
        except DataError as error:
            skip(error)
        else:
            count = (count or 0) + len(page.lines)
    return count
