"""Search handwriting, including words that were misread.

with open_index("archive.drethtr.sqlite") as index:
    hits = index.search("received", least=0.1)
"""

from drethtr.search.index import Hit, SearchIndex, open_index

__all__ = ["Hit", "SearchIndex", "open_index"]
