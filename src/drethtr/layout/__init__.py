"""Line segmentation: the positions of the lines on a page, its regions and tables, and their reading order."""

from drethtr.layout.finder import Cell, Finder, FoundLine, FoundRegion, Kind, Layout, MarkedPage, Order, Role

__all__ = ["Cell", "Finder", "FoundLine", "FoundRegion", "Kind", "Layout", "MarkedPage", "Order", "Role"]
