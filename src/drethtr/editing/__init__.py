"""A working folder of scans: read, corrected, confirmed and learned from.

with Workspace.open("scans") as workspace, Session(workspace, Recognizer.load(), Segmentation()) as session:
    session.reader.read_pages()
    [first, *_] = workspace.pages()

session.py, workspace.py              all parts together; an open folder and every change of its files
folder_pages.py, page_files.py        scans with their PAGE and ALTO files, which only page_files.py writes
scans.py, overview.py, status.py      pictures of pages and lines; summaries of pages; who has worked on a line
reader.py, new_lines.py               reading in the background, and of new lines at once
executor.py, jobs.py                  one thread for the recognizer, people first; progress of background work
changes.py, layout.py, repairs.py     what a person changes: a line, several lines, the layout of a page
places.py, regions.py                 how that changes baselines and outlines, and regions
surroundings.py                       the region, or the cell of a table, in which a new line lies
journal.py, notes.py, undo.py         the history: how it is stored, what it records, how a step is undone
alternatives.py, characters.py        suggestions for typing: other words, characters that keyboards lack
comparison.py, search.py, export.py   compare with another text; search the folder; export pages
index.py, indexer.py                  the index of the folder, kept up to date
learner.py                            fine-tuning on confirmed lines

It knows nothing of HTTP; `server/` shows it to a browser.
"""

from drethtr.editing.session import Session
from drethtr.editing.workspace import Workspace

__all__ = ["Session", "Workspace"]
