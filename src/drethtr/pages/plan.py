"""The plan of a job: which files to read, which results exist or are stale, and which files other processes read."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from drethtr.base.errors import DataError
from drethtr.base.files import is_there, tidied
from drethtr.base.locks import claimed, note_on, remove_note
from drethtr.pages.catalog import Folders
from drethtr.pages.record import Entry, Records, digest_of, state_of
from drethtr.pages.results import work_in
from drethtr.pages.source import DESCRIPTIONS
from drethtr.pages.task import FileTask

Made: TypeAlias = Callable[[str], Mapping[str, Any]]
"""The settings that determine the content of a result, by the name of its format."""

Recorder: TypeAlias = Callable[[str, Path, frozenset[int], bytes], None]
"""Records how a result is made: the name of its format, its path, the pages that it lacks by their numbers, and its
content, empty if that is not known."""

UNMARKED = "unmarked"
"""Recorded in place of the threshold of doubts for formats that do not mark them."""

OTHER_SCAN = "made from different files with these names"
"""The difference reported for a result whose scan, or its description, has changed."""

SAME_RUN = 1_000_000_000
"""Results of a page that were written within this many nanoseconds are of one run, and not opened to compare."""


@dataclass
class JobPlan:
    """The files of a job.

    waiting     files to read
    done        files with all results
    unrecorded  those of both kinds with a result that the record does not know; the result is kept
    refused     files with stale results, by what differs; the results are kept
    outdated    files done, one of whose results a person has changed since the others were written; and waiting files
                that are updated in place and newer than their other results, which are kept
    """

    waiting: list[FileTask] = field(default_factory=list)
    done: list[FileTask] = field(default_factory=list)
    unrecorded: list[FileTask] = field(default_factory=list)
    refused: dict[str, list[FileTask]] = field(default_factory=dict)
    outdated: list[FileTask] = field(default_factory=list)


class Planner:
    """Compares results with the records of their folders, and records new ones.

    Args:
        made: The settings that determine the content of a result.
        records: The records of the folders for results.
        folders: What is in folders, as seen when the job was opened.
    """

    def __init__(self, made: Made, records: Records, folders: Folders) -> None:
        self.made = cache(made)
        self.records = records
        self.folders = folders

    def plan(self, tasks: Sequence[FileTask], *, force: bool) -> JobPlan:
        """The plan for some files; with `force`, all are read.

        Raises:
            DataError: as `adopt_notes`.
        """
        plan = JobPlan()
        for task in tasks:
            self.adopt_notes(task)
            known, unknown = self.entries(task) if not force else ([], False)
            if unknown:
                plan.unrecorded.append(task)
            # Before asking whether all results are there: a missing format must not be added to those of another model.
            if reason := self.difference(task, known):
                plan.refused.setdefault(reason, []).append(task)
            elif force or not task.is_written(self.folders.is_there) or any(entry.lacks for _, entry in known):
                plan.waiting.append(task)
                plan.outdated += [task] if task.in_place and not force and self.is_outdated(task) else []
            else:
                plan.done.append(task)
                plan.outdated += [task] if self.is_outdated(task) else []
        return plan

    def is_outdated(self, task: FileTask) -> bool:
        """Whether a result was changed by a person, or the file itself by anybody, since other results were written."""
        if task.in_place:
            changed = self.folders.time_of(task.path)
            return any(0 < self.folders.time_of(path) < changed - SAME_RUN for _, path in task.results)
        # A format that keeps pages together has one file, which counts for each of them.
        return any(
            work_in(path) and not self.records.is_as_written(path)  # with what was corrected in another result
            for name, paths in task.targets.items()
            for place, path in enumerate(paths)
            if path.suffix in DESCRIPTIONS
            and any(
                self.folders.time_of(path) > self.folders.time_of(results[min(place, len(results) - 1)]) + SAME_RUN
                for other, results in task.targets.items()
                if other != name
            )
        )

    def adopt_notes(self, task: FileTask) -> None:
        """Move the notes of drethtr 0.2 about results that lack pages into the record.

        Raises:
            DataError: if a record cannot be read or written, or a note is a link.
        """
        for note, lacks in task.cache.notes() if task.cache is not None else ():
            result = task.results[0][1].with_name(note.stem)
            record = self.records.of(result.parent)
            entry = record.results.get(result.name)
            if entry is None:  # a process was killed before it recorded this
                try:
                    entry = Entry(state_of(task.sources), digest_of(task.sources).hex(), {})
                except DataError:  # the files cannot be accessed; the note waits for the next run
                    continue
            record.add(result, entry._replace(lacks=lacks))
            note.unlink(missing_ok=True)

    def forget_pages(self, task: FileTask) -> None:
        """Remove the pages of a file that were read, unless a result from the same files lacks one, in any format."""
        if (cache := task.cache) is None or not is_there(cache.folder) or any(cache.notes()):
            return
        results = self.records.of(cache.folder.parent).results
        digests = {results[path.name].digest for _, path in task.results if path.name in results}
        if not any(entry.lacks and entry.digest in digests for entry in results.values()):
            cache.remove()

    def entries(self, task: FileTask) -> tuple[list[tuple[str, Entry]], bool]:
        """The entries of the results of a file, with the names of their formats, and whether one has no entry."""
        there = [(name, path) for name, path in task.results if self.folders.is_there(path)]
        if not there:
            return [], False
        record = self.records.of(there[0][1].parent)  # all results of a file are in one folder
        found = [(name, entry) for name, path in there if (entry := record.results.get(path.name)) is not None]
        return found, len(found) < len(there)

    def difference(self, task: FileTask, known: Sequence[tuple[str, Entry]]) -> str:
        """How the results of a file differ from those that would be made now; empty if they do not."""
        # Settings before files, since they cost no access to the file system.
        for name, entry in known:
            if words := entry.difference(self.made(name)):
                return f"made with {words}"
        return OTHER_SCAN if known and not self.are_of(task, [entry for _, entry in known]) else ""

    def are_of(self, task: FileTask, known: Sequence[Entry]) -> bool:
        """Whether results were made from the files of a task, as these are now."""
        try:
            state = self.folders.state_of(task.sources)
            # Updated results may be made from one that a person corrected; see `is_outdated`.
            own = any(path.suffix in DESCRIPTIONS for _, path in task.results)
            if all(entry.state == state or (own and entry.state.startswith(f"{state} ")) for entry in known):
                return True
            # Size or time differ, as after copying a folder; only the content decides.
            digest = digest_of(task.sources).hex()
        except DataError:
            return True  # reading it tells why
        return all(entry.digest == digest for entry in known)

    def is_of(self, result: Path, task: FileTask) -> bool:
        """Whether an earlier result, in any format, is of the files of a task: one that is to be written, or recorded.

        Raises:
            DataError: if its record cannot be read.
        """
        if result in task.wanted:
            return True
        entry = self.records.of(result.parent).results.get(result.name)
        return entry is not None and self.are_of(task, [entry])

    def opened(self, task: FileTask) -> tuple[FileTask, Recorder]:
        """A file that is about to be read, with its description open, and a function that records its results."""
        state = digest = ""
        with suppress(DataError):  # reading it tells why
            # State before content: a file that changes after this moment must look changed to the next run.
            state = state_of(task.sources) if task.results else ""
            task = task.opened()
            digest = digest_of(task.sources, task.contents).hex() if task.results else ""

        def record(name: str, path: Path, lacks: frozenset[int], content: bytes) -> None:
            written = digest_of([path], {path: content}).hex() if content else ""
            self.records.of(path.parent).add(path, Entry(state, digest, self.made(name), lacks, written))

        return task, record


class Claims:
    """The files that this process is reading.

    records  of the folders for results
    done     number of files that other processes have finished in the meantime
    """

    def __init__(self, records: Records, *, force: bool) -> None:
        self.records = records
        self.force = force
        self.done = 0
        self.held: dict[Path, ExitStack] = {}
        self.lost: list[tuple[FileTask, DataError]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stack in self.held.values():
            stack.close()

    def tidy(self, tasks: Sequence[FileTask], folders: Folders) -> None:
        """Remove claims and unfinished files of killed processes, for files that are done.

        For other files they are removed when the file is read.
        """
        for task in tasks:
            for path in task.wanted[:1]:
                if folders.entry(note_on(path)) is not None:
                    remove_note(path)
                tidied(path.parent)

    def acquire(self, task: FileTask) -> bool:
        """Claim a file; if that succeeds, no other process reads it until it is released."""
        stack = ExitStack()
        try:
            # The claim is on the first result: every process that reads the file would write it.
            for path in task.wanted[:1]:
                stack.enter_context(claimed(path))
            # Fail before hours of reading: a name with many page ranges may be too long for the file system.
            for path in sorted(task.wanted, key=lambda path: len(path.name))[-1:]:
                with suppress(FileNotFoundError):
                    path.lstat()
        except DataError as error:
            self.lost.append((task, error))
            return False
        except OSError as error:
            self.lost.append((task, DataError(f"cannot be written: {error.strerror}", path)))
            stack.close()
            return False
        # Checked again under the claim: another process may have finished it since the job was planned.
        if not self.force and self.is_done(task):
            self.done += 1
            stack.close()
            return False
        self.held[task.path] = stack
        return True

    def is_done(self, task: FileTask) -> bool:
        """Whether a file has all its results by now, with all pages; false if their record cannot be read."""
        if not task.is_written():
            return False
        if len(task.originals) == 1:
            return True
        with suppress(DataError):  # writing to it tells why
            self.records.known.pop(task.wanted[0].parent, None)  # other processes have written to it
            return not any(map(self.records.lacking, task.wanted))
        return False

    def release(self, task: FileTask) -> None:
        """Give up the claim on a file, if there is one."""
        self.held.pop(task.path, ExitStack()).close()

    def settle(self) -> list[DataError]:
        """Return the errors of unclaimed files that have no results in the end; the others count as done."""
        left = [error for task, error in self.lost if self.force or not self.is_done(task)]
        self.done += len(self.lost) - len(left)
        return left
