"""Write PDF/A-2b, the archival PDF: the file contains all that is needed to show a page.

Pages of a source PDF are rendered as scans, since their fonts and colors may depend on external resources.
Source: ISO 19005-2.
"""

import struct
from dataclasses import replace
from typing import TYPE_CHECKING

from PIL import Image, ImageCms

from drethtr.documents.document import Document, Provenance, Scan
from drethtr.documents.writers.pdf import add_scan, add_texts, saved

if TYPE_CHECKING:
    import pikepdf

COLORS = "sRGB IEC61966-2.1"

DATE = slice(24, 36)
"""The bytes of an ICC profile that say when it was made: year, month, day, hour, minute and second (ICC.1, 7.2.8)."""

PROFILE_DATE = struct.pack(">6H", 2000, 1, 1, 0, 0, 0)


def write_pdf_a(document: Document) -> bytes:
    """Write all pages of a document."""
    import pikepdf

    with pikepdf.new() as pdf:
        for sheet in document.sheets:
            add_scan(pdf, replace(sheet, scan=without_ink_colors(sheet.scan)))
        add_texts(pdf, document.pages)
        add_output_intent(pdf)
        describe(pdf, document.provenance)
        return saved(pdf)


def without_ink_colors(scan: Scan) -> Scan:
    """The scan without its file if that is CMYK, which the sRGB output intent does not cover."""
    if scan.file is None:
        return scan
    with Image.open(scan.file) as image:
        return replace(scan, file=None) if image.mode == "CMYK" else scan


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


def describe(pdf: "pikepdf.Pdf", provenance: Provenance) -> None:
    """Add metadata for conformance and provenance, as XMP and in the document information."""
    with pdf.open_metadata(set_pikepdf_as_editor=False) as metadata:
        metadata["pdfaid:part"] = "2"
        metadata["pdfaid:conformance"] = "B"
        metadata["pdf:Producer"] = str(provenance)
        metadata["xmp:CreateDate"] = metadata["xmp:ModifyDate"] = provenance.timestamp
