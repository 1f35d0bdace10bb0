import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

import pytest
from edited_folders import foreign, put_page

import drethtr
from drethtr.cli.edit import token_of_user
from drethtr.documents.page_file import PageFile
from drethtr.documents.read import read_page
from drethtr.editing import Session
from drethtr.editing.learner import LEARN

DEMO = Path(drethtr.__file__).parent / "editing" / "demo"
SAMPLE = Path(__file__).parents[2] / "samples" / "page" / "letter.jpg"


@contextmanager
def running(place, name, *options, **variables):
    """A running command, with its settings in a folder: the address that it prints, and its process."""
    command = [sys.executable, "-m", "drethtr", name, "--port", "0", *map(str, options)]
    own = os.environ | {"XDG_CONFIG_HOME": str(place), "APPDATA": str(place)} | variables
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=own) as process:
        said = next(row for row in process.stderr if " is open at " in row)
        address = said.split(" is open at ")[1].split()[0]
        try:
            yield address
        except BaseException:
            process.kill()  # or its end would be waited for
            raise
        with suppress(HTTPError):
            urlopen(origin(address)).close()  # it serves now, and so does what Ctrl-C should do
        process.send_signal(signal.SIGINT)
        assert "Stopped; the sample letter and your changes to it are deleted" in process.stderr.read()
        assert process.wait() == 0


def origin(address):
    return "{0.scheme}://{0.netloc}".format(urlsplit(address))


def names_of_pages(address, token=None):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with urlopen(Request(f"{origin(address)}/api/pages", headers=headers)) as answer:
        return [row["name"] for row in json.loads(answer.read())]


@pytest.mark.parametrize("name", ["edit", "demo"])
def test_without_a_folder_a_letter_is_opened_for_who_has_the_token(name, tmp_path):
    with running(tmp_path, name, "--no-browser") as address:
        token = address.partition("token=")[2]
        assert names_of_pages(address, token) == ["letter.jpg"]
        for wrong in (None, "", token[:-1]):
            with pytest.raises(HTTPError, match="401"):
                names_of_pages(address, wrong)


def test_the_token_stays_in_a_private_file(tmp_path):
    tokens = []
    for _ in range(2):
        with running(tmp_path, "edit", "--no-browser") as address:
            tokens.append(address.partition("token=")[2])
    file = next(tmp_path.rglob("token"))
    assert tokens[0] == tokens[1] == file.read_text() and len(tokens[0]) == 32
    if sys.platform != "win32":
        assert file.stat().st_mode & 0o077 == 0
        file.chmod(0o644)  # others may have read it
        with running(tmp_path, "edit", "--no-browser") as address:
            assert address.partition("token=")[2] not in ("", tokens[0])


@pytest.mark.parametrize("content", [b"", b"short", "é".encode() * 32, None])
def test_a_file_without_a_private_token_is_replaced(tmp_path, monkeypatch, content):
    """A program that was killed, or another one, may have left it."""
    monkeypatch.setattr("typer.get_app_dir", lambda name: str(tmp_path / name))
    file = tmp_path / "drethtr" / "token"
    file.parent.mkdir()
    if content is None:
        file.write_text("a" * 32)
        file.chmod(0o644)
    else:
        file.write_bytes(content)
        file.chmod(0o600)
    token = token_of_user()
    assert len(token) == 32 and token_of_user() == token
    assert list(file.parent.iterdir()) == [file]
    if sys.platform != "win32":
        assert file.stat().st_mode & 0o777 == 0o600 and token != "a" * 32


def test_the_token_for_a_network_is_kept_nowhere(tmp_path):
    with running(tmp_path, "edit", "--no-browser", "--host", "0.0.0.0") as address:
        token = address.partition("token=")[2]
        assert len(token) == 32 and names_of_pages(address, token) == ["letter.jpg"]
    assert not list(tmp_path.rglob("token"))


def test_behind_a_proxy_that_checks_who_asks_the_letter_opens_without_a_token_and_with_hints(tmp_path):
    with running(tmp_path, "edit", "--no-browser", "--no-token") as address:
        assert names_of_pages(address) == ["letter.jpg"]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/p/[0-9a-f]{16}\?hints=1", address)


class NotFollowed(HTTPRedirectHandler):
    def redirect_request(self, *request):
        return None


def opened(address):
    """How a browser is answered at an address: the status, where it is sent, and its cookie."""
    try:
        answer = build_opener(NotFollowed).open(Request(address, headers={"Accept": "text/html"}))
    except HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers["Location"], answer.headers["Set-Cookie"]


@pytest.mark.skipif(sys.platform == "win32", reason="the browser is a shell script")
def test_the_command_line_of_the_browser_shows_a_ticket_that_lets_it_in_once(tmp_path):
    said = tmp_path / "said"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {said}\n')
    browser.chmod(0o755)
    with running(tmp_path, "edit", BROWSER=f"{browser} %s") as address:
        for _ in range(1000):
            if said.exists() and said.read_text().endswith("\n"):
                break
            sleep(0.05)
        command, token = said.read_text().strip(), address.partition("token=")[2]
        assert command.startswith(f"{origin(address)}/p/") and token not in command
        assert opened(command[:-1]) == (401, None, None)
        if sys.platform == "linux" and os.geteuid() == 0:  # another user sees the command line, too
            os.seteuid(12345)
            try:
                assert opened(command) == (401, None, None)
            finally:
                os.seteuid(0)
        status, place, cookie = opened(command)
        assert (status, place) == (303, urlsplit(command).path + "?hints=1") and token in cookie
        assert opened(command) == (401, None, None)


def test_the_letter_is_the_sample():
    assert (DEMO / "letter.jpg").read_bytes() == SAMPLE.read_bytes()


def test_the_last_line_of_the_letter_stands_third_until_somebody_moves_it():
    heights = [line.baseline[0][1] for line in read_page(DEMO / "letter.page.xml").lines]
    assert len(heights) == 14 and heights[2] == max(heights)
    assert sorted(heights) == [*heights[:2], *heights[3:], heights[2]]


def test_a_folder_that_cannot_be_opened_is_explained(drethtr, tmp_path):
    outcome = drethtr("edit", tmp_path / "gone", "--port", 0, "--no-browser")
    assert outcome.code == 2 and outcome.err == f"drethtr: {tmp_path / 'gone'}: no such folder\n"


def test_a_corrected_file_beside_that_of_another_program_is_named(drethtr, tmp_path):
    folder = tmp_path / "scans"
    own, theirs = put_page(folder, "a"), folder / "a.xml"
    theirs.write_bytes(foreign(put_page(tmp_path / "other", "a")).read_bytes())
    own.write_bytes(PageFile.parse(own.read_bytes(), "a").without_lines(["l1"]).data)
    told = drethtr("edit", folder, "--port", "0", "--model", tmp_path / "none.safetensors").err
    assert f"{own.resolve()}: not read, although it was edited in drethtr edit; {theirs.resolve()}" in told


def test_the_end_says_that_a_model_was_still_learning(drethtr, tmp_path, tiny_path, monkeypatch):
    def begin(session):
        session.jobs.new(LEARN)
        raise KeyboardInterrupt

    put_page(tmp_path / "scans", "a")
    monkeypatch.setattr(Session, "begin", begin)
    monkeypatch.setattr("drethtr.cli.edit.signal", lambda *_: None)
    outcome = drethtr("edit", tmp_path / "scans", "--port", 0, "--no-browser", "--model", tiny_path)
    assert outcome.err.endswith("Stopped; everything is saved, but the model had not finished learning.\n")
