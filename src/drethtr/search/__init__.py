"""Search handwriting, including words that were misread.

with open_index("archive.drethtr.sqlite") as index:
    hits = index.search("received", least=0.1)

build.py                             pages into an index; only new and changed ones are read
index.py                             queries in, hits out
query.py, automaton.py               parse a query; the automaton of a pattern, which reads the letters of a line
scan.py, forward.py, probability.py  scan all lines; sum all readings of a line that contain the pattern; calibrate that
                                     sum
locate.py                            where on the line the match is
records.py, schema.py, packed.py     the content of an index, its tables, and its compact bytes
store.py, postgres.py, targets.py    an index in a file, in a database, and copies of it
"""

from drethtr.search.index import Hit, SearchIndex, open_index

__all__ = ["Hit", "SearchIndex", "open_index"]
