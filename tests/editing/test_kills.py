"""The server is stopped: what it has said to be saved is there, and what it has started ends with it."""

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from threading import Timer
from time import sleep
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
from edited_folders import LINES, put_page
from soak.client import address_of
from waiting import until

from drethtr.documents.page_file import PageFile
from drethtr.documents.read import read_page
from drethtr.documents.transcription import Review
from drethtr.editing.learner import MIN_CONFIRMED

KILLS = int(os.environ.get("DRETHTR_KILLS", "3"))
"""How often; 50 take some minutes."""


def start(folder, model):
    command = [sys.executable, "-m", "drethtr", "edit", str(folder), "--port", "0", "--no-token"]
    log = folder.with_name("log")
    with log.open("wb") as said:
        process = subprocess.Popen([*command, "--no-browser", "--model", str(model)], stderr=said)
    return process, address_of(log, process)


def ask(address, method="GET", body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data, {"Content-Type": "application/json", **headers}, method=method)
    with urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def edits(address, pages, numbers, saved, tried):
    """Correct and confirm lines one after the other, and note what was saved, each time."""
    while True:
        page = pages[next(numbers) % len(pages)]
        for line in ask(f"{address}/api/pages/{page}")["lines"]:
            text = f"text {next(numbers)}"
            here = f"{address}/api/pages/{page}/lines/{line['id']}"
            tried[page, line["id"]] = text
            done = ask(here, "PUT", {"text": text, "status": "confirmed"}, **{"If-Match": line["revision"]})
            saved[page, line["id"]] = done["text"]
            yield


def test_no_confirmed_text_is_lost(tmp_path, tiny_path):
    files = [put_page(tmp_path / "scans", stem, format) for stem, format in (("a", "page"), ("b", "alto"))]
    lengths = [len(file.read_bytes()) for file in files]
    chance, numbers = random.Random(0), iter(range(10**6))
    saved, tried = {}, {}
    for _ in range(KILLS):
        process, address = start(tmp_path / "scans", tiny_path)
        try:
            pages = [row["id"] for row in ask(f"{address}/api/pages")]
            last = chance.randrange(6)
            with suppress(URLError, HTTPException, ConnectionError, TimeoutError):
                for number, _ in enumerate(edits(address, pages, numbers, saved, tried)):
                    if number == last:  # in the middle of one of the next
                        Timer(chance.uniform(0, 0.2), process.kill).start()
        finally:
            process.kill()
            process.wait()
        found = {
            (page, line.id): line.transcription
            for page, file in zip(pages, files, strict=True)
            for line in read_page(file).lines
        }
        for place, text in saved.items():
            assert found[place].text in (text, tried[place]) and found[place].review is Review.CONFIRMED
            saved[place] = found[place].text  # the last one may have been written, but not been answered
    assert saved
    assert all(len(file.read_bytes()) > length / 2 for file, length in zip(files, lengths, strict=True))


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
    process, address = start(folder, tiny_path)
    with process:
        job = ask(f"{address}/api/learn", "POST", {})["id"]
        until(lambda: list(learning(folder)) or ask(f"{address}/api/jobs/{job}")["error"], 300)
        assert list(learning(folder))
        process.send_signal(kind)
    tries = 50 if kind is signal.SIGKILL else 1
    assert any(not list(learning(folder)) or sleep(0.1) for _ in range(tries))
