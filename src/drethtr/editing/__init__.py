"""A folder of scans that is worked in: read, corrected, confirmed and learned from.

with Workspace.open("scans", Recognizer.load()) as workspace:
    [first, *_] = workspace.pages()

It knows nothing of HTTP; `server/` shows it to a browser.
"""

from drethtr.editing.workspace import Workspace

__all__ = ["Workspace"]
