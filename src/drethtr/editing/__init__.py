"""A working folder of scans: read, corrected, confirmed and learned from.

with Workspace.open("scans") as workspace, Session(workspace, Recognizer.load(), Segmentation()) as session:
    session.reader.read_pages()
    [first, *_] = workspace.pages()

session.py, workspace.py              all parts together; an open folder and every change of its files
folder_pages.py, page_files.py        scans with their PAGE and ALTO files, which only page_files.py writes
scans.py, overview.py, status.py      pictures of pages and lines; figures of pages; who has worked on a line
reader.py, new_lines.py               reading in the background, and of new lines at once
executor.py, jobs.py                  one thread for the recognizer, people first; how far background work is
changes.py, layout.py, repairs.py     what a person does: to a line, to several, to the layout of a page
places.py, regions.py                 what this does to baselines and outlines, and to regions
journal.py, notes.py, undo.py         the history: what is kept, what it says, how a step is taken back
alternatives.py, characters.py        what to type instead: other words, characters that keyboards lack
comparison.py, search.py, export.py   a text from elsewhere; words in the folder; its pages in other formats
index.py, indexer.py                  the index of the folder, kept up to date
learner.py                            fine-tuning on confirmed lines

It knows nothing of HTTP; `server/` shows it to a browser.
"""

from drethtr.editing.session import Session
from drethtr.editing.workspace import Workspace

__all__ = ["Session", "Workspace"]
