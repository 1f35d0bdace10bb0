"""The server is killed at random moments of an editing session; what it has said to be saved is there."""

import json
import os
import random
import subprocess
import sys
from contextlib import suppress
from http.client import HTTPException
from threading import Timer
from urllib.error import URLError
from urllib.request import Request, urlopen

from edited_folders import put_page

from drethtr.documents.page import Review
from drethtr.documents.read import read_page

KILLS = int(os.environ.get("DRETHTR_KILLS", "3"))
"""How often; 50 take some minutes."""


def start(folder, model):
    command = [sys.executable, "-m", "drethtr.cli", "edit", str(folder), "--port", "0", "--no-browser", "--model"]
    process = subprocess.Popen([*command, str(model)], stderr=subprocess.PIPE, text=True)
    said = next(row for row in process.stderr if " is open at " in row)
    return process, said.split(" is open at ")[1].split()[0]


def ask(address, method="GET", body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data, {"Content-Type": "application/json", **headers}, method=method)
    with urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def edit_until_killed(address, pages, numbers, saved, tried):
    """Correct and confirm lines one after the other, and note what was saved."""
    while True:
        page = pages[next(numbers) % len(pages)]
        for line in ask(f"{address}/api/pages/{page}")["lines"]:
            text = f"text {next(numbers)}"
            here = f"{address}/api/pages/{page}/lines/{line['id']}"
            tried[page, line["id"]] = text
            done = ask(here, "PUT", {"text": text, "status": "confirmed"}, **{"If-Match": line["revision"]})
            saved[page, line["id"]] = done["text"]


def test_no_confirmed_text_is_lost(tmp_path, tiny_path):
    files = [put_page(tmp_path / "scans", stem, format) for stem, format in (("a", "page"), ("b", "alto"))]
    lengths = [len(file.read_bytes()) for file in files]
    chance, numbers = random.Random(0), iter(range(10**6))
    saved, tried = {}, {}
    for _ in range(KILLS):
        process, address = start(tmp_path / "scans", tiny_path)
        try:
            pages = [row["id"] for row in ask(f"{address}/api/pages")]
            Timer(chance.uniform(0, 1.5), process.kill).start()
            with suppress(URLError, HTTPException, ConnectionError, TimeoutError):
                edit_until_killed(address, pages, numbers, saved, tried)
        finally:
            process.kill()
            process.communicate()
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
