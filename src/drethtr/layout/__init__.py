"""Line segmentation: the positions of the lines on a page, and their reading order."""

from drethtr.layout.finder import Finder, FoundLine

__all__ = ["Finder", "FoundLine"]
