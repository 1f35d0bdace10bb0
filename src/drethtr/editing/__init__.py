"""A working folder of scans: read, corrected, confirmed and learned from.

with Workspace.open("scans") as workspace, Session(workspace, Recognizer.load(), Segmentation()) as session:
    session.reader.read_pages()
    [first, *_] = workspace.pages()

It knows nothing of HTTP; `server/` shows it to a browser.
"""

from drethtr.editing.session import Session
from drethtr.editing.workspace import Workspace

__all__ = ["Session", "Workspace"]
