"""Claims: if several processes write to one folder, each file is read by the first process to claim its results."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from drethtr.base.errors import DataError
from drethtr.base.files import claimed, remove_note, tidied
from drethtr.pages.task import FileTask


class Claims:
    """The files that this process is reading.

    done  number of files that other processes have finished in the meantime
    """

    def __init__(self, *, force: bool) -> None:
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

    def tidy(self, tasks: Sequence[FileTask]) -> None:
        """Remove claims and unfinished files of killed processes, for files that are done.

        For other files they are removed when the file is read.
        """
        for task in tasks:
            for path in task.wanted[:1]:
                remove_note(path)
                tidied(path.parent)

    def win(self, task: FileTask) -> bool:
        """Claim a file; if that succeeds, no other process reads it until it is released."""
        stack = ExitStack()
        try:
            for path in task.wanted[:1]:
                stack.enter_context(claimed(path))
        except DataError as error:
            self.lost.append((task, error))
            return False
        except OSError as error:
            self.lost.append((task, DataError(f"cannot be written: {error.strerror}", path)))
            return False
        if task.done and not self.force:
            self.done += 1
            stack.close()
            return False
        self.held[task.path] = stack
        return True

    def release(self, task: FileTask) -> None:
        """Give up the claim on a file, if there is one."""
        self.held.pop(task.path, ExitStack()).close()

    def settle(self) -> list[DataError]:
        """At the end: the errors of files that could not be claimed and have no results; the others count as done."""
        left = [error for task, error in self.lost if self.force or not task.done]
        self.done += len(self.lost) - len(left)
        return left
