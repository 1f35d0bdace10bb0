"""What a reader of XML hands back."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from drethtr.documents.markup import Element
from drethtr.documents.page import Page

SizeOf: TypeAlias = Callable[[str], tuple[int, int] | None]
"""Width and height in pixels of the image of this name, if it can be found; asked only if the file does not tell."""


class Parsed(NamedTuple):
    """A page, the element of each of its lines by the line's id, and its width and height in the units of the file."""

    page: Page
    lines: Mapping[str, Element]
    size: tuple[int, int]


def file_name(path: str) -> str:
    """The last part of a path or URL of any system: folders that a file names are never followed."""
    return re.split(r"[/\\]", path.strip())[-1]
