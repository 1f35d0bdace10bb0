"""Edit lines of a PAGE or ALTO file: change their text, position or order, add or remove them.

    file = PageFile.parse(data, name)
    file = file.with_line(replace(line, baseline=baseline))
    file.data

Every change returns a new file that preserves all other bytes, including elements and attributes of other programs. A
line is identified by its id; its revision changes with its element.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from html import escape
from itertools import chain
from pathlib import Path
from typing import Self
from xml.etree import ElementTree as ET

from drethtr.base.errors import DataError
from drethtr.base.version import __version__
from drethtr.documents.editors import EDITORS, Editor
from drethtr.documents.markup import Edit, Element, Markup, apply
from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.read import Dialect, parse_page
from drethtr.documents.readers.parsed import Parsed

SIGNATURE = f"edited with drethtr {__version__}"


def revision_of(content: bytes) -> str:
    """A short digest of some bytes."""
    return blake2b(content, digest_size=8).hexdigest()


@dataclass(frozen=True)
class PageFile:
    """The bytes of a file, and their parsed content.

    image   the upright image of the page, if there is one: its file, and its size in pixels, the unit of all
            coordinates
    """

    data: bytes
    name: str
    markup: Markup
    dialect: Dialect
    parsed: Parsed
    image: tuple[Path, int, int] | None = None

    @classmethod
    def parse(cls, data: bytes, name: str, image: tuple[Path, int, int] | None = None) -> Self:
        """Parse a file.

        Args:
            data: Its bytes.
            name: Its name in error messages.
            image: The upright image of the page, with its width and height in pixels.

        Raises:
            DataError: if it is not PAGE or ALTO, is damaged, or describes an image of another aspect ratio.
        """
        file = cls(data, name, *parse_page(data, name, lambda _: image and image[1:]), image)
        assert file.page is not None  # raises if the image does not fit
        return file

    @cached_property
    def page(self) -> Page:
        """The page that the file describes, in pixels of its image."""
        return self.parsed.page.on_image(*self.image) if self.image else self.parsed.page

    @property
    def revision(self) -> str:
        """A digest of the file."""
        return revision_of(self.data)

    @property
    def editor(self) -> Editor:
        """A new editor for the file."""
        return EDITORS[self.dialect.root](self.markup, self.parsed)

    def revision_of(self, line_id: str) -> str:
        """A digest of the element of a line."""
        element = self.element(line_id)
        return revision_of(self.markup.utf8[element.start : element.end])

    def element(self, line_id: str) -> Element:
        """The element of a line.

        Raises:
            DataError: if there is none.
        """
        if line_id not in self.parsed.lines:
            raise DataError(f"{self.name}: contains no line {line_id!r}")
        return self.parsed.lines[line_id]

    def line(self, line_id: str) -> TextLine:
        """A line of the page.

        Raises:
            DataError: if there is none.
        """
        self.element(line_id)
        return next(line for line in self.page.lines if line.id == line_id)

    def with_line(self, line: TextLine) -> Self:
        """The file with a changed line; only what differs is written: text, words, review, baseline or polygon.

        Raises:
            DataError: if there is no such line.
        """
        before = self.line(line.id)
        file = self
        if (before.polygon, before.baseline) != (line.polygon, line.baseline):
            file = file.edited(file.editor.set_place(file.element(line.id), file.in_units(line)))
        text, old = line.transcription, before.transcription
        if text is None:
            return file.without_text(line.id).following(self) if old is not None else file
        if old is None or (old.text, old.words, old.confidence) != (text.text, text.words, text.confidence):
            file = file.edited(file.editor.set_text(file.element(line.id), file.in_units(line)))
        if (old.review if old else None) is not text.review:
            file = file.edited(file.editor.set_review(file.element(line.id), text.review))
        return file.following(self)

    def without_text(self, line_id: str) -> Self:
        """The file without the text, words and review of a line."""
        editor, element = self.editor, self.element(line_id)
        return self.edited([*editor.remove_text(element), *editor.set_review(element, None)])

    def with_new_line(self, line: TextLine, after: str | None) -> Self:
        """The file with a new line after the line `after`, in its region; if None, before all others.

        Raises:
            DataError: if there is no line `after`, or the new line has neither baseline nor polygon.
        """
        if not (line.baseline or line.polygon):
            raise DataError(f"{self.name}: a new line needs a baseline or a polygon")
        if not self.page.lines and self.editor.first_region() is None:
            return self.edited([self.editor.add_region()]).with_new_line(line, after)
        neighbor = after if after is not None else next((other.id for other in self.page.lines), None)
        order = self.order_beside(neighbor) if neighbor is not None else []
        place = order.index(after) + 1 if after is not None else 0
        order.insert(place, line.id)
        element = self.editor.new_line(self.in_units(line))
        file = self.edited([self.insertion(element, order, place)])
        file = file.with_line(replace(line, polygon=file.line(line.id).polygon, baseline=file.line(line.id).baseline))
        return (file.numbered(order) if self.is_numbered(neighbor) else file).following(self)

    def without_line(self, line_id: str) -> Self:
        """The file without a line and the references to it.

        Raises:
            DataError: if there is no such line.
        """
        references = (
            element
            for order in self.markup.root.children
            if order.name == "ReadingOrder"
            for element in order.walk()
            if element.attributes.get("REF") == line_id
        )
        return self.edited(map(self.editor.splicer.remove, (self.element(line_id), *references))).following(self)

    def with_line_moved(self, line_id: str, after: str | None) -> Self:
        """The file with a line moved after the line `after`, into its region; if None, before all others.

        Raises:
            DataError: if there is no such line, or a ReadingOrder element fixes the order of lines.
        """
        element, first = self.element(line_id), next(line.id for line in self.page.lines)
        if line_id == after or (after is None and line_id == first):
            return self
        if line_id in self.editor.fixed_order():
            raise DataError(f"{self.name}: its ReadingOrder fixes the order of lines; change it in the file")
        neighbor = after if after is not None else first
        numbered = self.is_numbered(neighbor)
        order = [other for other in self.order_beside(neighbor) if other != line_id]
        place = order.index(after) + 1 if after is not None else 0
        order.insert(place, line_id)
        content = self.markup.utf8[element.start : element.end]
        file = self.edited([self.editor.splicer.remove(element), self.insertion(content, order, place)])
        return (file.numbered(order) if numbered else file).following(self)

    def text(self) -> str:
        """The file as UTF-8 text, for comparisons."""
        return self.markup.utf8.decode()

    # Lines in units of the file.

    def in_units(self, line: TextLine) -> TextLine:
        """A line with its coordinates in units of the file instead of pixels."""
        if not all(self.parsed.size):
            return line
        [scaled] = replace(self.page, regions=(Region("", (line,)),)).resized(*self.parsed.size).lines
        return scaled

    def following(self, before: Self) -> Self:
        """Update the texts of whole regions, as in PAGE, where they equalled the lines in the file `before`."""
        edits = []
        texts = {region.id: joined(region) for region in before.page.regions}
        for region in self.page.regions:
            old, new = texts.get(region.id), joined(region)
            if old is not None and old != new and (unicode := self.editor.region_text(region.id)) is not None:
                rows = [row.strip() for row in unicode.text.strip().splitlines()]
                if "\n".join(rows) == old:
                    edits.append(Edit(unicode.inside, unicode.inside_end, escape(new, quote=False).encode()))
        return self.edited(edits)

    def edited(self, edits: Iterable[Edit]) -> Self:
        """Apply edits, and sign the file with a comment."""
        edits = list(edits)
        if not edits:
            return self
        if SIGNATURE.encode() not in self.markup.utf8:
            edits.append(self.editor.splicer.comment(SIGNATURE))
        return self.parse(self.markup.encode(apply(self.markup.utf8, edits)), self.name, self.image)

    def free_id(self, wanted: str) -> str:
        """The wanted id, or a similar unused one."""
        return self.editor.ids.claim(wanted)

    # Order and numbers of lines.

    def order_beside(self, line_id: str) -> list[str]:
        """The ids of all lines in a line's region, in reading order."""
        self.element(line_id)
        region = next(region for region in self.page.regions if any(line.id == line_id for line in region.lines))
        return [line.id for line in region.lines]

    def is_numbered(self, line_id: str | None) -> bool:
        """Whether the lines in a line's region are ordered by numbers in their attributes, as in PAGE."""
        return line_id is not None and self.editor.is_numbered(list(map(self.element, self.order_beside(line_id))))

    def numbered(self, order: Sequence[str]) -> Self:
        """The file with the lines of a region numbered in this order."""
        editor = self.editor
        edits = (editor.set_number(self.element(line_id), number) for number, line_id in enumerate(order))
        return self.edited(chain.from_iterable(edits))

    def insertion(self, new: ET.Element | bytes, order: Sequence[str], place: int) -> Edit:
        """Insert a line, new or as existing bytes, at a place in the order of its region."""
        before = self.element(order[place - 1]) if place else None
        after = self.element(order[place + 1]) if place + 1 < len(order) else None
        return self.editor.add_line(new, before, after)


def joined(region: Region) -> str:
    """The texts of the lines of a region, one per row."""
    return "\n".join(line.text for line in region.lines)
