"""The result of an XML reader."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from drethtr.documents.markup import Element
from drethtr.documents.page import Page

SizeOf: TypeAlias = Callable[[str], tuple[int, int] | None]
"""Looks up width and height in pixels of an image by name; called only if the file lacks the size."""


class Parsed(NamedTuple):
    """A page, the element of each of its lines by line id, and its width and height in units of the file."""

    page: Page
    lines: Mapping[str, Element]
    size: tuple[int, int]


def file_name(path: str) -> str:
    """The last part of a path or URL of any system; folders in a file's references are never followed."""
    return re.split(r"[/\\]", path.strip())[-1]
