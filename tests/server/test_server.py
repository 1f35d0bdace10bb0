"""A real server of a small model, asked over HTTP."""

import asyncio
import json
import socket
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from errno import ENOSPC
from io import BytesIO
from threading import Event, Semaphore, Thread
from time import sleep
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen
from zipfile import ZipFile

import pytest
import uvicorn
from archives import build_index, make_archive
from conftest import written
from made_pages import TEXTS, blank, write
from PIL import Image
from starlette.requests import ClientDisconnect
from waiting import until

from drethtr import Recognizer
from drethtr.base.errors import CheckpointError, DrethtrError
from drethtr.documents.formats import FORMATS
from drethtr.layout.projection import Projection
from drethtr.pages.segmentation import Segmentation, segmentation_named
from drethtr.pages.transcribe import transcribe_page
from drethtr.server import app, request_queue, service, uploads
from drethtr.server.app import make_app
from drethtr.server.description import description
from drethtr.server.request_queue import PageTurns, RequestQueue


@contextmanager
def serving(recognizer, index=None):
    """What asks a server of this recognizer: status, media type and content of an answer."""
    config = uvicorn.Config(
        app.make_app(recognizer, segmentation_named("projection"), index=index), port=0, log_level="error"
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run)
    thread.start()
    until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]

    def ask(address, content=None, **headers):
        request = Request(f"http://127.0.0.1:{port}{address}", content, headers)
        try:
            with urlopen(request) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read()
        except HTTPError as error:
            with error:
                return error.code, error.headers["Content-Type"], error.read()

    ask.port, ask.connections = port, server.server_state.connections
    try:
        yield ask
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def recognizer(tiny_path):
    return Recognizer.load(tiny_path, alternatives=2)


@pytest.fixture
def ask(recognizer):
    with serving(recognizer) as ask:
        yield ask


def encoded(image, format="PNG", **options):
    file = BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def held_back(recognizer, monkeypatch):
    """From here on it notes how many lines it begins to read, says so, and waits until it may go on."""
    begun, go_on, turns, read = Event(), Event(), [], recognizer.read_lines

    def slowly(lines):
        turns.append(len(lines))
        begun.set()
        go_on.wait(30)
        return read(lines)

    monkeypatch.setattr(recognizer, "read_lines", slowly)
    return begun, go_on, turns


def waiting(ask):
    """How many lines wait to be read."""
    return json.loads(ask("/")[2])["waiting"]


def line(text):
    return encoded(Image.fromarray(written(text)))


PAGE = write(blank(700, 400), TEXTS[:3]).image
BOOK = encoded(PAGE, "TIFF", save_all=True, append_images=[PAGE])


def test_a_line_is_read_as_the_recognizer_reads_it(ask, recognizer):
    status, media, content = ask("/line", line("abc"))
    answer = json.loads(content)
    assert (status, media) == (200, "application/json") and answer.pop("made_by")["model"].startswith("tiny")
    [reading] = recognizer.read([line("abc")])
    assert answer == json.loads(json.dumps(reading.to_json())) and len(answer["alternatives"]) == 3


def test_who_wait_together_are_read_together(recognizer, monkeypatch):
    """All get what they would get alone, one bad image among them, in fewer turns than there are lines."""
    texts = [letter * (1 + number % 7) for number, letter in enumerate("abcdefghijklmnop")]
    alone = [reading.text for text in texts for reading in recognizer.read([line(text)])]
    begun, go_on, turns = held_back(recognizer, monkeypatch)
    with serving(recognizer) as ask, ThreadPoolExecutor(len(texts) + 1) as people:
        bad = people.submit(ask, "/line", b"no image")
        answers = people.map(lambda text: json.loads(ask("/line", line(text))[2])["text"], texts)
        assert begun.wait(30)
        until(lambda: sum(turns) + waiting(ask) == len(texts))  # the first turn may be of several
        go_on.set()
        assert list(answers) == alone and bad.result()[0] == 422
    assert sum(turns) == len(texts) and len(turns) < len(texts) / 2


def test_who_gives_up_takes_nobody_along(recognizer, monkeypatch):
    """One of three gives up while his line is read, another while his waits; the third gets his reading."""
    [alone] = recognizer.read([written("abcd")])
    begun, go_on, turns = held_back(recognizer, monkeypatch)

    async def ask_three():
        request_queue = RequestQueue(recognizer)
        first = asyncio.create_task(request_queue.read(written("ab")))
        assert await asyncio.to_thread(begun.wait, 30)
        second, third = (asyncio.create_task(request_queue.read(written(text))) for text in ("abc", "abcd"))
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        go_on.set()
        return await asyncio.gather(first, second, third, return_exceptions=True)

    first, second, third = asyncio.run(ask_three())
    assert isinstance(first, asyncio.CancelledError) and isinstance(second, asyncio.CancelledError)
    assert third == alone and turns == [1, 1]


def test_a_fault_is_told_to_all_who_wait_and_the_server_goes_on(recognizer, monkeypatch):
    def fail(lines):
        sleep(0.2)
        raise CheckpointError("the model's numbers overflow")

    with serving(recognizer) as ask:
        with monkeypatch.context() as patch, ThreadPoolExecutor(4) as people:
            patch.setattr(recognizer, "read_lines", fail)
            answers = list(people.map(lambda _: ask("/line", line("abc")), range(4)))
        assert answers == [(500, "application/json", b'{"error":"the model\'s numbers overflow"}')] * 4
        assert ask("/line", line("abc"))[0] == 200


def test_a_line_that_fails_fails_alone(recognizer, monkeypatch):
    """Those that wait with it are read all the same."""
    texts, read, turns, go_on = ["a", "ab", "abc", "abcd"], recognizer.read_lines, [], Event()
    alone = [reading.text for reading in recognizer.read(list(map(line, texts)))]

    def read_or_fail(lines):
        turns.append(len(lines))
        go_on.wait(30)
        if any(each.shape == written("abc").shape for each in lines):
            raise CheckpointError("the model's numbers overflow")
        return read(lines)

    monkeypatch.setattr(recognizer, "read_lines", read_or_fail)
    with serving(recognizer) as ask, ThreadPoolExecutor(4) as people:
        answers = people.map(lambda text: ask("/line", line(text)), ["a", "ab", "abcd", "abc"])
        until(lambda: turns and sum(turns) + waiting(ask) == len(texts))
        go_on.set()
        *answers, (status, _, content) = answers
    assert [json.loads(answer)["text"] for _, _, answer in answers] == [*alone[:2], alone[3]]
    assert status == 500 and b"overflow" in content and max(turns) > 1


def test_no_more_pixels_are_read_together_than_memory_has_room_for(recognizer, monkeypatch):
    begun, go_on, turns = held_back(recognizer, monkeypatch)

    async def ask_five():
        request_queue = RequestQueue(recognizer)
        first = asyncio.create_task(request_queue.read(written("abc")))
        assert await asyncio.to_thread(begun.wait, 30)
        others = [asyncio.create_task(request_queue.read(written("abc"))) for _ in range(4)]
        await asyncio.sleep(0)
        go_on.set()
        return await asyncio.gather(first, *others)

    monkeypatch.setattr("drethtr.recognition.batching.PIXELS_TOGETHER", written("abc").size)
    assert len(asyncio.run(ask_five())) == 5 and turns == [1, 2, 2]


@pytest.mark.parametrize("address", ["/line", "/page?format=txt"])
def test_what_was_brought_is_gone_when_it_is_read(address, recognizer, monkeypatch):
    gone, found, bring, read = Event(), [], uploads.read_body, recognizer.read_lines

    class Body(bytes):
        def __del__(self):
            gone.set()

    async def read_body(*asked):
        return Body(await bring(*asked))

    monkeypatch.setattr(uploads, "read_body", read_body)
    monkeypatch.setattr(recognizer, "read_lines", lambda lines: found.append(gone.wait(5)) or read(lines))
    with serving(recognizer) as ask:
        assert ask(address, encoded(PAGE.crop((0, 0, PAGE.width, 299))))[0] == 200
    assert found and all(found)


def test_a_fault_of_the_server_is_told_without_what_is_inside(recognizer, monkeypatch, capfd):
    def fail(lines):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(recognizer, "read_lines", fail)
    with serving(recognizer) as ask:
        status, media, content = ask("/line", line("abc"))
    assert (status, media) == (500, "application/json")
    assert json.loads(content) == {"error": "the server failed on this request; see its log"}
    assert "a secret" in capfd.readouterr().err


def test_who_sends_too_slowly_leaves_room_for_others(recognizer, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_UPLOAD_SECONDS", 0.2)
    monkeypatch.setattr(service, "MAX_REQUESTS", 1)
    with serving(recognizer) as ask:
        with socket.create_connection(("127.0.0.1", ask.port), timeout=60) as client, client.makefile("rb") as answer:
            client.sendall(b"POST /line HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf")
            head, _, content = answer.read().partition(b"\r\n\r\n")  # until the server hangs up
        assert head.startswith(b"HTTP/1.1 408 ")
        assert json.loads(content)["error"].startswith("the image did not arrive within 0.2 seconds")
        monkeypatch.setattr(uploads, "MAX_UPLOAD_SECONDS", 60)
        assert ask("/line", line("abc"))[0] == 200


def test_who_has_not_sent_everything_yet_shuts_nobody_out(recognizer, monkeypatch):
    monkeypatch.setattr(service, "MAX_REQUESTS", 1)
    with serving(recognizer) as ask, ExitStack() as clients:
        for address in ("/line", "/page"):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", ask.port), timeout=60))
            head = f"POST {address} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n"
            client.sendall(head.encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 100 ")  # it waits for the body
        assert ask("/line", line("abc"))[0] == 200
        assert ask("/page", line("abc"))[0] == 200


def test_a_full_disk_is_no_fault_of_the_request(ask, monkeypatch):
    def fail(path, content):
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(service.Path, "write_bytes", fail)
    status, _, content = ask("/page?name=letter.jpg", encoded(PAGE))
    assert status == 500
    assert json.loads(content) == {"error": "this server cannot keep the image: No space left on device"}


def test_without_a_folder_for_temporary_files_it_says_so_at_once(recognizer, monkeypatch):
    def fail():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(service, "gettempdir", fail)
    with pytest.raises(DrethtrError, match=r"no folder for temporary files; make /tmp writable"):
        make_app(recognizer, segmentation_named("projection"))


def test_a_page_in_every_format(ask, recognizer, tmp_path):
    found = {format: ask(f"/page?format={format}&name=../letter.png", encoded(PAGE)) for format in FORMATS}
    for format, (status, media, _) in found.items():
        assert status == 200 and media.startswith(FORMATS[format].media), format
    PAGE.save(tmp_path / "letter.png")
    page = transcribe_page(tmp_path / "letter.png", recognizer, Projection())
    assert len(page.lines) == 3 and found["txt"][2].decode() == page.text
    assert json.loads(found["json"][2])["image"] == "letter.png"


def test_a_book_is_one_document_a_list_or_an_archive(ask, monkeypatch):
    assert ask("/page?format=txt", BOOK)[2].count(b"\n") >= 6
    status, media, content = ask("/page?format=json&name=book.tif", BOOK)
    assert (status, media) == (200, "application/json") and [page["image"] for page in json.loads(content)] == [
        "book.tif"
    ] * 2
    status, media, content = ask("/page?format=alto&name=book.tif", BOOK)
    assert (status, media) == (200, "application/zip")
    assert ZipFile(BytesIO(content)).namelist() == ["book_0001.alto.xml", "book_0002.alto.xml"]
    monkeypatch.setattr(service, "MAX_PAGES", 1)
    assert json.loads(ask("/page?format=txt&name=a.tif", BOOK)[2]) == {
        "error": "a.tif: has more than 1 pages; split it"
    }


def form(*files):
    """The body and the headers of a form with files."""
    parts = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n' % (name.encode(), content)
        for name, content in files
    )
    return b"".join([*parts, b"--x--\r\n"]), {"Content-Type": "multipart/form-data; boundary=x"}


def test_pages_of_an_archive_are_named_like_their_files(ask):
    content, headers = form(*[("0001.png", encoded(PAGE))] * 2, ("a b.png", encoded(PAGE)))
    archive = ask("/page?format=alto", content, **headers)[2]
    assert ZipFile(BytesIO(archive)).namelist() == ["0001.alto.xml", "0001_2.alto.xml", "a b.alto.xml"]


def test_files_of_a_form_are_read_in_their_order(ask, recognizer):
    content, headers = form(("a.png", line("abc")), ("b.png", line("cd")))
    found = json.loads(ask("/line", content, **headers)[2])
    assert [one["text"] for one in found] == [one.text for one in recognizer.read([line("abc"), line("cd")])]
    content, headers = form(("../one.png", encoded(PAGE)), ("one.png", encoded(PAGE)))
    names = ZipFile(BytesIO(ask("/page?format=page", content, **headers)[2])).namelist()
    assert names == ["one.page.xml", "one_2.page.xml"]
    content, _ = form(("one.png", encoded(PAGE)))
    headers = {"Content-Type": "Multipart/Form-Data; boundary=x"}
    assert json.loads(ask("/page", content, **headers)[2])["image"] == "one.png"


EMPTY_FIELD = b'--x\r\nContent-Disposition: form-data; name="field"\r\n\r\n\r\n'


@pytest.mark.parametrize(
    ("content", "status", "error"),
    [
        (form()[0], 400, "the request has no image"),
        (form(("a.png", b""))[0], 400, "the request has no image"),
        (b"nonsense", 400, "the form is damaged"),
        (form(("a.png", line("abc")), ("b.png", line("cd")))[0][:-40], 400, "it ends before its last boundary"),
        (form(("a.png", line("abc")))[0].removesuffix(b"--x--\r\n"), 400, "it ends before its last boundary"),
        (form(*[("a.png", b"x")] * 65)[0], 413, "at most 64 files"),
        (EMPTY_FIELD * 65 + form(("a.png", line("abc")))[0], 413, "at most 64 fields besides its files"),
        (form(("a.png", line("abc")), ("b.png", b"no image"))[0], 422, "b.png: not an image in a supported format"),
    ],
)
def test_a_form_that_cannot_be_read_is_explained(ask, content, status, error):
    found, _, answer = ask("/line", content, **form()[1])
    assert found == status and error in json.loads(answer)["error"]


def test_a_page_whose_request_has_ended_needs_no_event_loop():
    """After Ctrl-C its thread goes on for a moment."""

    async def begun():
        return PageTurns(None, None)

    turns = asyncio.run(begun())
    turns.ended = True
    with pytest.raises(ClientDisconnect):
        turns([written("abc")])


def test_lines_are_read_between_those_of_a_page(recognizer, monkeypatch):
    monkeypatch.setattr(request_queue, "LINES_AT_A_TIME", 1)
    begun, go_on, turns = held_back(recognizer, monkeypatch)
    with serving(recognizer) as ask, ThreadPoolExecutor(2) as people:
        page = people.submit(ask, "/page?format=txt", encoded(PAGE))
        assert begun.wait(30)
        other = people.submit(ask, "/line", line("abc"))
        until(lambda: waiting(ask))
        go_on.set()
        assert other.result()[0] == 200 and page.result()[2].count(b"\n") == 3
    assert turns[0] == 1  # the first line of the page; the other line was next


@pytest.mark.parametrize("waits", [True, False])
def test_a_page_is_not_read_further_when_its_client_has_left(recognizer, monkeypatch, waits):
    """Neither one that is read, nor one that waits for it."""
    monkeypatch.setattr(request_queue, "LINES_AT_A_TIME", 1)
    begun, go_on, turns = held_back(recognizer, monkeypatch)
    image, saved, save, searched, find = encoded(PAGE), Semaphore(0), service.save_upload, [], Projection.find
    monkeypatch.setattr(Projection, "find", lambda self, page: searched.append(page) or find(self, page))
    monkeypatch.setattr(service, "save_upload", lambda *file: saved.release() or save(*file))
    with serving(recognizer) as ask, ThreadPoolExecutor(1) as people:
        page = people.submit(ask, "/page?format=txt", image) if waits else None
        if waits:
            saved.acquire()
        with socket.create_connection(("127.0.0.1", ask.port)) as client:
            client.sendall(b"POST /page HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(image) + image)
            saved.acquire()
            begun.wait()
            name = client.getsockname()
        until(lambda: all(connection.client != name for connection in list(ask.connections)))
        go_on.set()
        assert page is None or page.result()[0] == 200
        assert ask("/page?format=txt", image)[0] == 200
        read = sum(turns)
        assert ask("/page?format=txt", image)[0] == 200
        whole = sum(turns) - read
    assert read == (2 * whole if waits else 1 + whole) and len(searched) == 3


def test_who_answers(ask):
    status, _, content = ask("/")
    about = json.loads(content)
    assert status == 200 and about["waiting"] == 0 and about["precision"] == "float32"
    assert about["made_by"].keys() == {"drethtr", "model", "created"}


def test_metrics_name_the_route_that_was_asked_for(recognizer):
    with serving(recognizer) as ask:
        for path in ("/", "/about", "/about", "/health"):
            assert ask(path)[0] == 200
        shown = ask("/metrics")[2].decode()
    for path, number in (("/", 1), ("/about", 2), ("/health", 1)):
        assert f'drethtr_requests_total{{method="GET",path="{path}",status="200"}} {number}\n' in shown


@pytest.mark.parametrize(
    ("address", "content", "status", "error"),
    [
        ("/line", b"", 400, "has no image"),
        ("/line", b"no image", 422, "image of 8 bytes: not an image in a supported format"),
        ("/line", bytes(2001), 413, "an image may have at most 0 MiB"),
        ("/page?format=altoo", b"x", 400, "did you mean 'alto'?"),
        (
            "/page?name=a.pdf",
            b"no PDF",
            422,
            "a.pdf: named .pdf, but not a PDF; if it is an image, name it .jpg, .png or .tif",
        ),
        ("/page", b"no image", 422, "page: not an image in a supported format"),
        ("/page?name=a%00b", b"x", 400, "cannot be the name of a file"),
        (f"/page?name={quote('ü' * 200)}", b"x", 400, "cannot be the name of a file"),
        ("/page?name=..", b"x", 400, "cannot be the name of a file"),
        (
            "/page?fromat=txt",
            b"x",
            400,
            "/page has no parameter 'fromat'; did you mean 'format'?; known: format, name",
        ),
        ("/line?format=alto", b"x", 400, "/line has no parameter 'format'; it has none"),
        ("/line", b"%PDF-1.7", 422, "a PDF is not an image of a line; POST it to /page"),
        (
            "/nowhere",
            b"x",
            404,
            "there is no POST /nowhere; known: GET /, GET /about, POST /line, POST /page, GET /health, GET /metrics",
        ),
        ("/search?q=received", None, 404, "start drethtr serve with --index INDEX"),
        ("/line/", b"x", 404, "there is no POST /line/; known: GET /, GET /about, POST /line"),
        (
            "/line",
            None,
            405,
            "there is no GET /line; known: GET /, GET /about, POST /line, POST /page, GET /health, GET /metrics",
        ),
    ],
)
def test_what_cannot_be_answered_is_explained(ask, monkeypatch, address, content, status, error):
    monkeypatch.setattr(uploads, "MAX_BYTES", 2000)
    answer = ask(address, content)
    assert answer[0] == status and error in json.loads(answer[2])["error"]
    assert tempfile.gettempdir() not in json.loads(answer[2])["error"]


@pytest.mark.parametrize("length", ["many", "-1", "1_000", "²", ""])
def test_a_length_that_is_no_number_is_a_bad_request(recognizer, length):
    """Most servers refuse it before the application sees it."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/line",
        "query_string": b"",
        "headers": [],
    }
    scope["headers"] = [(b"host", b"localhost"), (b"content-length", length.encode("latin-1"))]
    asyncio.run(app.make_app(recognizer, segmentation_named("projection"))(scope, receive, send))
    assert sent[0]["status"] == 400 and "the number of bytes" in json.loads(sent[1]["body"])["error"]


def test_a_page_is_not_read_as_a_line(ask):
    status, _, content = ask("/line", encoded(PAGE))
    assert status == 422 and "is a page, not a line: POST it to /page" in json.loads(content)["error"]


def test_too_many_requests_are_told_so_and_connections_alone_are_none(recognizer, monkeypatch):
    begun, go_on, read = Event(), Event(), recognizer.read_lines
    monkeypatch.setattr(recognizer, "read_lines", lambda lines: begun.set() or (go_on.wait() and read(lines)))
    monkeypatch.setattr(service, "MAX_REQUESTS", 1)
    with serving(recognizer) as ask, ThreadPoolExecutor(1) as people:
        first = people.submit(ask, "/line", line("abc"))
        begun.wait()
        assert ask("/line", line("abc")) == (
            503,
            "application/json",
            b'{"error":"1 requests are waiting; try again later"}',
        )
        assert ask("/")[0] == 200
        go_on.set()
        assert first.result()[0] == 200 and ask("/line", line("abc"))[0] == 200


def test_a_body_without_a_length_is_bounded(recognizer, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_BYTES", 1000)
    with serving(recognizer) as ask:
        assert ask("/line", iter([bytes(600)] * 2))[0] == 413


def test_all_requests_share_one_budget(recognizer, monkeypatch):
    """Encoded images count, and decoded ones; what was answered or has hung up counts no longer."""
    image, pixels = line("abc"), written("abc").size
    begun, go_on, _ = held_back(recognizer, monkeypatch)
    monkeypatch.setattr(uploads, "MAX_TOTAL_BYTES", 2 * len(image) + pixels)
    with serving(recognizer) as ask, ThreadPoolExecutor(1) as people:
        first = people.submit(ask, "/line", image)
        begun.wait()
        for address in ("/line", "/page"):
            status, _, content = ask(address, image + bytes(1))
            assert status == 503 and "this server holds too many images" in json.loads(content)["error"]
        go_on.set()
        assert first.result()[0] == 200
        assert ask("/line", image + bytes(len(image) + 1))[0] == 503  # decoded it is too much
        assert ask("/line", b"no image" * 20)[0] == 422
        assert ask("/line", image)[0] == 200 and ask("/page", image)[0] == 200


def test_pages_that_a_killed_server_left_are_removed(recognizer, monkeypatch, tmp_path):
    place = tmp_path / "place"
    left = place / f".{'0123456789abcdef' * 2}.unfinished" / "0" / "letter.png"
    left.parent.mkdir(parents=True)
    left.write_bytes(encoded(PAGE))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    with serving(recognizer) as ask:
        assert list(place.iterdir()) == []
        assert ask("/page?format=txt", encoded(PAGE))[0] == 200
    assert list(place.iterdir()) == []


def test_a_client_who_leaves_in_the_middle_is_no_fault(recognizer, capfd):
    with serving(recognizer) as ask:
        with socket.create_connection(("127.0.0.1", ask.port)) as client:
            client.sendall(b"POST /line HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf")
        assert ask("/line", line("abc"))[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def test_a_search_gives_hits_or_says_what_is_wrong_with_it(tiny_path, tmp_path):
    recognizer = Recognizer.load(tiny_path, decoder="ctc", threads=1, posteriors=True)
    build_index(make_archive(tmp_path / "archive"), recognizer, tmp_path / "a.sqlite")
    with serving(recognizer, tmp_path / "a.sqlite") as ask:
        status, media, content = ask("/search?q=received&min=0.5")
        [hit] = json.loads(content)
        assert (status, media) == (200, "application/json") and hit["snippet"] == "Dear Sir, I have [received]"
        for said, number in (("1", 0), ("True", 0), ("0", 1), ("False", 1), ("", 1)):
            assert len(json.loads(ask(f"/search?q=Received&min=0.5&strict={said}")[2])) == number
        of_odd = ("/search", "/search?q=the&min=x", "/search?q=the&limit=0", "/search?q=the&least=1")
        for address in (*of_odd, "/search?q=the&strict=maybe"):
            status, _, content = ask(address)
            assert status == 400 and "error" in json.loads(content)


def test_the_description_is_of_what_is_served(recognizer):
    served = {
        (route.path, method.lower())
        for route in make_app(recognizer, Segmentation()).routes
        for method in route.methods - {"HEAD"}
    }
    described = {(path, method) for path, methods in description()["paths"].items() for method in methods}
    assert described == served - {("/", "get")}  # an older name of /about


def test_answers_are_as_described(tiny_path, tmp_path):
    recognizer = Recognizer.load(tiny_path, decoder="ctc", posteriors=True, alternatives=2)
    build_index(make_archive(tmp_path / "archive"), recognizer, tmp_path / "a.sqlite")
    content, headers = form(("a.png", line("abc")), ("b.png", line("cd")))
    requests = [
        ("/about", None, {}),
        ("/health", None, {}),
        ("/search?q=received", None, {}),
        ("/line", line("abc"), {}),
        ("/line", content, headers),
        ("/page", encoded(PAGE), {}),
        ("/page", BOOK, {}),
    ]
    import jsonschema  # takes seconds

    with serving(recognizer, tmp_path / "a.sqlite") as ask:
        described = json.loads(ask("/openapi.json")[2])
        for address, content, headers in requests:
            [operation] = described["paths"][address.partition("?")[0]].values()
            schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
            everything = {**schema, "components": described["components"]}
            jsonschema.Draft202012Validator(everything).validate(json.loads(ask(address, content, **headers)[2]))
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate({"nothing": 1}, everything)


def test_a_damaged_index_is_named_without_its_folders(tiny_path, tmp_path):
    index = tmp_path / "letters.sqlite"
    index.write_bytes(b"no index")
    with serving(Recognizer.load(tiny_path), index) as ask:
        status, _, content = ask("/search?q=received")
    assert status == 422 and json.loads(content)["error"].startswith("letters.sqlite: not an index")
