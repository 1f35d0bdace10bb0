"""A font without visible glyphs that covers all of Unicode, for text that is only searched and copied.

Characters are numbered in order of appearance; the font's ToUnicode map says what they are. All share the one glyph of
a TrueType font of a few hundred bytes: two separate points, which leave no mark but span a box, since PDF readers
ignore text without a box. It is glyph 1, since PDF/A forbids text in glyph 0, the sign for missing characters.
Source: ISO 32000-1, 9.7 and 9.10; OpenType 1.9.
"""

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pikepdf

UNITS = 1000
ASCENT, DESCENT = 800, -200
ADVANCE = 500
"""Width of every character: half the font height; words are scaled to fit."""

BOX_HEIGHT = 500
"""Height of the glyph above the baseline: low, so that adjacent lines do not appear to overlap."""

MAX_SECTION = 100
"""Maximum number of entries in a section of a ToUnicode map."""

VERSION = 0x00010000
MAGIC = 0x5F0F3CF5
CHECKSUM_OF_FONT = 0xB1B0AFBA


class GlyphlessFont:
    """Numbers characters; when all are known, `to_pdf` creates the font."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def encode(self, text: str) -> str:
        """Encode text as a hexadecimal PDF string."""
        return "".join(f"{self.codes.setdefault(character, len(self.codes) + 1):04X}" for character in text)

    def to_pdf(self, pdf: "pikepdf.Pdf") -> "pikepdf.Dictionary":
        """The font as objects of a PDF file."""
        from pikepdf import Dictionary, Name

        descriptor = Dictionary(
            Type=Name.FontDescriptor,
            FontName=Name.Glyphless,
            Flags=4,
            FontBBox=[0, DESCENT, ADVANCE, ASCENT],
            ItalicAngle=0,
            Ascent=ASCENT,
            Descent=DESCENT,
            CapHeight=ASCENT,
            StemV=80,
            FontFile2=pdf.make_stream(truetype(), Length1=len(truetype())),
        )
        descendant = Dictionary(
            Type=Name.Font,
            Subtype=Name.CIDFontType2,
            BaseFont=Name.Glyphless,
            CIDSystemInfo=Dictionary(Registry="Adobe", Ordering="Identity", Supplement=0),
            FontDescriptor=pdf.make_indirect(descriptor),
            DW=ADVANCE,
            CIDToGIDMap=pdf.make_stream(bytes((0, 0)) + bytes((0, 1)) * len(self.codes)),
        )
        return Dictionary(
            Type=Name.Font,
            Subtype=Name.Type0,
            BaseFont=Name.Glyphless,
            Encoding=Name("/Identity-H"),
            DescendantFonts=[pdf.make_indirect(descendant)],
            ToUnicode=pdf.make_stream(self.to_unicode()),
        )

    def to_unicode(self) -> bytes:
        """The ToUnicode map from numbers to characters."""
        entries = [f"<{code:04X}> <{text.encode('utf-16-be').hex().upper()}>" for text, code in self.codes.items()]
        sections = [entries[start : start + MAX_SECTION] for start in range(0, len(entries), MAX_SECTION)]
        rows = [
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap",
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def",
            "/CMapName /Adobe-Identity-UCS def /CMapType 2 def",
            "1 begincodespacerange <0000> <FFFF> endcodespacerange",
            *(row for section in sections for row in (f"{len(section)} beginbfchar", *section, "endbfchar")),
            "endcmap CMapName currentdict /CMap defineresource pop end end",
        ]
        return "\n".join(rows).encode()


def truetype() -> bytes:
    """A minimal TrueType font: an empty glyph, and one of two contours with one point each."""
    glyph = struct.pack(">hhhhhHHHBBhhhh", 2, 0, 0, ADVANCE, BOX_HEIGHT, 0, 1, 0, 1, 1, 0, ADVANCE, 0, BOX_HEIGHT)
    tables = {
        b"glyf": glyph + bytes(-len(glyph) % 4),
        b"head": struct.pack(
            ">IIIIHHqqhhhhHHhhh",
            *(VERSION, VERSION, 0, MAGIC, 0, UNITS, 0, 0),
            *(0, 0, ADVANCE, BOX_HEIGHT, 0, 8, 2, 0, 0),
        ),
        b"hhea": struct.pack(">IhhhHhhhhhhhhhhhH", VERSION, ASCENT, DESCENT, 0, ADVANCE, *[0] * 11, 2),
        b"hmtx": struct.pack(">HhHh", ADVANCE, 0, ADVANCE, 0),
        b"loca": struct.pack(">HHH", 0, 0, (len(glyph) + 3) // 4 * 2),
        b"maxp": struct.pack(">IHHHHHHHHHHHHHH", VERSION, 2, 2, 2, 0, 0, 1, *[0] * 8),
    }
    directory, body = b"", b""
    start = 12 + 16 * len(tables)
    for tag, content in tables.items():
        padded = content + bytes(-len(content) % 4)
        directory += struct.pack(">4sIII", tag, checksum(padded), start + len(body), len(content))
        body += padded
    font = struct.pack(">IHHHH", VERSION, len(tables), 64, 2, 32) + directory + body
    # The sum over the whole file must be `CHECKSUM_OF_FONT`, counted while this field is 0.
    adjustment = font.index(struct.pack(">I", MAGIC)) - 4
    correction = struct.pack(">I", (CHECKSUM_OF_FONT - checksum(font)) % 2**32)
    return font[:adjustment] + correction + font[adjustment + 4 :]


def checksum(content: bytes) -> int:
    """The sum of all 32-bit words."""
    return sum(int.from_bytes(content[start : start + 4]) for start in range(0, len(content), 4)) % 2**32
