"""Edit lines of a PAGE or ALTO file: change their text, position or order, add or remove them.

    file = PageFile.parse(data, name)
    file = file.with_line(replace(line, baseline=baseline))
    file.data

Every change returns a new file that preserves all other bytes, including elements and attributes of other programs. A
line is identified by its id; its revision changes with its element. Lines without an id of their own are numbered; once
lines are added, removed or moved, that id is written to the file.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from html import escape
from itertools import chain
from pathlib import Path
from typing import Self

from drethtr.base.errors import DataError
from drethtr.base.version import __version__
from drethtr.documents.editor import Editor
from drethtr.documents.markup import Edit, Element, Markup, apply, clean
from drethtr.documents.page import Page, Parsed, Region, TextLine
from drethtr.documents.read import Dialect, made_here, parse_page
from drethtr.documents.transcription import PageWord, Tag, Transcription

EDITED = "edited with drethtr "
SIGNATURE = f"{EDITED}{__version__}"
"""A comment in files that a person has edited, maybe only the layout; in all versions it begins with `EDITED`."""

READING = f"read with drethtr {__version__}"
"""A comment in files with texts from a model on which nobody has worked."""


def revision_of(content: bytes) -> str:
    """A short digest of some bytes."""
    return blake2b(content, digest_size=8).hexdigest()


@dataclass(frozen=True)
class PageFile:
    """The bytes of a file, and their parsed content.

    image        the upright image of the page, if there is one: its file, and its size in pixels, the unit of all
                 coordinates
    orientation  the EXIF orientation of the image, if the file describes its stored pixels; else 1
    gone         ids of earlier lines, which new ones do not get
    """

    data: bytes
    name: str
    markup: Markup
    dialect: Dialect
    parsed: Parsed
    image: tuple[Path, int, int] | None = None
    orientation: int = 1
    gone: frozenset[str] = frozenset()

    @classmethod
    def parse(
        cls,
        data: bytes,
        name: str,
        image: tuple[Path, int, int] | None = None,
        turned: Callable[[Page], int] = lambda page: 1,
    ) -> Self:
        """Parse a file.

        Args:
            data: Its bytes.
            name: Its name in error messages.
            image: The upright image of the page, with its width and height in pixels.
            turned: Returns the EXIF orientation of the image if a page describes its stored pixels, else 1.

        Raises:
            DataError: if it is not PAGE or ALTO, is damaged, or describes an image of another aspect ratio.
        """
        markup, dialect, parsed = parse_page(data, name, lambda _: image and image[1:])
        file = cls(data, name, markup, dialect, parsed, image, turned(parsed.page))
        assert file.page is not None  # raises if the image does not fit
        return file

    @cached_property
    def page(self) -> Page:
        """The page that the file describes, in pixels of its image."""
        return self.parsed.page.on_image(*self.image, self.orientation) if self.image else self.parsed.page

    @cached_property
    def made_here(self) -> bool:
        """Whether drethtr created the file, not only edited it."""
        return made_here(self.data)

    @cached_property
    def lines(self) -> Mapping[str, TextLine]:
        """The lines of the page by their ids."""
        return {line.id: line for line in self.page.lines}

    @property
    def revision(self) -> str:
        """A digest of the file."""
        return revision_of(self.data)

    def new_editor(self) -> Editor:
        """A new editor for the file, which assigns each id once; another one may assign the same."""
        editor = self.dialect.editor(self.markup, self.parsed)
        if self.gone:  # otherwise ids are searched only when needed
            editor.ids.taken.update(self.gone)
        return editor

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
            raise DataError(f"contains no line {line_id!r}", self.name)
        return self.parsed.lines[line_id]

    def lost_tags(self, line_id: str, text: str) -> Sequence[str]:
        """The tags of people on a line that would be lost with a new text, because all that they mark is gone."""
        return self.new_editor().lost_tags(self.element(line_id), text)

    def line(self, line_id: str) -> TextLine:
        """A line of the page.

        Raises:
            DataError: if there is none.
        """
        self.element(line_id)
        return self.lines[line_id]

    def with_line(self, line: TextLine) -> Self:
        """The file with a changed line, as `with_lines`."""
        return self.with_lines([line])

    def with_lines(self, lines: Sequence[TextLine]) -> Self:
        """The file with changed lines; only what differs is written: text, words, review, baseline or polygon.

        Raises:
            DataError: if there is no such line.
        """
        return self.with_places(lines).with_texts(lines)

    def with_places(self, lines: Iterable[TextLine]) -> Self:
        """The file with new baselines and polygons, where they differ."""
        editor, edits = self.new_editor(), list[Edit]()
        for new in lines:
            old = self.line(new.id)
            if (old.polygon, old.baseline) != (new.polygon, new.baseline):
                edits += editor.set_place(self.element(new.id), self.in_units(new))
        return self.edited(edits)

    def with_texts(self, lines: Iterable[TextLine], signature: str = SIGNATURE) -> Self:
        """The file with new texts, words, confidences and reviews, where they differ.

        All of it is one set of edits, so that a corrected line needs the file parsed once more. Edits must not overlap,
        and text and review share an attribute in PAGE: an editor sets both in one step.
        """
        editor, edits, changed = self.new_editor(), list[Edit](), dict[str, TextLine]()
        for new in lines:
            old, element = self.line(new.id), self.element(new.id)
            before, after = old.transcription, new.transcription
            reviewed = old.review is not new.review
            if after is not None and (before is None or written_of(before) != written_of(after)):
                set_text = editor.set_text_and_review if reviewed else editor.set_text
                edits += set_text(element, self.in_units(new), self.in_units(old))
            elif after is None and before is not None:
                edits += editor.remove_text(element)
            elif reviewed:
                edits += editor.set_review(element, new.review)
            changed[new.id] = as_read(new)
        after_all = self.page.with_lines(lambda line: changed.get(line.id, line))
        return self.edited([*edits, *self.region_edits(self.page, after_all)], signature)

    def with_tags(self, line_id: str, tags: Sequence[Tag]) -> Self:
        """The file with other tags on a line.

        Raises:
            DataError: if there is no such line, or the format has no tags.
        """
        return self.edited(self.new_editor().set_tags(self.element(line_id), tags))

    def with_lines_after(self, new: Mapping[str | None, Sequence[TextLine]]) -> Self:
        """The file with new lines after lines that it has, in their regions; those after None are its first.

        Raises:
            DataError: if it has no such line, or a new one has neither baseline nor polygon.
        """
        added = [line for lines in new.values() for line in lines]
        if not all(line.is_placed for line in added):
            raise DataError("a new line needs a baseline or a polygon", self.name)
        if (with_ids := self.with_ids()) is not self:
            return with_ids.with_lines_after(new)
        editor, edits = self.new_editor(), list[Edit]()
        first = next(iter(self.lines), None)
        if first is None and editor.first_region() is None:
            return self.edited([editor.add_region()]).with_lines_after(new)
        start = None if first is None else self.element(first)
        for after, lines in new.items():
            elements = [editor.new_line(self.in_units(line)) for line in lines]
            place = (None, start) if after is None else (self.element(after), None)
            edits.append(editor.add_lines(elements, *place))
        # Places first, then texts: an editor changes elements that it knows from the file, and these are new.
        file = self.edited(edits)
        file = file.with_lines([replace(file.line(line.id), transcription=line.transcription) for line in added])
        ahead = {first: new.get(None, ())}
        editor, edits = file.new_editor(), []
        for region in self.page.regions:
            here = list(region.lines)
            order = [one.id for line in here for one in (*ahead.get(line.id, ()), line, *new.get(line.id, ()))]
            if len(order) > len(here) and editor.is_numbered([self.element(line.id) for line in here]):
                edits += file.numbering(editor, order)
        return file.edited(edits).following(self)

    def without_lines(self, line_ids: Collection[str]) -> Self:
        """The file without some lines and the references to them.

        Raises:
            DataError: if there is no such line.
        """
        file = self.with_ids()
        elements = [file.element(line) for line in line_ids]
        references = [
            element
            for order in file.markup.root.children
            if order.name == "ReadingOrder"
            for element in order.walk()
            if element.attributes.get("REF") in line_ids
        ]
        return file.edited(map(file.new_editor().splicer.remove, (*elements, *references))).following(self)

    def with_regions(self, regions: Sequence[Region]) -> Self:
        """The file with these regions in this order, each with its lines in order.

        Lines and regions of the file keep their elements and all that others wrote there. Regions with other ids are
        new; regions that are left out, and have no others within, are removed.

        Raises:
            DataError: if a line is missing or twice, or the structure of the file does not allow the order.
        """
        wanted = {region.id: [line.id for line in region.lines] for region in regions}
        if len(wanted) < len(regions) or sorted(chain(*wanted.values())) != sorted(self.lines):
            raise DataError("each line must be in one of the regions", self.name)
        # Step by step, with parsing in between: edits must not overlap, and a new or moved element has no position
        # before.
        added = [self.region_in_units(region) for region in regions if region.id not in self.region_ids]
        file = self.with_ids()
        file = file.edited(file.new_editor().new_regions(added))
        file = file.edited(file.moved_lines(wanted))
        editor = file.new_editor()
        edits = [edit for lines in wanted.values() for edit in file.numbering(editor, lines)]
        described = {region.id: region for region in file.page.regions}
        wanted = {id: lines for id, lines in wanted.items() if id in described}  # such as a picture
        changes = []
        for region in regions:
            if (old := described.get(region.id)) is None:
                continue
            if (old.kind, old.polygon) != (region.kind, region.polygon) and region.id in self.region_ids:
                changes.append((old, self.region_in_units(region)))
        edits += editor.set_regions(changes)
        file = file.edited(edits)
        gone = [region.id for region in file.page.regions if region.id not in wanted]
        file = file.edited(file.new_editor().remove_regions(gone))
        if [region.id for region in file.page.regions if region.id in wanted] != list(wanted):
            file = file.edited(file.new_editor().order_regions(list(wanted)))
        done = [(region.id, [line.id for line in region.lines]) for region in file.page.regions if region.id in wanted]
        if done != list(wanted.items()):
            raise DataError("the structure of this file does not allow this order", self.name)
        return file.following(self)

    def moved_lines(self, wanted: Mapping[str, Sequence[str]]) -> Iterator[Edit]:
        """Edits that give regions these lines: each takes the place of one that was there."""
        editor = self.new_editor()
        for region in self.page.regions:
            slots = [line.id for line in region.lines]
            new = list(wanted.get(region.id, ()))
            if slots == new:
                continue
            # By slots, so that content between lines stays; surplus lines follow the last slot, empty slots are
            # removed.
            elements = sorted(map(self.element, slots), key=lambda element: element.start)
            contents = [self.markup.utf8[(one := self.element(id)).start : one.end] for id in new]
            if not elements:
                yield editor.insert_lines(region.id, contents)
                continue
            for place, element in enumerate(elements):
                if place >= len(contents):
                    yield editor.splicer.remove(element)
                    continue
                lead = editor.splicer.lead(element).encode()
                rest = contents[place:] if place == len(elements) - 1 else contents[place : place + 1]
                yield Edit(element.start, element.end, lead.join(rest))

    def numbering(self, editor: Editor, lines: Sequence[str]) -> Iterator[Edit]:
        """Edits that number lines, if some of them are ordered by numbers."""
        elements = list(map(self.element, lines))
        if any(editor.is_numbered([element]) for element in elements):
            for number, element in enumerate(elements):
                yield from editor.set_number(element, number)

    @cached_property
    def region_ids(self) -> frozenset[str]:
        """The ids of the regions."""
        return frozenset(region.id for region in self.page.regions)

    def region_in_units(self, region: Region) -> Region:
        """A region without its lines, with its outline in units of the file; by default that around its lines."""
        outline = region.polygon or ((box := region.box) and box.polygon())
        placed = self.in_units(TextLine("", outline))
        return replace(region, lines=(), polygon=placed.polygon)

    def replaced(self, text: str) -> Self:
        """The file with another text, of an earlier or a merged version; texts of whole regions follow their lines.

        Raises:
            DataError: if the text is not a page file that can be read.
        """
        data = self.markup.encode(text.encode())
        return self.parse(data, self.name, self.image, lambda _: self.orientation).following(self)

    def in_units(self, line: TextLine) -> TextLine:
        """A line with its coordinates in units of the file instead of pixels."""
        if not all(self.parsed.size):
            return line
        page = replace(self.page, regions=(Region("", (line,)),))
        [scaled] = page.as_described().resized(*self.parsed.size).lines
        return scaled

    def with_ids(self) -> Self:
        """The file with the id of each line written to it, as numbers of lines may change from now on."""
        return self.edited(self.new_editor().set_ids())

    def following(self, before: Self) -> Self:
        """Update the texts of whole regions, as in PAGE, where they equalled the lines in the file `before`."""
        return self if self is before else self.edited(self.region_edits(before.page, self.page))

    def region_edits(self, before: Page, after: Page) -> Iterator[Edit]:
        """Edits of the texts of whole regions, where they equalled the lines of the page before."""
        texts = {region.id: texts_of(region) for region in before.regions}
        elements = self.new_editor().region_texts()
        for region in after.regions:
            old, new, unicode = texts.get(region.id), texts_of(region), elements.get(region.id)
            if old is None or old == new or unicode is None:
                continue
            # A text that differs from its lines, such as that of an edition, is somebody's work and stays. A line
            # without text may have an empty row or none.
            rows = filter(None, map(str.strip, unicode.text.splitlines()))
            if list(rows) == list(filter(None, old)):
                yield Edit(unicode.inside, unicode.inside_end, escape("\n".join(new), quote=False).encode())

    def edited(self, edits: Iterable[Edit], signature: str = SIGNATURE) -> Self:
        """Apply edits, and sign the file with a comment."""
        edits = list(edits)
        if not edits:
            return self
        # Once per version, since a comment per correction would make the file grow without end. Readings in an edited
        # file are not signed, or the edit could not be undone.
        if not any(comment.encode() in self.markup.utf8 for comment in (signature, SIGNATURE)):
            edits.append(self.new_editor().splicer.comment(signature))
        data = self.markup.encode(apply(self.markup.utf8, edits))
        return self.parse(data, self.name, self.image, lambda _: self.orientation)

    def free_id(self, wanted: str) -> str:
        """The wanted id, or a similar unused one."""
        return self.new_editor().ids.claim(wanted)


def written_of(text: Transcription) -> tuple[str, tuple[PageWord, ...], float | None]:
    """The parts of a text that files store, apart from its review."""
    return text.text, text.words, text.confidence


def as_read(line: TextLine) -> TextLine:
    """A line with its text as it would be read back after writing."""
    text = line.transcription
    return line if text is None else replace(line, transcription=replace(text, text=clean(text.text).strip()))


def texts_of(region: Region) -> list[str]:
    """The texts of the lines of a region."""
    return [line.text for line in region.lines]
