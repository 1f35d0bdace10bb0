"""Where the lines of a page are, and in which order they are read."""

from drethtr.layout.finder import Finder, FoundLine

__all__ = ["Finder", "FoundLine"]
