"""Claims: if several programs write to one folder, each file is read by the program that claims its results first."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from drethtr.base.atomic import tidied
from drethtr.base.errors import DataError
from drethtr.base.lock import claimed, remove_note
from drethtr.pages.task import FileTask


class Claims:
    """The files that this program reads now.

    done  how many files other programs have finished in the meantime
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
        """Remove what killed programs have left of files that are done: claims, and files that were not finished.

        Those of others are removed when they are read.
        """
        for task in tasks:
            for path in task.wanted[:1]:
                remove_note(path)
                tidied(path.parent)

    def win(self, task: FileTask) -> bool:
        """Whether this program is to read a file; then no other one does until it is released."""
        stack = ExitStack()
        try:
            for path in task.wanted[:1]:
                stack.enter_context(claimed(path))
        except DataError as error:
            self.lost.append((task, error))
            return False
        except OSError as error:
            self.lost.append((task, DataError(f"cannot write {path}: {error.strerror}")))
            return False
        if task.done and not self.force:
            self.done += 1
            stack.close()
            return False
        self.held[task.path] = stack
        return True

    def release(self, task: FileTask) -> None:
        """Let others have a file, if this program has it."""
        self.held.pop(task.path, ExitStack()).close()

    def settle(self) -> list[DataError]:
        """At the end: why files that could not be claimed have no results yet; the others are counted as done."""
        left = [error for task, error in self.lost if self.force or not task.done]
        self.done += len(self.lost) - len(left)
        return left
