"""The server is stopped, and what it has started ends with it; tests/soak has what it has said to be saved."""

import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import sleep
from urllib.request import Request, urlopen

import pytest
from edited_folders import LINES, put_page
from soak.client import address_of, ask
from waiting import until

from drethtr.documents.page_file import PageFile
from drethtr.documents.transcription import Review
from drethtr.editing.learner import MIN_CONFIRMED


def learning(folder):
    """The processes that learn from a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes()
            if b"finetune" in words and bytes(folder) in words:
                yield process


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_learning_ends_with_the_server(tmp_path, tiny_path, kind):
    folder = tmp_path / "scans"
    for number in range(MIN_CONFIRMED // LINES + 1):
        path = put_page(folder, f"p{number}", ink=10 * number)
        file = PageFile.parse(path.read_bytes(), path.name)
        texts = [replace(line.transcription, review=Review.CONFIRMED) for line in file.page.lines]
        lines = [replace(line, transcription=text) for line, text in zip(file.page.lines, texts, strict=True)]
        path.write_bytes(file.with_lines(lines).data)
    command = [sys.executable, "-m", "drethtr", "edit", folder, "--port", "0", "--no-token", "--no-browser"]
    log = tmp_path / "log"
    with log.open("wb") as said, subprocess.Popen([*command, "--model", tiny_path], stderr=said) as process:
        address = address_of(log, process)
        urlopen(Request(f"{address}/api/learn", b"{}", {"Content-Type": "application/json"}), timeout=60).close()
        until(lambda: list(learning(folder)) or ask(f"{address}/api/jobs")[0]["error"], 300)
        assert list(learning(folder))
        process.send_signal(kind)
    tries = 50 if kind is signal.SIGKILL else 1
    assert any(not list(learning(folder)) or sleep(0.1) for _ in range(tries))
