"""Search handwriting, including words that were misread.

with open_index("archive.drethtr.sqlite") as index:
    hits = index.search("received", least=0.1)

build.py                             pages into an index; only new and changed ones are read
index.py                             queries in, hits out
query.py, automaton.py               what a query means; a pattern that reads the letters of a line
scan.py, forward.py, probability.py  all lines; all readings of a line that have the pattern; how probable that makes it
locate.py                            where on the line it stands
records.py, schema.py, packed.py     what an index has, in which tables, and in how few bytes
store.py, postgres.py, targets.py    an index in a file, in a database, and copies of it
"""

from drethtr.search.index import Hit, SearchIndex, open_index

__all__ = ["Hit", "SearchIndex", "open_index"]
