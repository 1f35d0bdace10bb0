"""Line segmentation: the positions of the lines on a page, its regions and tables, and their reading order.

finder.py                                    the interface of a segmentation, and what it finds: Layout
finders.py                                   segmentations by name, with plug-ins
rapid.py, network.py                         the default: a network in a file, and lines from its maps
ridge.py, outline.py, components.py          from the ridge of a line to its outline
rules.py                                     rules of tables and folds of openings
order.py                                     the reading order of openings, columns, tables and notes
given.py, bands.py, orientation.py, turn.py  given lines: completed or redrawn, and which pixels their coordinates refer
                                             to
doubt.py                                     the expected cost of errors in a found layout
projection.py                                segmentation by projection profiles, for straight lines, without a network
"""

from drethtr.layout.finder import Cell, Finder, FoundLine, FoundRegion, Kind, Layout, MarkedPage, Order, Role

__all__ = ["Cell", "Finder", "FoundLine", "FoundRegion", "Kind", "Layout", "MarkedPage", "Order", "Role"]
