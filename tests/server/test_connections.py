"""Real connections: those that are too slow are closed, and those that wait for events hear of them."""

import json
import socket
import time
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from threading import Event, Semaphore, Thread
from time import sleep
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
import uvicorn
from edited_folders import put_page
from PIL import Image
from waiting import until

from drethtr import Recognizer
from drethtr.editing import Session, Workspace
from drethtr.editing.alternatives import Alternatives
from drethtr.pages.segmentation import segmentation_named
from drethtr.server import connections, uploads
from drethtr.server.app import make_app
from drethtr.server.connections import TimedConnection
from drethtr.server.editor import downloads, folder, pages
from drethtr.server.service import SearchService

SECONDS = 20
"""Less than what is held back here waits: a client that must not wait for it fails before it goes on."""


@dataclass
class Heard:
    """What a server has heard: how many requests for each path, and the connections that are open."""

    paths: Counter[str]
    connections: set


@contextmanager
def served(app, heard):
    """The port of a server of an application."""

    async def counted(scope, receive, send):
        if scope["type"] == "http":
            heard.paths[scope["path"]] += 1
        await app(scope, receive, send)

    server = uvicorn.Server(
        uvicorn.Config(
            counted,
            port=0,
            log_level="error",
            http=TimedConnection,
            ws="none",
            timeout_keep_alive=1,
            timeout_graceful_shutdown=1,
        )
    )
    heard.connections = server.server_state.connections
    thread = Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def heard():
    return Heard(Counter(), set())


@pytest.fixture
def port(tiny_path, tmp_path, heard):
    put_page(tmp_path, "a")
    recognizer, lines = Recognizer.load(tiny_path), segmentation_named("projection")
    with (
        Workspace.open(tmp_path) as workspace,
        Session(workspace, recognizer, lines) as session,
        served(make_app(recognizer, lines, session=session), heard) as port,
    ):
        yield port


HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("begin", [b"", b"GET / HTTP/1.1\r\nHost: loc", HEAD, HEAD + b"GET /hea"])
def test_who_sends_no_head_in_time_is_not_waited_for(port, monkeypatch, begin):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client, client.makefile("rb") as answer:
        client.sendall(begin)
        content = answer.read()  # until the server hangs up
    assert content.count(b"HTTP/1.1 200") == begin.count(HEAD)


def test_a_slow_body_and_a_slow_answer_are_waited_for(port, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client, client.makefile("rb") as answer:
        client.sendall(b"POST /line HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nConnection: close\r\n\r\n")
        sleep(0.6)
        client.sendall(b"none")
        assert answer.read().startswith(b"HTTP/1.1 422")


def edit_a_line(port):
    """The page of the only line, which is changed."""
    here = f"http://127.0.0.1:{port}/api/pages"
    with urlopen(here, timeout=SECONDS) as answer:
        [page] = json.loads(answer.read())
    with urlopen(f"{here}/{page['id']}/lines/l0", timeout=SECONDS) as answer:
        line = json.loads(answer.read())
    headers = {"Content-Type": "application/json", "If-Match": line["revision"]}
    changed = Request(f"{here}/{page['id']}/lines/l0", b'{"text": "x"}', headers, method="PUT")
    urlopen(changed, timeout=SECONDS).close()
    return page["id"]


def exported(port):
    """The export of all pages, or why there is none now."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/api/export?format=page", timeout=30) as answer:
            return answer.read()
    except HTTPError as refused:
        with refused:
            return f"{refused.code}: {json.loads(refused.read())['error']}"


def test_exports_that_nobody_takes_are_bounded(port, tmp_path, monkeypatch):
    """A small one is left room for; once their clients have gone, the next is made."""
    monkeypatch.setattr(downloads, "MAX_WAITING_BYTES", 1 << 20)
    file = tmp_path / "a.page.xml"
    file.write_bytes(file.read_bytes() + b"<!--" + b"x" * (16 << 20) + b"-->")  # more than a connection holds
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        client.connect(("127.0.0.1", port))
        client.sendall(b"GET /api/export?format=page HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 200"
        assert exported(port) == "503: earlier exports are still being downloaded; try again when they have ended"
    tries = (exported(port) for _ in range(1000))  # until the server hears that the client has gone
    assert next(one for one in tries if isinstance(one, bytes)) == file.read_bytes()


def test_a_change_is_told_to_those_who_wait_for_events(port):
    with urlopen(f"http://127.0.0.1:{port}/api/events", timeout=30) as events:
        assert events.readline() == b": hello\n"
        page = edit_a_line(port)
        told = [events.readline() for _ in range(3)]
    change = json.loads(told[2].removeprefix(b"data: "))
    assert told[1] == b"event: page\n" and (change["page"], change["why"]) == (page, "edit")
    assert change["row"]["id"] == page and change["row"]["corrected"] == 1


POST = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf"


def test_who_goes_on_with_a_body_after_the_answer_is_not_waited_for(port, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client, client.makefile("rb") as answer:
        client.sendall(POST)
        assert answer.readline().startswith(b"HTTP/1.1 404")
        with suppress(OSError):
            for _ in range(100):
                client.sendall(b".")  # bytes as such are no reason to wait
                sleep(0.05)
            pytest.fail("it still takes bytes")


def test_who_is_silent_within_a_body_after_the_answer_is_not_waited_for(port, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client, client.makefile("rb") as answer:
        client.sendall(POST)
        assert answer.read().startswith(b"HTTP/1.1 404")


@pytest.mark.parametrize(
    ("address", "headers"), [("/nowhere", {}), ("/line?x", {}), ("/line", {"Host": "evil.example"})]
)
def test_who_sends_a_large_body_before_reading_hears_what_was_wrong(port, address, headers):
    """`urlopen` closes its connections; the body is more than they hold on the way."""
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(f"http://127.0.0.1:{port}{address}", bytes(32 << 20), headers), timeout=30)
    with refused.value as answer:
        assert answer.code in (400, 404) and json.loads(answer.read())["error"]


def test_who_sends_more_than_anyone_reads_is_not_heard_out(port, monkeypatch):
    monkeypatch.setattr(connections, "MAX_REST_BYTES", 1 << 20)
    with pytest.raises(URLError, match=r"reset|pipe|abort"):
        urlopen(Request(f"http://127.0.0.1:{port}/nowhere", bytes(64 << 20)), timeout=30)


def test_who_waits_to_be_asked_for_a_body_is_refused_at_once(port):
    head = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client, client.makefile("rb") as answer:
        client.sendall(head + b"Expect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        assert answer.readline().startswith(b"HTTP/1.1 404")


def test_who_does_not_take_the_answer_is_not_waited_for(port, monkeypatch):
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.settimeout(0.5)
        with pytest.raises(ConnectionError):  # the server has hung up
            ask_again_and_again(client)


def ask_again_and_again(client):
    """Send requests, although nobody may listen for a while."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with suppress(TimeoutError):
            client.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)


@pytest.mark.parametrize("begin", [b"", b"GET / HT", HEAD, POST])
def test_connections_that_wait_give_way_to_new_ones(port, monkeypatch, begin):
    """Those that wait for an answer do not: here the one that listens to events."""
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 8)
    with ExitStack() as all_of_them:
        events = all_of_them.enter_context(urlopen(f"http://127.0.0.1:{port}/api/events", timeout=30))
        assert events.readline() == b": hello\n"
        clients = []
        for _ in range(40):
            clients.append(all_of_them.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30)))
            clients[-1].sendall(begin)
            if b"\r\n\r\n" in begin:
                assert clients[-1].recv(1)
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=30) as answer:
            assert answer.status == 200
        with suppress(ConnectionResetError):
            while clients[0].recv(1 << 16):
                pass  # until the server hangs up
        edit_a_line(port)
        assert [events.readline() for _ in range(2)] == [b"\n", b"event: page\n"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.0\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000, 400),
        (b"GET /%00%ff/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        (b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        (b"TRACE /line HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        (b"BREW /line HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        (b"POST /line HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nnone", 400),
        (b"POST /line HTTP/1.1\r\nHost: localhost\r\nContent-Length: -4\r\n\r\nnone", 400),
        (b"POST /line HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (
            b"POST /line HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"4\r\nnone\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            422,
        ),
    ],
)
def test_odd_requests_are_refused_and_the_server_goes_on(port, sent, status):
    """The last is one request to those who believe the length, and two to those who believe the chunks."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client, client.makefile("rb") as answer:
        client.sendall(sent)
        assert answer.readline().startswith(b"HTTP/1.1 %d " % status)
    with urlopen(f"http://127.0.0.1:{port}/health", timeout=30) as answer:
        assert answer.status == 200


def test_many_event_streams_silence_nobody(port, monkeypatch):
    """The oldest ends when there are too many, and the newest hears of changes."""
    monkeypatch.setattr(folder, "MAX_STREAMS", 4)
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 8)
    with ExitStack() as all_of_them:
        streams = []
        for _ in range(12):
            streams.append(all_of_them.enter_context(urlopen(f"http://127.0.0.1:{port}/api/events", timeout=30)))
            assert streams[-1].readline() == b": hello\n"
        assert streams[0].read() == b"\n"  # and ends
        edit_a_line(port)
        assert [streams[-1].readline() for _ in range(2)] == [b"\n", b"event: page\n"]


def test_bodies_that_never_end_silence_nobody(port, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 8)
    with ExitStack() as all_of_them:
        for _ in range(12):
            client = all_of_them.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            client.sendall(b"POST /line HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
            sleep(0.02)
        edit_a_line(port)


def compared(port, path, answers):
    """Send a text to be compared; its status goes to `answers`."""
    with suppress(OSError):
        request = Request(f"http://127.0.0.1:{port}{path}", b"x" * 1000)
        try:
            with urlopen(request, timeout=60) as answer:
                answers.append(answer.status)
        except HTTPError as error:
            answers.append(error.code)


def test_texts_that_wait_leave_threads_for_others_and_memory(port, monkeypatch):
    """One text is compared at a time; the others wait in the memory of all requests, and nobody else for them."""
    goes_on, answers = Event(), []
    monkeypatch.setattr(pages, "compare", lambda *_: goes_on.wait(60) and {})
    monkeypatch.setattr(uploads, "MAX_TOTAL_BYTES", 20_500)
    path = f"/api/pages/{edit_a_line(port)}/compare"
    clients = [Thread(target=compared, args=(port, path, answers)) for _ in range(25)]
    for client in clients:
        client.start()
    try:
        until(lambda: len(answers) == 5)  # the others wait
        edit_a_line(port)
    finally:
        goes_on.set()
        for client in clients:
            client.join()
    assert answers.count(200) == 20 and answers.count(503) == 5


@pytest.mark.parametrize(
    ("of", "name", "method", "what", "rest"),
    [
        (Workspace, "strip", "GET", "strip.jpg", "\r\n"),
        (
            Alternatives,
            "of_word",
            "POST",
            "alternatives",
            'Content-Type: application/json\r\nContent-Length: 33\r\n\r\n{"text": "a", "start": 0,"end":1}',
        ),
    ],
)
def test_pictures_and_alternatives_leave_threads_for_saving(port, heard, monkeypatch, of, name, method, what, rest):
    begun, goes_on, page = Semaphore(0), Event(), edit_a_line(port)
    path = f"/api/pages/{page}/lines/l0/{what}"
    monkeypatch.setattr(of, name, lambda *_: begun.release() or (goes_on.wait(60) and b""))
    with ExitStack() as all_of_them:
        all_of_them.callback(goes_on.set)
        for _ in range(25):
            client = all_of_them.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            client.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{rest}".encode())
        assert begun.acquire(timeout=SECONDS)
        until(lambda: heard.paths[path] == 25, SECONDS)
        edit_a_line(port)


def test_searches_leave_threads_for_lines(tiny_path, heard, monkeypatch):
    """Of `drethtr serve`, too: they take turns."""
    begun, goes_on = Semaphore(0), Event()
    monkeypatch.setattr(SearchService, "hits", lambda *_: begun.release() or (goes_on.wait(60) and []))
    written, image = BytesIO(), Image.new("L", (90, 40), 255)
    image.save(written, "PNG")
    app = make_app(Recognizer.load(tiny_path), segmentation_named("projection"), index="a.sqlite")
    with served(app, heard) as port, ExitStack() as all_of_them:
        all_of_them.callback(goes_on.set)
        for _ in range(25):
            client = all_of_them.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            client.sendall(b"GET /search?q=a HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert begun.acquire(timeout=SECONDS)
        until(lambda: heard.paths["/search"] == 25, SECONDS)
        with urlopen(f"http://127.0.0.1:{port}/line", written.getvalue(), timeout=SECONDS) as answer:
            assert answer.status == 200


def test_work_for_clients_who_have_left_is_dropped(port, heard, monkeypatch):
    begun, goes_on = Semaphore(0), Event()

    def compare(*_):
        begun.release()
        goes_on.wait(60)
        return {}

    monkeypatch.setattr(pages, "compare", compare)
    path = f"/api/pages/{edit_a_line(port)}/compare"
    with ExitStack() as all_of_them:
        all_of_them.callback(goes_on.set)
        with ExitStack() as clients:
            for _ in range(10):
                client = clients.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
                client.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\ntext".encode())
            assert begun.acquire(timeout=SECONDS)
            until(lambda: heard.paths[path] == 10, SECONDS)
        until(lambda: not heard.connections, SECONDS)
    compared(port, path, answers := [])
    assert answers == [200] and begun.acquire(blocking=False) and not begun.acquire(blocking=False)
