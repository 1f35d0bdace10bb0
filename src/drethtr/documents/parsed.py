"""The result of an XML reader."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from drethtr.documents.markup import Element
from drethtr.documents.page import Page

SizeOf: TypeAlias = Callable[[str], tuple[int, int] | None]
"""Looks up width and height of an image in pixels by name; called only if the file lacks the size."""


class Parsed(NamedTuple):
    """A page, the elements of its lines by line id, and its size in units of the file."""

    page: Page
    lines: Mapping[str, Element]
    size: tuple[int, int]


def file_name(path: str) -> str:
    """The last component of a path or URL of any system; folders in references are never followed."""
    return re.split(r"[/\\]", path.strip())[-1]
