"""The base class of editors, which edit the bytes of a file element by element."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import ClassVar
from xml.etree import ElementTree as ET

from drethtr.documents.identifiers import Identifiers
from drethtr.documents.markup import Edit, Element, Markup
from drethtr.documents.page import TextLine
from drethtr.documents.parsed import Parsed
from drethtr.documents.splice import Splicer
from drethtr.documents.transcription import Review


@dataclass(frozen=True)
class Editor(ABC):
    """Changes lines in a file; coordinates are in units of the file.

    It assigns each id once, so every change of a file needs a new editor.
    """

    markup: Markup
    parsed: Parsed

    region_name: ClassVar[str]
    """The element that contains lines."""

    after_lines: ClassVar[Collection[str]] = ()
    """Elements that must follow the lines of a region."""

    @cached_property
    def splicer(self) -> Splicer:
        """Inserts elements into the file."""
        return Splicer.of(self.markup)

    @cached_property
    def ids(self) -> Identifiers:
        """Assigns ids that are not in the file."""
        ids = (element.attributes.get(key, "") for element in self.markup.root.walk() for key in ("id", "ID"))
        return Identifiers([*ids, *self.parsed.lines])

    @abstractmethod
    def set_text(self, element: Element, line: TextLine) -> Iterator[Edit]:
        """Replace the text and words of a line by those of `line`, which has a transcription."""

    def lost_tags(self, element: Element, text: str) -> Sequence[str]:
        """The tags of a line that would be lost with a new text, because all that they mark is gone."""
        return ()

    @abstractmethod
    def remove_text(self, element: Element) -> Iterator[Edit]:
        """Remove the text and words of a line."""

    @abstractmethod
    def set_review(self, element: Element, review: Review | None) -> Iterator[Edit]:
        """Record what a person did with a line."""

    def set_text_and_review(self, element: Element, line: TextLine) -> Iterator[Edit]:
        """Replace text, words and review of a line, by edits that do not overlap."""
        assert line.transcription is not None
        yield from self.set_text(element, line)
        yield from self.set_review(element, line.transcription.review)

    @abstractmethod
    def set_place(self, element: Element, line: TextLine) -> Iterator[Edit]:
        """Replace polygon and baseline of a line by those of `line`."""

    @abstractmethod
    def new_line(self, line: TextLine) -> ET.Element:
        """Create an element for a new line, without text."""

    @abstractmethod
    def add_region(self) -> Edit:
        """Add a region as large as the page."""

    def fixed_order(self) -> Collection[str]:
        """The ids of lines whose order is fixed by a separate element."""
        return ()

    def is_numbered(self, elements: Sequence[Element]) -> bool:
        """Whether lines are ordered by numbers in their attributes."""
        return False

    def set_number(self, element: Element, number: int) -> Iterator[Edit]:
        """Number a line, in a region that is ordered by numbers."""
        yield from ()

    def region_texts(self) -> Mapping[str, Element]:
        """The elements with the texts of whole regions, by the ids of regions that have exactly one."""
        return {}

    def first_region(self) -> Element | None:
        """The first element that can contain lines."""
        return next((element for element in self.markup.root.walk() if element.name == self.region_name), None)

    def add_lines(self, new: Sequence[ET.Element] | bytes, before: Element | None, after: Element | None) -> Edit:
        """Insert lines, new or as existing bytes, after the line `before`, else before the line `after`.

        With neither, they become the first lines of the first region, which must exist.
        """
        previous: Element | None
        if before is not None:
            parent, previous = self.parent_of(before), before
        elif after is not None:
            parent = self.parent_of(after)
            place = next(place for place, child in enumerate(parent.children) if child is after)
            previous = parent.children[place - 1] if place else None
        else:
            region = self.first_region()
            assert region is not None
            parent = region
            others = [child for child in parent.children if child.name not in self.after_lines]
            previous = others[-1] if others else None
        if isinstance(new, bytes):
            return self.splicer.insert_bytes(parent, previous, new)
        return self.splicer.insert(parent, previous, new)

    def parent_of(self, wanted: Element) -> Element:
        """The parent of an element."""
        return next(
            element for element in self.markup.root.walk() if any(child is wanted for child in element.children)
        )


def prefix_of(element: Element) -> str:
    """The namespace prefix of an element with its colon, or ""."""
    return f"{element.prefix}:" if element.prefix else ""


MOST_WORDS = 500
"""Words of a line whose counterparts are looked for: comparing takes the product of both numbers."""


def counterparts(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of words that stay, or that are replaced one by one, in the old and in the new text."""
    if max(len(old), len(new)) > MOST_WORDS:  # no line of handwriting
        return
    for kind, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal" or last - first == end - begin:
            yield from zip(range(first, last), range(begin, end), strict=True)
