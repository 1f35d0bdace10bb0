"""Reads the pages of a folder in the background, and at once what a person has just drawn.

Nothing that a person has touched is read again, and a reading is written only if the line still lies where it was read.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any

from drethtr.base.errors import DataError, DrethtrError
from drethtr.base.wording import counted
from drethtr.documents.document import Document, Sheet
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import TextLine, Transcription
from drethtr.documents.page_file import PageFile
from drethtr.editing.changes import Changed
from drethtr.editing.jobs import Cancelled, Job, Jobs, State
from drethtr.editing.journal import Change
from drethtr.editing.leaves import Leaf
from drethtr.editing.scans import Kept, place_mark
from drethtr.editing.status import Status
from drethtr.editing.truths import Truth
from drethtr.editing.turns import PatientRecognizer, Turns
from drethtr.editing.workspace import Workspace
from drethtr.images.straighten import Strip
from drethtr.layout.finder import Finder
from drethtr.pages.place import transcription_of
from drethtr.pages.provenance import provenance_of
from drethtr.pages.source import Original
from drethtr.pages.transcribe import transcribe
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

READ = "read"
"""The kind of job."""

MOST_ALTERNATIVES = 9
"""Other texts of a line that are offered."""

LOOKED_AT = 20
"""Pages that somebody has looked at last, and that are read first."""

FROM_MACHINE = frozenset({Status.UNREAD, Status.READ})


class Reader:
    """One recognizer for a folder."""

    def __init__(
        self, workspace: Workspace, jobs: Jobs, recognizer: Recognizer, finder: Callable[[Original], Finder]
    ) -> None:
        self.workspace = workspace
        self.jobs = jobs
        self.finder = finder
        self.turns = Turns()
        self.alternatives = Kept(500)
        self.first: list[str] = []
        self.told: list[Callable[[Recognizer], object]] = []
        self.use(recognizer)

    def use(self, recognizer: Recognizer) -> None:
        """Read with a recognizer from now on."""
        self.recognizer = recognizer
        for told in self.told:
            told(recognizer)
        self.workspace.error_rate = recognizer.model.trust.error_rate(recognizer.strategy)
        self.workspace.tell("status")

    @property
    def model(self) -> str:
        """The name of the model that reads."""
        return self.recognizer.model.identity

    def close(self) -> None:
        """End reading; what is written stays."""
        for job in self.jobs.newest_first():
            job.cancelled.set()
        self.turns.shutdown()

    # Jobs.

    def read_pages(self, pages: Sequence[str] | None = None, *, again: bool = False) -> Job:
        """Read pages in the background; by default all that have not been read.

        Args:
            again: Whether also to read lines that were read before, unless a person has touched them.
        """
        chosen = list(self.unread() if pages is None else pages)
        job = self.jobs.new(READ, len(chosen))
        self.turns.later(lambda: self.work(job, chosen, again=again))
        return job

    def unread(self) -> Iterable[str]:
        """The pages on which nothing has been read. Others may have lines that are left empty on purpose."""
        for leaf, summary in self.workspace.summarized():
            if leaf.source is not None and not isinstance(summary, DataError) and summary.status is Status.UNREAD:
                yield leaf.id

    def put_first(self, page: str) -> None:
        """Read a page before the others of the running job, as somebody is looking at it."""
        self.first = [*self.first[-LOOKED_AT:], page]

    def work(self, job: Job, pages: list[str], *, again: bool) -> None:
        """Read pages one after the other, until all are read or the job is cancelled."""
        if job.cancelled.is_set():
            self.jobs.update(job, state=State.CANCELLED)
            return
        self.jobs.update(job, state=State.RUNNING)
        patient = PatientRecognizer(self.recognizer, self.turns, job.check)
        failed = []
        try:
            while pages:
                page = next((page for page in reversed(self.first) if page in pages), pages[0])
                pages.remove(page)
                job.check()
                if page not in self.workspace.leaves:
                    continue
                leaf = self.workspace.leaf(page)
                self.jobs.update(job, message=f"reading {leaf.name}")
                try:
                    self.read_page(leaf, patient, again=again)
                    self.workspace.unreadable.pop(page, None)
                except DrethtrError as error:
                    self.workspace.unreadable[page] = error.reason
                    self.workspace.tell("page", page=page, why="read")
                    failed.append(f"{leaf.name}: {self.workspace.told(error.reason)}")
                self.jobs.update(job, done=job.done + 1)
        except Cancelled:
            self.jobs.update(job, state=State.CANCELLED, message=f"{job.done} of {job.total} pages were read")
        except Exception as error:
            self.jobs.update(job, state=State.FAILED, error=f"reading stopped: {self.workspace.told(error)}")
            raise
        else:
            told = f"; {failed[0]}" + (f", and {len(failed) - 1} more" if len(failed) > 1 else "") if failed else ""
            read = counted(job.total - len(failed), "page")
            self.jobs.update(job, state=State.DONE, message=f"{read} read{told}")

    def read_page(self, leaf: Leaf, recognizer: Recognizer, *, again: bool = False) -> None:
        """Read a page: the lines of its file that no person has touched, or those that are found.

        Raises:
            DataError: if scan or file cannot be used.
        """
        truth = self.workspace.truths.of(leaf)
        if truth is None or not truth.file.page.lines:
            self.find_and_read(leaf, truth, recognizer)
            return
        wanted = FROM_MACHINE if again else {Status.UNREAD}
        lines = [line for line in truth.file.page.lines if truth.status(line) in wanted]
        self.write(leaf, self.readings(leaf, lines, truth.file, recognizer))

    def find_and_read(self, leaf: Leaf, truth: Truth | None, recognizer: Recognizer) -> None:
        """Find the lines of a page, read them, and write a new file, or into one without lines."""
        if leaf.source is None:
            raise DataError(leaf.error or "its scan is missing", leaf.name)
        original = Original(leaf.source)
        page = transcribe(original, recognizer, self.finder(original))
        lines = page.lines
        model = recognizer.model.identity
        notes = tuple(Change(leaf.id, line.id, "read", None, line.text, str(Status.READ)) for line in lines)
        if truth is None:
            document = Document((Sheet(page, original.scan(), leaf.source.number),), provenance_of(recognizer))
            self.workspace.create(leaf, FORMATS["page"].write(document), notes, model=model)
            return

        def work(leaf: Leaf, truth: Truth) -> Changed:
            if truth.file.page.lines:
                return Changed(truth.file, (), ())
            ids = truth.file.editor.ids
            new = [replace(line, id=ids.claim(line.id)) for line in lines]
            return Changed(truth.file.with_new_lines(new, None), (), notes)

        self.workspace.change(leaf.id, work, {}, model=model)

    def readings(
        self, leaf: Leaf, lines: Sequence[TextLine], file: PageFile, recognizer: Recognizer
    ) -> list[tuple[TextLine, Transcription]]:
        """Lines with what is read in them; lines that cannot be cut out of the scan are left out."""
        cut = self.cut(leaf, lines, file, recognizer)
        found = recognizer.read_lines([strip.line for _, strip in cut])
        size = file.page.width, file.page.height
        return [
            (line, transcription_of(reading, strip, *size)) for (line, strip), reading in zip(cut, found, strict=True)
        ]

    def cut(
        self, leaf: Leaf, lines: Sequence[TextLine], file: PageFile, recognizer: Recognizer
    ) -> list[tuple[TextLine, Strip]]:
        """Lines with their pictures as the recognizer takes them; those that cannot be cut out are left out."""
        cut = []
        for line in lines:
            with suppress(DataError):
                strip = self.workspace.scans.straightened(leaf, line, file.page.lines)
                cut.append((line, strip._replace(line=recognizer.open_line(strip.line))))
        return cut

    def write(
        self, leaf: Leaf, read: Sequence[tuple[TextLine, Transcription]], allowed: frozenset[Status] = FROM_MACHINE
    ) -> None:
        """Write readings into the file of a page, where it is still as it was and no person has come between."""

        def work(leaf: Leaf, truth: Truth) -> Changed:
            changed, notes = [], []
            for line, text in read:
                here = truth.file.lines.get(line.id)
                if here is None or place_mark(here) != place_mark(line) or truth.status(here) not in allowed:
                    continue
                changed.append(replace(here, transcription=text))
                if here.transcription is None or here.text != text.text:
                    notes.append(Change(leaf.id, line.id, "read", here.text, text.text, str(Status.READ)))
            return Changed(truth.file.with_lines(changed), tuple(line.id for line in changed), tuple(notes))

        if read:
            self.workspace.change(leaf.id, work, {}, model=self.model)

    # At once.

    def read_soon(self, page: str, lines: Sequence[str]) -> "Future[None]":
        """Read lines that were just drawn, before all others."""

        def work() -> None:
            leaf = self.workspace.leaf(page)
            truth = self.workspace.truths.existing(leaf)
            wanted = [
                line for line in truth.file.page.lines if line.id in lines and truth.status(line) is Status.UNREAD
            ]
            self.write(leaf, self.readings(leaf, wanted, truth.file, self.recognizer))

        return self.turns.submit(work)

    def read_again(self, page: str, line: str, revision: str) -> dict[str, Any]:
        """The machine's text in the place of a person's.

        Raises:
            Stale: if the line is no longer of this revision.
            DataError: if it cannot be read.
        """
        leaf = self.workspace.leaf(page)
        truth = self.workspace.truths.existing(leaf)
        self.workspace.truths.check(leaf, truth, line, revision)
        read = self.turns.submit(self.readings, leaf, [truth.file.line(line)], truth.file, self.recognizer).result()
        if not read:
            raise DataError(f"line {line!r} cannot be cut out of its scan; check its baseline and outline")
        [(old, text)] = read

        def work(leaf: Leaf, truth: Truth) -> Changed:
            note = Change(page, line, "read", old.text, text.text, str(Status.READ))
            return Changed(truth.file.with_line(replace(old, transcription=text)), (line,), (note,))

        self.workspace.change(page, work, {line: revision}, model=self.model)
        return self.workspace.line(page, line)

    def other_texts(self, page: str, line: str) -> list[dict[str, Any]]:
        """Other texts that a line may have, best first, without its present one.

        Raises:
            Missing: if there is no such line.
            DataError: if it cannot be cut out of its scan.
        """
        leaf = self.workspace.leaf(page)
        now = self.workspace.line(page, line)
        file = self.workspace.truths.existing(leaf).file
        placed = file.line(line)

        def read() -> Reading:
            strip = self.workspace.scans.straightened(leaf, placed, file.page.lines)
            several = with_alternatives(self.recognizer)
            [reading] = several.read_lines([several.open_line(strip.line)])
            return reading

        key = (page, line, place_mark(placed), self.model)
        reading = self.alternatives.get(key, lambda: self.turns.submit(read).result())
        texts: list[dict[str, Any]] = [
            {"text": other.text, "score": round(other.score, 4)} for other in reading.alternatives
        ] or [{"text": reading.text, "score": None}]
        return [other for other in texts if other["text"] != now["text"]][:MOST_ALTERNATIVES]


def with_alternatives(recognizer: Recognizer) -> Recognizer:
    """A recognizer that also gives other texts; it shares the network."""
    most = min(MOST_ALTERNATIVES, recognizer.strategy.most_alternatives)
    return Recognizer(
        recognizer.model,
        recognizer.strategy,
        network=recognizer.network,
        precision=recognizer.precision,
        alternatives=most,
    )
