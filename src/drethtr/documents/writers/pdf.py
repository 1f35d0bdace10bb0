"""Write a searchable PDF: scans with an invisible text layer, each turned so that most of its text is upright.

JPEG files are embedded unchanged, bilevel images as CCITT fax, and other scans as JPEG. Pages of a source PDF are kept
and get the layer on top.

PDF/A-2b, the archival PDF, contains all that is needed to show a page: pages of a source PDF are rendered as scans,
since their fonts and colors may depend on external resources. Source: ISO 19005-2.
"""

import io
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from PIL import Image, ImageCms
from PIL.TiffImagePlugin import ROWSPERSTRIP, STRIPBYTECOUNTS, STRIPOFFSETS, TiffImageFile

from drethtr.base.errors import DataError
from drethtr.base.sandbox import SECONDS, Answer, sandboxed
from drethtr.documents.document import Document, Scan, Sheet
from drethtr.documents.markup import clean
from drethtr.documents.page import Page
from drethtr.documents.writers.text_layer import BEGINNING, FONT, GlyphlessFont, Matrix, operands, text_layer, turn_of
from drethtr.images.decode import ORIENTATION, QUARTER_TURNS

if TYPE_CHECKING:
    import pikepdf

POINTS_PER_INCH = 72
USUAL_DPI = 300.0  # for scans without a resolution; archives usually scan at this
MIN_DPI, MAX_DPI = 100, 2400
"""A resolution outside these limits is not real but some program's default, usually 72."""

MIN_SIDE, MAX_SIDE = 3.0, 14_400.0
"""The smallest and largest pages of PDF 1.7, in points."""

MAX_RATIO = 3
"""Maximum ratio of horizontal and vertical resolution: a coarse fax has 204 and 98."""

JPEG_QUALITY = 85  # only for scans that PDF cannot embed unchanged
MAX_JPEG_SIDE = 65_500
"""Longest side in pixels that libjpeg can write."""

OF_ANOTHER_TYPE = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError)
"""Errors from objects of the wrong type in a damaged PDF: a box that is no list, an angle that is no number."""

SECONDS_PER_PAGE = 1.0
"""Additional time limit per page of a source PDF."""

COLORS = "sRGB IEC61966-2.1"

DATE = slice(24, 36)
"""The bytes of an ICC profile with its date: year, month, day, hour, minute and second (ICC.1, 7.2.8)."""

# A fixed date, so that the same document always gives the same bytes.
PROFILE_DATE = struct.pack(">6H", 2000, 1, 1, 0, 0, 0)

# Maps the unit square of an image to the unit square of the page, by EXIF orientation.
TURNS: dict[int, Matrix] = {
    1: (1, 0, 0, 1, 0, 0),
    2: (-1, 0, 0, 1, 1, 0),
    3: (-1, 0, 0, -1, 1, 1),
    4: (1, 0, 0, -1, 0, 1),
    5: (0, -1, -1, 0, 1, 1),
    6: (0, -1, 1, 0, 0, 1),
    7: (0, 1, 1, 0, 0, 0),
    8: (0, 1, -1, 0, 1, 0),
}

OUR_LAYER = re.compile(rf"(?:Q )+{re.escape(BEGINNING)}".encode())
"""The beginning of a text layer of ours, behind the state of the page's content."""


class Picture(NamedTuple):
    """An encoded scan: stream, dictionary entries, the matrix that turns it upright, and resolution."""

    stream: bytes
    entries: dict[str, object]
    turn: Matrix = TURNS[1]
    dpi: tuple[float, float] = (USUAL_DPI, USUAL_DPI)


def write_pdf(document: Document) -> bytes:
    """Write all pages of a document.

    Raises:
        DataError: if the source PDF cannot be opened, or has a different number of pages.
    """
    import pikepdf

    if document.pdf is not None:
        pages = document.pages
        seconds = SECONDS + SECONDS_PER_PAGE * len(pages)
        _, content = sandboxed(str(document.pdf), add_to, document.pdf, pages, information(document), seconds=seconds)
        return bytes(content)
    with pikepdf.new() as pdf:
        for sheet in document.sheets:
            add_scan(pdf, sheet)
        return finished(pdf, document.pages, information(document))


def information(document: Document) -> dict[str, str]:
    """The document information of a PDF."""
    title = {"/Title": clean(document.about.title)} if document.about.title else {}
    return {"/Producer": str(document.provenance), **title}


def add_to(path: Path, pages: Sequence[Page], info: Mapping[str, str]) -> Answer:
    """Add the text of its pages to a PDF; `write_pdf` calls this in a child process with limits.

    Raises:
        DataError: if it cannot be opened, or has a different number of pages.
    """
    with opened(path, len(pages)) as pdf:
        return None, memoryview(finished(pdf, pages, info))


def finished(pdf: "pikepdf.Pdf", pages: Sequence[Page], info: Mapping[str, str]) -> bytes:
    """Add the text and the document information to a PDF, and return its bytes."""
    add_texts(pdf, pages)
    return saved(pdf, info)


def saved(pdf: "pikepdf.Pdf", info: Mapping[str, str]) -> bytes:
    """The bytes of a PDF with its document information, reproducible for the same content."""
    from pikepdf import ObjectStreamMode

    for name, value in info.items():
        pdf.docinfo[name] = value
    file = io.BytesIO()
    pdf.save(file, object_stream_mode=ObjectStreamMode.generate, deterministic_id=True)
    return file.getvalue()


@contextmanager
def opened(path: Path, pages: int) -> "Iterator[pikepdf.Pdf]":
    """Open the source PDF; damage that appears only while it is rewritten is reported, too."""
    import pikepdf

    try:
        with pikepdf.open(path) as pdf:
            if len(pdf.pages) != pages:
                raise DataError(f"contains {len(pdf.pages)} pages, but {pages} were read", path)
            yield pdf
    except pikepdf.PasswordError as error:
        raise DataError("requires a password; save it without one", path) from error
    except (pikepdf.PdfError, OSError, *OF_ANOTHER_TYPE) as error:
        raise DataError(f"cannot be read as a PDF: {error}", path) from error


def add_scan(pdf: "pikepdf.Pdf", sheet: Sheet, *, inks: bool = True) -> None:
    """Add a page that shows a scan; `inks` says whether a CMYK file may stay as it is."""
    from pikepdf import Dictionary, Name

    picture = encode(sheet.scan, inks=inks)
    across, down = picture.dpi
    width, height = page_side(sheet.page.width, across), page_side(sheet.page.height, down)
    page = pdf.add_blank_page(page_size=(width, height))
    entries: dict[str, Any] = {"Type": Name.XObject, "Subtype": Name.Image, **picture.entries}
    image = pdf.make_stream(picture.stream, Dictionary(**entries))
    name = page.add_resource(image, Name.XObject, Name.Scan)
    a, b, c, d, e, f = picture.turn
    placed = (a * width, b * height, c * width, d * height, e * width, f * height)
    page.contents_add(f"q {operands(placed)} cm {name} Do Q".encode())


def page_side(pixels: int, dpi: float) -> float:
    """Width or height of a page in points, within the limits of PDF."""
    return min(max(POINTS_PER_INCH * pixels / dpi, MIN_SIDE), MAX_SIDE)


def add_texts(pdf: "pikepdf.Pdf", contents: Iterable[Page]) -> None:
    """Add the text of every page, and turn pages upright."""
    from pikepdf import Dictionary

    glyphless, font = GlyphlessFont(), pdf.make_indirect(Dictionary())
    for page, content in zip(pdf.pages, contents, strict=True):
        add_text(page, content, glyphless, font)
        if turn := turn_of(content):
            page.rotate(turn, relative=True)
    # Last, since only now are all characters that the font must map numbered.
    for key, value in glyphless.to_pdf(pdf).items():
        font[key] = value


def add_text(page: "pikepdf.Page", content: Page, glyphless: GlyphlessFont, font: "pikepdf.Object") -> None:
    """Add the text of a page on top of its content, whose graphics state is isolated from the text."""
    from pikepdf import Name

    remove_text(page)
    # Without q and Q, a matrix or clipping path that the page leaves set would move or hide the text.
    saved, restored = saves_around(page)
    page.add_resource(font, Name.Font, Name(FONT))
    page.contents_add(b"q " * saved, prepend=True)
    page.contents_add(b"Q " * restored + text_layer(content, glyphless, to_user_space(page, content)))


def saves_around(page: "pikepdf.Page") -> tuple[int, int]:
    """The numbers of q before and Q after the content of a page that restore the graphics state.

    Scanners leave q open, and other programs write surplus Q, which would undo ours.
    """
    import pikepdf

    depth = lowest = 0
    try:
        for instruction in pikepdf.parse_content_stream(page, "q Q"):
            depth += 1 if str(instruction.operator) == "q" else -1
            lowest = min(lowest, depth)
    except (pikepdf.PdfError, *OF_ANOTHER_TYPE):
        return 1, 1  # viewers draw what comes before the damage, so the layer is still added
    return 1 - lowest, 1 - lowest + depth


def remove_text(page: "pikepdf.Page") -> None:
    """Remove the text layer of an earlier run, so that a search does not find both."""
    from pikepdf import Array, Stream

    streams = page.obj.get("/Contents")
    if not isinstance(streams, Array):
        return
    whole = [stream for stream in streams if isinstance(stream, Stream)]  # damaged files may contain anything
    # Only a layer that begins with our mark is ours; that of another program stays.
    if len(whole) > 1 and OUR_LAYER.match(whole[-1].read_bytes()):
        whole = whole[1:-1]
    page.obj.Contents = Array(whole)


def to_user_space(page: "pikepdf.Page", content: Page) -> Matrix:
    """The matrix from pixels of the page as shown, cropped and rotated, to PDF coordinates."""
    left, bottom, right, top = shown_box(page)
    turn = int(page.obj.get("/Rotate", 0)) % 360
    # /Rotate turns the page clockwise when it is shown, so that its width is the height of the image.
    across, down = (content.height, content.width) if turn in (90, 270) else (content.width, content.height)
    wide, high = (right - left) / (across or 1), (top - bottom) / (down or 1)
    match turn:
        case 90:
            return 0, high, wide, 0, left, bottom
        case 180:
            return -wide, 0, 0, high, right, bottom
        case 270:
            return 0, -high, -wide, 0, right, top
        case _:
            return wide, 0, 0, -high, left, top


def shown_box(page: "pikepdf.Page") -> tuple[float, float, float, float]:
    """The visible part of a page: its crop box within the media box."""
    media, crop = (corners(map(float, box)) for box in (page.mediabox, page.cropbox))
    shown = max(media[0], crop[0]), max(media[1], crop[1]), min(media[2], crop[2]), min(media[3], crop[3])
    return shown if shown[0] < shown[2] and shown[1] < shown[3] else media


def corners(box: Iterable[float]) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of a box given by any two of its corners."""
    x, y, u, v = box
    return min(x, u), min(y, v), max(x, u), max(y, v)


def encode(scan: Scan, *, inks: bool = True) -> Picture:
    """Encode a scan for a PDF, as small as possible without visible loss."""
    jpeg = jpeg_as_it_is(scan.file, inks=inks) if scan.file else None
    if jpeg:
        return jpeg
    image = scan.load()
    dpi = resolution(image)
    if image.mode == "1":  # group 4 is lossless, and smaller than JPEG
        return fax(image, dpi)
    if image.mode != "L":
        image = image.convert("RGB")
    if max(image.size) > MAX_JPEG_SIDE:
        return Picture(zlib.compress(image.tobytes()), image_entries(image, "/FlateDecode"), dpi=dpi)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=JPEG_QUALITY)
    return Picture(file.getvalue(), image_entries(image, "/DCTDecode"), dpi=dpi)


def jpeg_as_it_is(path: Path, *, inks: bool) -> Picture | None:
    """The unchanged bytes of a JPEG file; None for other files, and for one in CMYK without `inks`."""
    try:
        image = Image.open(path, formats=["JPEG"])
    except OSError:
        return None
    with image:
        if image.mode == "CMYK" and not inks:
            return None
        entries = image_entries(image, "/DCTDecode")
        if image.mode == "CMYK" and "adobe" in image.info:
            entries["Decode"] = [1, 0] * 4  # Adobe's programs store inverted CMYK
        orientation = image.getexif().get(ORIENTATION, 1)
        across, down = resolution(image)
        # The stream stays as stored; the matrix turns it, and may exchange the two resolutions.
        dpi = (down, across) if orientation in QUARTER_TURNS else (across, down)
        return Picture(path.read_bytes(), entries, TURNS.get(orientation, TURNS[1]), dpi)


def fax(image: Image.Image, dpi: tuple[float, float]) -> Picture:
    """Encode a bilevel image as CCITT group 4, through a TIFF with a single strip."""
    from pikepdf import Dictionary

    file = io.BytesIO()
    # Pillow writes group 4 only into TIFF; one strip is the whole stream that PDF wants.
    image.save(file, "TIFF", compression="group4", tiffinfo={ROWSPERSTRIP: image.height})
    with Image.open(file) as tiff:
        tags = cast("TiffImageFile", tiff).tag_v2
        [start], [length] = tags[STRIPOFFSETS], tags[STRIPBYTECOUNTS]
    parameters = Dictionary(K=-1, Columns=image.width, Rows=image.height, BlackIs1=True)
    entries = image_entries(image, "/CCITTFaxDecode") | {"BitsPerComponent": 1, "DecodeParms": parameters}
    return Picture(file.getvalue()[start : start + length], entries, dpi=dpi)


def image_entries(image: Image.Image, filter: str) -> dict[str, object]:
    """The dictionary entries of an image."""
    from pikepdf import Name

    space = {"1": Name.DeviceGray, "L": Name.DeviceGray, "CMYK": Name.DeviceCMYK}.get(image.mode, Name.DeviceRGB)
    size = {"Width": image.width, "Height": image.height, "BitsPerComponent": 8}
    return {**size, "ColorSpace": space, "Filter": Name(filter)}


def resolution(image: Image.Image) -> tuple[float, float]:
    """The horizontal and vertical resolution of an image, or the default if implausible; damaged tags may be NaN."""
    across, down = map(float, image.info.get("dpi", (0, 0)))
    believable = MIN_DPI <= across <= MAX_DPI and across / MAX_RATIO <= down <= across * MAX_RATIO
    return (across, down) if believable else (USUAL_DPI, USUAL_DPI)


def write_pdf_a(document: Document) -> bytes:
    """Write all pages of a document."""
    import pikepdf

    with pikepdf.new() as pdf:
        for sheet in document.sheets:
            add_scan(pdf, sheet, inks=False)  # which the sRGB output intent does not cover
        add_texts(pdf, document.pages)
        add_output_intent(pdf)
        describe(pdf, document)
        return saved(pdf, {})


def add_output_intent(pdf: "pikepdf.Pdf") -> None:
    """Declare that colors and grays are sRGB."""
    from pikepdf import Array, Dictionary, Name

    profile = pdf.make_stream(srgb_profile(), N=3)
    intent = Dictionary(
        Type=Name.OutputIntent,
        S=Name.GTS_PDFA1,
        OutputConditionIdentifier=COLORS,
        Info=COLORS,
        DestOutputProfile=profile,
    )
    pdf.Root.OutputIntents = Array([pdf.make_indirect(intent)])


def srgb_profile() -> bytes:
    """An ICC profile of sRGB, always dated alike, so that the same document gives the same bytes at any time."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return profile[: DATE.start] + PROFILE_DATE + profile[DATE.stop :]


def describe(pdf: "pikepdf.Pdf", document: Document) -> None:
    """Add metadata for conformance, title and provenance, as XMP and in the document information."""
    provenance, title = document.provenance, clean(document.about.title)
    with pdf.open_metadata(set_pikepdf_as_editor=False) as metadata:
        metadata["pdfaid:part"] = "2"
        metadata["pdfaid:conformance"] = "B"
        metadata["pdf:Producer"] = str(provenance)
        if title:
            metadata["dc:title"] = title
        metadata["xmp:CreateDate"] = metadata["xmp:ModifyDate"] = provenance.timestamp
