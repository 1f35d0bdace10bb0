"""Fonts of a PDF: characters are numbered in order of appearance, and a ToUnicode map says what they are.

Source: ISO 32000-1, 9.7 and 9.10; OpenType 1.9.
"""

import struct
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pikepdf

UNITS = 1000
"""Units of widths and heights in the height of a font."""

MAX_SECTION = 100
"""Maximum number of entries in a section of a ToUnicode map: Adobe's rule for CMaps."""

SERIF = Path(__file__).with_name("serif.ttf")
"""A part of DejaVu Serif: the Latin and Greek letters, with signs."""


class NumberedFont(ABC):
    """Numbers characters; when all are known, `to_pdf` creates the font.

    name  the name of the font in a PDF
    box   left, descent, right and ascent
    """

    name: str
    box: tuple[int, int, int, int]

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    @abstractmethod
    def program(self) -> bytes:
        """The TrueType font."""

    @abstractmethod
    def glyph(self, character: str) -> int:
        """The glyph of a character; 0 if there is none."""

    @abstractmethod
    def advance(self, character: str) -> int:
        """The width of a character."""

    def encode(self, text: str) -> str:
        """Encode text as a hexadecimal PDF string."""
        # From 1, since 0 is the glyph of missing characters.
        return "".join(f"{self.codes.setdefault(character, len(self.codes) + 1):04X}" for character in text)

    def to_pdf(self, pdf: "pikepdf.Pdf") -> "pikepdf.Dictionary":
        """The font as objects of a PDF file."""
        from pikepdf import Dictionary, Name

        name, program, (_, descent, _, ascent) = Name(f"/{self.name}"), self.program(), self.box
        descriptor = Dictionary(
            Type=Name.FontDescriptor,
            FontName=name,
            Flags=4,  # symbolic: codes are ours, not those of a standard encoding
            FontBBox=list(self.box),
            ItalicAngle=0,
            Ascent=ascent,
            Descent=descent,
            CapHeight=ascent,
            StemV=80,
            FontFile2=pdf.make_stream(program, Length1=len(program)),
        )
        glyphs = [0, *map(self.glyph, self.codes)]
        descendant = Dictionary(
            Type=Name.Font,
            Subtype=Name.CIDFontType2,
            BaseFont=name,
            CIDSystemInfo=Dictionary(Registry="Adobe", Ordering="Identity", Supplement=0),
            FontDescriptor=pdf.make_indirect(descriptor),
            W=[1, list(map(self.advance, self.codes))],
            CIDToGIDMap=pdf.make_stream(struct.pack(f">{len(glyphs)}H", *glyphs)),
        )
        return Dictionary(
            Type=Name.Font,
            Subtype=Name.Type0,
            BaseFont=name,
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


class SerifFont(NumberedFont):
    """The font of texts for reading."""

    name = "DejaVuSerif"
    box = (-770, -347, 1680, 1110)  # of the table `head` of serif.ttf, in 1/1000 of its height

    def program(self) -> bytes:
        return SERIF.read_bytes()

    def glyph(self, character: str) -> int:
        return self.glyphs.get(ord(character), 0)

    def advance(self, character: str) -> int:
        return self.advances[min(self.glyph(character), len(self.advances) - 1)]

    @cached_property
    def tables(self) -> dict[bytes, bytes]:
        """The tables of the font by their tags."""
        data = self.program()
        records = (struct.unpack_from(">4s4xII", data, 12 + 16 * number) for number in range(int.from_bytes(data[4:6])))
        return {tag: data[start : start + length] for tag, start, length in records}

    @cached_property
    def glyphs(self) -> dict[int, int]:
        """Glyphs by code points, from the only subtable of the font, which has format 12."""
        [start] = struct.unpack_from(">I", self.tables[b"cmap"], 8)
        [number] = struct.unpack_from(">I", self.tables[b"cmap"], start + 12)
        groups = (struct.unpack_from(">3I", self.tables[b"cmap"], start + 16 + 12 * group) for group in range(number))
        return {code: glyph + code - first for first, last, glyph in groups for code in range(first, last + 1)}

    @cached_property
    def advances(self) -> list[int]:
        """The width of each glyph; those that are left out are as wide as the last."""
        [units] = struct.unpack_from(">H", self.tables[b"head"], 18)
        [number] = struct.unpack_from(">H", self.tables[b"hhea"], 34)
        widths = struct.unpack(f">{'H2x' * number}", self.tables[b"hmtx"][: 4 * number])
        return [round(UNITS * width / units) for width in widths]
