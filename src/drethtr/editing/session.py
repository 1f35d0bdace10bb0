"""A folder at work: the open folder with a recognizer that reads it, and what it learns."""

from collections.abc import Callable
from hashlib import blake2b
from os import fsencode
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from drethtr.base.version import __version__
from drethtr.documents.formats import FORMATS
from drethtr.editing.confirmed import FEWEST
from drethtr.editing.jobs import Job, Jobs
from drethtr.editing.learner import Learner
from drethtr.editing.reader import Reader
from drethtr.editing.status import Status
from drethtr.editing.watcher import Watcher
from drethtr.editing.workspace import Workspace
from drethtr.layout.finder import Finder
from drethtr.pages.source import Original
from drethtr.recognition.reading import DOUBTFUL
from drethtr.recognition.recognizer import Recognizer

AFRESH = 0.3
"""Expected word error rate from which typing a line is quicker than correcting it.

Source: Gaur, Lasecki, Metze and Bigham, 2016.
"""


class Session:
    """All parts of a folder that is worked in."""

    def __init__(
        self,
        workspace: Workspace,
        recognizer: Recognizer,
        finder: Callable[[Original], Finder],
        model: Path | None = None,
    ) -> None:
        self.workspace = workspace
        self.jobs = Jobs(self.tell_job)
        self.reader = Reader(workspace, self.jobs, recognizer, finder)
        self.learner = Learner(workspace, self.jobs, self.reader, model)
        self.watcher = Watcher(workspace, self.reader)

    def __enter__(self) -> Self:
        self.watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.watcher.close()
        self.reader.close()

    def tell_job(self, job: Job) -> None:
        """Tell all listeners how far a job is."""
        self.workspace.tell("job", **job.to_json())

    def status(self) -> dict[str, Any]:
        """What holds for the folder as a whole."""
        rows = self.workspace.pages()
        counted = (Status.UNREAD, Status.CORRECTED, Status.CONFIRMED)
        lines = {str(status): sum(row[status] for row in rows) for status in counted}
        lines[Status.READ] = sum(row["lines"] for row in rows) - sum(lines.values())
        why = self.learner.why_not
        return {
            "folder": self.workspace.folder.name,
            "workspace": blake2b(fsencode(self.workspace.folder.resolve()), digest_size=8).hexdigest(),
            "version": __version__,
            "model": self.reader.model,
            "model_file": self.learner.adopted,
            "doubtful": DOUBTFUL,
            "afresh": AFRESH,
            "pages": len(rows),
            "lines": lines,
            "ready": True,
            "learn": {"confirmed": self.learner.confirmed, "needed": FEWEST, "possible": why is None, "why": why},
            "formats": list(FORMATS),
            "jobs": [job.to_json() for job in self.jobs.newest_first()],
        }
