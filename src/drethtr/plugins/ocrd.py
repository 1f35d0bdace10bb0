"""A processor for OCR-D 3: `ocrd-drethtr-recognize -I OCR-D-SEG -O OCR-D-OCR` reads the lines of a workspace.

Lines from earlier steps are straightened and read as by `drethtr transcribe`; the rest of their PAGE files is
preserved. On pages without lines, lines are detected. Derived images that earlier steps cropped, rotated or binarized
are not used, since all coordinates refer to the scan.
"""

from pathlib import Path
from typing import Any

import click
from ocrd import OcrdPageResult, Processor
from ocrd.decorators import ocrd_cli_options, ocrd_cli_wrap_processor
from ocrd_models.ocrd_page import OcrdPage, parseString, to_xml

from drethtr.documents.document import Document, Provenance, Scan, Sheet
from drethtr.documents.page import Page
from drethtr.documents.page_xml.writer import write_page_xml
from drethtr.documents.read import parse_page
from drethtr.documents.update import update
from drethtr.images.line import gray_from_image
from drethtr.layout.finder import Layout
from drethtr.layout.finders import finder_named
from drethtr.pages.segmentation import FoundBy
from drethtr.pages.transcribe import PageReader, SegmentedPage
from drethtr.recognition.recognizer import Recognizer

EXECUTABLE = "ocrd-drethtr-recognize"

CHANGED = "cropped,deskewed,rotated-90,rotated-180,rotated-270,binarized,grayscale_normalized,despeckled,dewarped"
"""Features of derived images; excluding them leaves the scan."""


class Recognize(Processor):  # type: ignore[misc]
    """Reads the lines of pages; the first input group holds PAGE files or images."""

    metadata_filename = "plugins/ocrd-tool.json"
    max_workers = 1  # the model has its own threads
    recognizer: Recognizer

    @property
    def executable(self) -> str:
        """The name of the command, and of its entry in `ocrd-tool.json`."""
        return EXECUTABLE

    def setup(self) -> None:
        """Load the model, once for all pages."""
        model = self.parameter["model"]
        path = self.resolve_resource(model) if model else None
        self.recognizer = Recognizer.load(path, decoder=self.parameter["decoder"] or None)

    def process_page_pcgts(self, *input_pcgts: OcrdPage | None, page_id: str | None = None) -> OcrdPageResult:
        """Read one page."""
        [pcgts, *_] = input_pcgts
        if pcgts is None:
            raise ValueError(f"page {page_id} has no PAGE file and no image")
        name = str(page_id)
        image, *_ = self.workspace.image_from_page(pcgts.get_Page(), page_id, feature_filter=CHANGED)
        gray = gray_from_image(image, name, upright=False)
        data = to_xml(pcgts).encode()
        given = parse_page(data, name, lambda _: image.size)[2].page
        made_by = self.recognizer.provenance()
        described = given.on_image(Path(pcgts.get_Page().imageFilename), *image.size) if given.lines else None
        finder = finder_named(self.parameter["lines"]).with_threads(self.recognizer.threads)
        segmented = SegmentedPage.of(
            gray, given.image, described, self.recognizer, lambda page: Layout.of(finder.find(page))
        )
        page = PageReader(self.recognizer, FoundBy(finder)).read(segmented)
        read = update(data, page, made_by, replace=True, name=name) if given.lines else written(page, image, made_by)
        return OcrdPageResult(parseString(read, silence=True))


def written(page: Page, image: Any, made_by: Provenance) -> bytes:
    """Write a page with detected lines as PAGE XML."""
    return write_page_xml(Document((Sheet(page, Scan(lambda: image)),), made_by))


@click.command()
@ocrd_cli_options  # type: ignore[untyped-decorator]
def command(*args: Any, **options: Any) -> Any:
    """Read the lines of a workspace; the options are those of every OCR-D processor."""
    return ocrd_cli_wrap_processor(Recognize, *args, **options)
