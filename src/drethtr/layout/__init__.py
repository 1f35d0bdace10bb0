"""Line segmentation: the positions of the lines on a page, its regions and tables, and their reading order.

finder.py                                    the interface of a segmentation, and what it finds: Layout
finders.py                                   segmentations by name, with plug-ins
rapid.py, network.py                         the usual one: a network in a file, and lines from its maps
ridge.py, outline.py, components.py          from the middle of a line to its outline
rules.py                                     rules of tables and folds of openings
order.py                                     pages of an opening, columns, tables, notes: in which order lines are read
given.py, bands.py, orientation.py, turn.py  lines of descriptions: completed, or redrawn; which pixels they mean
doubt.py                                     what a layout that was found may cost
projection.py                                a segmentation by profiles, for straight lines, without a network
"""

from drethtr.layout.finder import Cell, Finder, FoundLine, FoundRegion, Kind, Layout, MarkedPage, Order, Role

__all__ = ["Cell", "Finder", "FoundLine", "FoundRegion", "Kind", "Layout", "MarkedPage", "Order", "Role"]
