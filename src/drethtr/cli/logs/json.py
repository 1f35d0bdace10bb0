"""A log of JSON lines for programs."""

import json
import sys
from datetime import UTC, datetime
from typing import Any

import typer

from drethtr.base.archive import as_given
from drethtr.base.errors import DataError, DrethtrError
from drethtr.cli.logs.run_log import RunLog, culprit
from drethtr.documents.page import Page
from drethtr.pages.events import DoubtCounts, JobSummary
from drethtr.pages.plan import JobPlan
from drethtr.pages.source import Original
from drethtr.pages.unknown_hand import has_unknown_hand
from drethtr.pages.volume import given_name


class JSONLog(RunLog):
    """Writes a JSON object per line to stderr; docs/programs.md lists the fields."""

    def emit(self, event: str, **fields: Any) -> None:
        """Write an event."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        named = {name: as_given(value) if isinstance(value, str) else value for name, value in fields.items()}
        sys.stderr.write(json.dumps({"event": event, "time": time, **named}) + "\n")
        sys.stderr.flush()

    def start(self, plan: JobPlan, units: int) -> None:
        self.emit(
            "started",
            **{f"{self.unit}s": units, "files": len(plan.waiting), "done_before": self.before},
            unrecorded=[task.name for task in plan.unrecorded],
        )
        for reason, tasks in plan.refused.items():
            for task in tasks:
                self.emit("failed", file=task.name, reason=f"the results were {reason}")

    def tell_failed(self, error: DataError) -> None:
        self.emit("failed", file=culprit(error), reason=str(error))

    def tell_page(self, original: Original, page: Page | None) -> None:
        if page is None:
            return  # a `failed` event follows

        doubts = DoubtCounts()
        doubts.add_page(page)
        file = given_name(original.description or original.source.path)
        number = {"page": original.source.number, "unknown_hand": has_unknown_hand(page)} if self.unit == "page" else {}
        self.emit(self.unit, file=file, **number, **numbers(doubts))

    def note(self, words: str) -> None:
        self.emit("note", message=words)

    def finished(self, summary: JobSummary) -> None:
        self.emit(
            "finished",
            files=summary.done - self.before,
            done_before=self.before,
            failed=list(dict.fromkeys([*self.stale, *self.failures])),
            **numbers(summary.doubts),
            output=None if self.output is None else str(self.output),
            seconds=round(self.seconds, 2),
        )

    def stopped(self) -> None:
        self.emit("stopped", resumable=self.resumable)

    def refused(self, error: DrethtrError) -> None:
        self.emit("refused", reason=str(error))
        raise typer.Exit(2) from None


def numbers(doubts: DoubtCounts) -> dict[str, int]:
    """Numbers of lines and words read, doubtful and flagged."""
    names = ("lines", "words", "doubtful", "flagged")
    return {name: getattr(doubts, name) for name in names}
