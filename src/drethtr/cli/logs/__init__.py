"""Logs of a run: text for people, or JSON lines for programs.

with run_log_named("text", output) as log:
    log.planned(plan, pages, "page")
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from drethtr.base.config import named
from drethtr.cli.logs.json import JSONLog
from drethtr.cli.logs.run_log import RunLog
from drethtr.cli.logs.text import TextLog

__all__ = ["LogName", "RunLog", "run_log_named"]

LogName = Annotated[
    str, typer.Option("--log", metavar="NAME", help="Messages on stderr: text, or json, one object per line.")
]

LOGS: Mapping[str, type[RunLog]] = {"text": TextLog, "json": JSONLog}


def run_log_named(name: str, output: Path | None, *, resumable: bool) -> RunLog:
    """Create a log by name.

    Raises:
        ConfigError: if the name is unknown.
    """
    return named("log", name, LOGS)(output, resumable=resumable)
