"""A folder over HTTP: the real application on a real folder."""

import asyncio
import json
import mimetypes
import re
from functools import partial
from io import BytesIO
from types import SimpleNamespace
from zipfile import ZipFile

import pytest
from edited_folders import put_index, put_page
from PIL import Image
from starlette.testclient import TestClient
from waiting import until

from drethtr import Recognizer
from drethtr.base.files import file_mark
from drethtr.documents.formats import FORMATS
from drethtr.editing import Session, Workspace
from drethtr.pages.segmentation import segmentation_named
from drethtr.server.app import HERE, make_app
from drethtr.server.editor import folder
from drethtr.server.guard import Access, Role


@pytest.fixture
def client(tmp_path, tiny_path):
    put_page(tmp_path / "scans", "a")
    put_page(tmp_path / "scans" / "sub", "b", "alto", confidence=0.3)
    recognizer, lines = Recognizer.load(tiny_path), segmentation_named("projection")
    with (
        Workspace.open(tmp_path / "scans") as workspace,
        Session(workspace, recognizer, lines) as session,
        TestClient(
            make_app(recognizer, lines, session=session, index=tmp_path / "archive.sqlite"), "http://localhost"
        ) as client,
    ):
        yield client


@pytest.fixture
def page(client):
    return client.get("/api/pages").json()[0]["id"]


@pytest.fixture
def line(client, page):
    return client.get(f"/api/pages/{page}").json()["lines"][1]


def address(page, line):
    return f"/api/pages/{page}/lines/{line['id']}"


def test_the_overview_and_a_page(client, page):
    first, second = client.get("/api/pages").json()
    assert (first["name"], second["name"]) == ("a.png", "sub/b.png") and second["wrong"] > first["wrong"] > 0
    found = client.get(f"/api/pages/{page}").json()
    assert (found["width"], found["height"], found["previous"], found["next"]) == (700, 340, None, second["id"])
    assert [line["id"] for line in found["lines"]] == ["l0", "l1", "l2", "l3"]


@pytest.fixture
def misled(monkeypatch):
    """As another program may leave the registry of Windows."""
    mimetypes.init()
    monkeypatch.setitem(mimetypes.types_map, ".js", "text/plain")


def test_browsers_are_told_that_scripts_are_scripts(misled, client):
    [script, *_] = re.findall(r"/static/[\w/]+\.js", client.get("/").text)
    assert client.get(script).headers["Content-Type"].startswith("text/javascript")


def test_a_line_is_changed_once(client, page, line):
    sent = {"text": "new", "status": "confirmed"}
    first = client.put(address(page, line), json=sent, headers={"If-Match": f'"{line["revision"]}"'})
    assert first.status_code == 200 and first.json()["text"] == "new" and first.json()["status"] == "confirmed"
    assert first.headers["ETag"] == f'"{first.json()["revision"]}"'
    second = client.put(address(page, line), json={"text": "late"}, headers={"If-Match": f'"{line["revision"]}"'})
    assert second.status_code == 409 and second.json()["line"] == first.json()
    assert client.put(address(page, line), json=sent).status_code == 428
    assert client.get(address(page, line)).json() == first.json()
    assert [change["new"] for change in client.get(f"{address(page, line)}/history").json()] == ["new"]


def test_a_line_that_waits_for_its_reading_is_not_confirmed_as_empty(client, page, line):
    def put(revision, **body):
        return client.put(address(page, line), json=body, headers={"If-Match": f'"{revision}"'})

    moved = put(line["revision"], baseline=[[30, 100], [600, 102]]).json()
    assert (moved["status"], moved["text"]) == ("unread", "")
    refused = put(moved["revision"], text="", status="confirmed")
    assert refused.status_code == 409 and refused.json()["line"]["status"] == "read"
    assert put(refused.json()["line"]["revision"], text="", status="confirmed").json()["status"] == "confirmed"


def test_lines_are_drawn_cut_joined_moved_and_removed_and_all_of_it_is_undone(client, page, line, tmp_path):
    before = (tmp_path / "scans" / "a.page.xml").read_bytes()

    def act(**body):
        answer = client.post(f"/api/pages/{page}/layout", json={**body, "who": "Anna"})
        assert answer.status_code == 200, answer.text
        found = answer.json()
        return found, [one for one in found["lines"] if one["id"] in found["changed"]]

    def read(one):
        """The line, once it has been read: a second later."""
        found = client.get(address(page, one)).json()
        return found if found["status"] != "unread" else None

    (x, y), (right, _) = line["baseline"]
    middle = (x + right) / 2
    _, [first, second] = act(do="cut", stroke=[[middle, y - 20], [middle, y + 20]])
    assert f"{first['earlier']} {second['earlier']}" == line["text"]
    first, second = (client.get(address(page, one)).json() for one in (first, second))
    first, second = (until(lambda one=one: read(one)) for one in (first, second))
    _, [joined] = act(do="join", lines=[second["id"], first["id"]], revisions={first["id"]: first["revision"]})
    joined = until(lambda: read(joined))
    found, [_] = act(do="move", lines=[joined["id"]])
    assert [one["id"] for one in found["lines"]] == ["l1", "l0", "l2", "l3"]
    gone, _ = act(do="delete", lines=[joined["id"]])
    assert [one["id"] for one in gone["lines"]] == ["l0", "l2", "l3"]
    found, [drawn] = act(do="draw", baseline=line["baseline"])
    assert found["lines"][1]["id"] == drawn["id"] and drawn["polygon"]
    steps = client.get(f"/api/pages/{page}/history").json()
    assert [step["action"] for step in steps] == ["draw", "delete", "order", "join", "cut"]
    assert {step["who"] for step in steps} == {"Anna"} and steps[1]["lines"][0]["old"] == joined["text"]
    for _ in steps:
        assert client.post(f"/api/pages/{page}/undo", json={"who": "Anna"}).status_code == 200
    assert (tmp_path / "scans" / "a.page.xml").read_bytes() == before
    assert "nothing to undo" in client.post(f"/api/pages/{page}/undo", json={"who": "Anna"}).json()["error"]
    assert len(client.post(f"/api/pages/{page}/redo", json={"who": "Anna"}).json()["lines"]) == 5


def test_a_line_that_somebody_edited_meanwhile_is_not_removed(client, page, line):
    client.put(address(page, line), json={"text": "theirs"}, headers={"If-Match": line["revision"]})
    sent = {"do": "delete", "lines": [line["id"]], "revisions": {line["id"]: line["revision"]}}
    refused = client.post(f"/api/pages/{page}/layout", json=sent)
    assert refused.status_code == 409 and refused.json()["line"]["text"] == "theirs"


def test_reading_a_line_again_is_a_step_of_who_asked_for_it(client, page, line):
    mine = client.put(address(page, line), json={"text": "mine"}, headers={"If-Match": line["revision"]}).json()
    for body in ({"json": {"who": "Anna"}}, {}):
        read = client.post(f"{address(page, line)}/read", headers={"If-Match": mine["revision"]}, **body)
        assert read.status_code == 200 and read.json()["status"] == "read" and read.json()["text"] != "mine"
        undone = client.post(f"/api/pages/{page}/undo", json=body.get("json", {})).json()
        assert [one["text"] for one in undone["lines"] if one["id"] == line["id"]] == ["mine"]


def test_lines_are_found_again_in_a_box_and_on_a_turned_page(client, page, line):
    edited = client.put(address(page, line), json={"text": "mine"}, headers={"If-Match": line["revision"]}).json()
    boxed = {"do": "find", "box": [[0, 0], [700, 130]]}
    found = client.post(f"/api/pages/{page}/layout", json=boxed).json()
    assert "lines" in found, found
    assert {"l2", "l3", edited["id"]} < {one["id"] for one in found["lines"]} and len(found["changed"]) >= 1
    turned = client.post(f"/api/pages/{page}/layout", json={"do": "turn", "quarters": 2}).json()
    assert turned["quarters"] == 2 and [one["text"] for one in turned["lines"] if one["text"]] == ["mine"]
    upside_down = next(one for one in turned["lines"] if not one["text"])["baseline"]
    assert upside_down[0][0] > upside_down[-1][0]
    client.post(f"/api/pages/{page}/undo", json={})
    assert client.get(f"/api/pages/{page}").json()["quarters"] == 0


def test_pictures(client, page, line):
    scan = f"/api/pages/{page}/image.jpg"
    for name in (f"/api/pages/{page}/thumbnail.jpg", f"{scan}?width=300", f"{scan}?box=0,0,90,60", line["strip"]):
        answer = client.get(name)
        assert answer.status_code == 200 and answer.content.startswith(b"\xff\xd8")
    thumbnail = client.get(f"/api/pages/{page}/thumbnail.jpg")
    again = client.get(f"/api/pages/{page}/thumbnail.jpg", headers={"If-None-Match": thumbnail.headers["ETag"]})
    assert again.status_code == 304 and "immutable" in client.get(line["strip"]).headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/", "/static/app.js"])
def test_after_an_upgrade_no_script_of_before_is_used(client, path):
    """Without a rule, browsers keep a file for a tenth of its age."""
    assert client.get(path).headers["Cache-Control"] == "no-cache"


def test_a_scan_longer_than_a_jpeg_can_be_is_shown_smaller(client, page, tmp_path):
    Image.new("L", (70_000, 30)).save(tmp_path / "scans" / "a.png")
    shown = client.get(f"/api/pages/{page}/image.jpg")
    assert shown.status_code == 200 and Image.open(BytesIO(shown.content)).width == 65_500


def test_a_scan_that_says_to_be_huge_is_refused(client, page, tmp_path):
    (tmp_path / "scans" / "a.png").write_bytes(b"P5 30000 30000 255\n")
    shown = client.get(f"/api/pages/{page}/image.jpg")
    assert shown.status_code == 422 and shown.json()["error"].startswith("a.png: ") and "pixels" in shown.text


def test_the_status_counts_lines_and_looks_at_no_file(client, page, line, monkeypatch):
    looked = []
    monkeypatch.setattr("drethtr.editing.overview.file_mark", lambda file: looked.append(file) or file_mark(file))
    client.put(address(page, line), json={"status": "confirmed"}, headers={"If-Match": line["revision"]})
    looked.clear()
    status = client.get("/api/status").json()
    assert not looked and status["pages"] == 2 and not status["uncounted"]
    assert status["lines"] == {"unread": 0, "read": 7, "corrected": 0, "confirmed": 1}
    assert status["learn"]["confirmed"] == 1 and "confirm 24 more" in status["learn"]["why"]


def test_a_long_overview_is_compressed_for_clients_that_can_unpack_it(client, monkeypatch):
    plain = client.get("/api/pages", headers={"Accept-Encoding": "identity"})
    monkeypatch.setattr("drethtr.server.answers.LONG", 10)
    packed = client.get("/api/pages", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip" and packed.json() == plain.json()
    assert "Content-Encoding" not in client.get("/api/pages", headers={"Accept-Encoding": "identity"}).headers


def test_search_asks_the_index_of_the_folder(client, page, tiny_path, tmp_path):
    """What stands in the index, but not in the text, comes with its probability, in the order of pages."""
    folder = tmp_path / "scans"
    put_index(folder, put_page(folder, "a", confidence=None), tiny_path)
    line = client.get(f"/api/pages/{page}").json()["lines"][1]
    word = max(re.findall(r"\w+", line["text"]), key=len)
    client.put(address(page, line), json={"text": "misread"}, headers={"If-Match": line["revision"]})
    hit, in_text = client.get("/api/search", params={"q": word}).json()["hits"]
    assert in_text["name"] == "sub/b.png" and in_text["ranges"]
    assert (hit["page"], hit["line"], hit["text"], hit["probability"]) == (page, line["id"], "misread", 1.0)
    assert client.get("/api/search", params={"q": word, "page": page}).json() == {"total": 1, "hits": [hit]}
    assert client.get("/api/search", params={"q": word, "page": in_text["page"]}).json()["hits"] == [in_text]
    assert client.get("/api/search", params={"q": word, "page": "none"}).status_code == 404
    said = {"q": word, "page": page, "line": line["id"], "stands": False}
    assert client.post("/api/search/judge", json=said).json() == {"stands": False}
    rejected, _ = client.get("/api/search", params={"q": word}).json()["hits"]
    assert (rejected["line"], rejected["probability"]) == (line["id"], 0.0)
    client.post("/api/search/judge", json={**said, "stands": True})
    assert client.get("/api/search", params={"q": word}).json()["hits"] == [hit, in_text]
    assert "no longer finds" in client.post("/api/search/judge", json={**said, "q": "zzz"}).json()["error"]
    assert client.post("/api/search/judge", json={**said, "stands": "no"}).status_code == 400
    (folder / "letters.drethtr.sqlite").write_bytes(b"no index")
    found = client.get("/api/search", params={"q": word}).json()
    assert (found["total"], found["hits"]) == (1, [in_text])
    assert found["index_error"].startswith("letters.drethtr.sqlite: ") and str(tmp_path) not in found["index_error"]


def test_misread_lines_are_found_beside_many_that_were_read_right(client, page, tiny_path, tmp_path):
    folder = tmp_path / "scans"
    put_index(folder, put_page(folder, "a", confidence=None), tiny_path)
    asked = {"q": "the", "limit": 1, "page": page}
    assert client.get("/api/search", params=asked).json()["total"] == 3
    *_, second, third = client.get(f"/api/pages/{page}").json()["lines"]
    client.put(address(page, third), json={"text": "misread"}, headers={"If-Match": third["revision"]})
    assert client.get("/api/search", params=asked).json()["total"] == 3
    assert "more" not in client.get("/api/search", params={**asked, "limit": 9}).json()
    client.put(address(page, second), json={"text": "misread"}, headers={"If-Match": second["revision"]})
    found = client.get("/api/search", params=asked).json()
    assert found["total"] == 2 and found["more"], "one of the two that were misread is beyond the limit"


def test_search_ignores_case_accents_and_the_long_s(client, page, line):
    client.put(address(page, line), json={"text": "Waſſer fließt, Café"}, headers={"If-Match": line["revision"]})
    for query in ("wasser", "CAFE waſſer", "fliesst"):
        found = client.get("/api/search", params={"q": query}).json()
        assert found["total"] == 1 and found["hits"][0]["line"] == line["id"]
    assert client.get("/api/search", params={"q": "fliesst"}).json()["hits"][0]["ranges"] == [[7, 13]]
    assert client.get("/api/search", params={"q": "town dear"}).json() == {"total": 0, "hits": []}
    assert client.get("/api/search", params={"q": "dear", "limit": 1}).json()["total"] == 2
    assert set("ſßé") == set(client.get(f"/api/pages/{page}/characters").json()["used"])


@pytest.mark.parametrize("format", FORMATS)
def test_export(client, page, format):
    one = client.get(f"/api/pages/{page}/export?format={format}")
    assert one.status_code == 200 and one.headers["Content-Disposition"].endswith(f"a{FORMATS[format].ending}")
    every = client.get(f"/api/export?format={format}")
    if FORMATS[format].together:
        assert every.headers["Content-Type"].startswith(FORMATS[format].media)
    else:
        names = ZipFile(BytesIO(every.content)).namelist()
        assert names == [f"a{FORMATS[format].ending}", f"sub/b{FORMATS[format].ending}"]


def test_pages_to_export_are_named_in_a_form_that_may_be_long(client, page):
    form = {"format": "txt", "pages": page}
    one = client.get(f"/api/pages/{page}/export?format=txt")
    assert client.post("/api/export", data=form).content == one.content
    assert client.post("/api/export", data=form | {"pages": f"{page},{page}"}).content == one.content
    assert client.post("/api/preview", data=form).json()["page"] == page
    many = client.post("/api/export", data=form | {"pages": ",".join(["5f0c2a5f0c2a5f0c"] * 10_000)})
    assert many.status_code == 404 and "there is no such page" in many.json()["error"]
    assert client.post("/api/export", data=form | {"page": "x"}).status_code == 400


def test_a_damaged_page_is_left_out_of_an_export_as_its_preview_says(client, tmp_path):
    first, second = (page["id"] for page in client.get("/api/pages").json())
    (tmp_path / "scans" / "sub" / "b.alto.xml").write_bytes(b"<alto")
    [(name, _)] = client.get("/api/preview?format=txt").json()["left_out"]
    alone = client.get(f"/api/export?format=txt&pages={first}")
    exported = client.get("/api/export?format=txt")
    assert name == "sub/b.png" and exported.status_code == 200 and exported.content == alone.content
    refused = client.get(f"/api/export?format=txt&pages={second}")
    assert refused.status_code == 422 and refused.json()["error"].startswith("sub/b.alto.xml: ")


def test_an_exported_file_says_what_a_person_has_done(client, page, line):
    client.put(address(page, line), json={"status": "confirmed"}, headers={"If-Match": line["revision"]})
    assert b"review:confirmed" in client.get(f"/api/pages/{page}/export?format=page").content
    assert b'CS="true"' in client.get(f"/api/pages/{page}/export?format=alto").content
    regions = client.get(f"/api/pages/{page}/export?format=json").json()["regions"]
    assert [one["review"] for one in regions[0]["lines"]] == [None, "confirmed", None, None]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error"),
    [
        ("GET", "/api/pages/nothing", None, 404, "no such page"),
        ("GET", "/api/pages/PAGE/lines/nothing", None, 404, "has no line 'nothing'"),
        ("GET", "/api/pages/PAGE/image.jpg?width=0", None, 400, "width must be"),
        ("GET", "/api/pages/PAGE/export?format=altoo", None, 400, "did you mean 'alto'?"),
        ("GET", "/api/search?limit=x", None, 400, "limit must be"),
        ("GET", "/api/search?limit=000010999999", None, 400, "limit must be"),
        ("GET", f"/api/search?limit={'9' * 5000}", None, 400, "limit must be"),
        ("GET", "/api/jobs/7", None, 404, "no such job"),
        ("GET", "/api/nothing", None, 404, "see docs/edit.md"),
        ("GET", "/static/../app.py", None, 404, ""),
        ("GET", "/static/%2e%2e/workspace.py", None, 404, ""),
        ("PUT", "/api/pages/PAGE/lines/l1", {"text": 1}, 400, "text must be a string"),
        ("PUT", "/api/pages/PAGE/lines/l1", {"text": "x" * 10_001}, 400, "at most 10,000"),
        ("PUT", "/api/pages/PAGE/lines/l1", {"status": "read"}, 400, "status must be corrected or confirmed"),
        ("PUT", "/api/pages/PAGE/lines/l1", {"baseline": [[1, 2]]}, 400, "baseline must be 2 to"),
        ("PUT", "/api/pages/PAGE/lines/l1", {"baseline": [[1, 2], [3, "x"]]}, 400, "baseline must be 2 to"),
        ("PUT", "/api/pages/PAGE/lines/l1", {"baseline": [[1, 2], [3, -1]]}, 400, "baseline must be 2 to"),
        ("PUT", "/api/pages/PAGE/lines/l1", {"txet": "x"}, 400, "unknown value 'txet'"),
        ("PUT", "/api/pages/PAGE/lines/l1", [], 400, "must be a JSON object"),
        ("PUT", "/api/pages/PAGE/lines/l1", {"text": "x"}, 409, "changed in the meantime"),
        ("POST", "/api/pages/PAGE/layout", {}, 400, "do must be one of draw, "),
        ("POST", "/api/pages/PAGE/layout", {"do": "cut"}, 400, "to cut, give stroke"),
        ("POST", "/api/pages/PAGE/layout", {"do": "cut", "stroke": [[1, 2]]}, 400, "stroke must be 2 to"),
        ("POST", "/api/pages/PAGE/layout", {"do": "cut", "stroke": [[1, 2], [1, 3]], "x": 1}, 400, "unknown value 'x'"),
        ("POST", "/api/pages/PAGE/layout", {"do": "join", "lines": [1]}, 400, "lines must be a list of ids"),
        ("POST", "/api/pages/PAGE/layout", {"do": "join", "lines": ["l1"]}, 422, "at least two lines"),
        ("POST", "/api/pages/PAGE/layout", {"do": "delete", "lines": ["gone"]}, 422, "contains no line 'gone'"),
        ("POST", "/api/pages/PAGE/layout", {"do": "draw"}, 422, "needs a baseline or an outline"),
        ("POST", "/api/pages/PAGE/layout", {"do": "table", "columns": 3}, 400, "columns must be at most"),
        ("POST", "/api/pages/PAGE/layout", {"do": "find", "box": [[3, 2], [3, 9]]}, 400, "a width and a height"),
        ("POST", "/api/pages/PAGE/layout", {"do": "turn", "quarters": 9}, 400, "quarters must be"),
        ("POST", "/api/pages/PAGE/layout", {"do": "dissolve", "region": "r1"}, 422, "the only region"),
        ("POST", "/api/pages/PAGE/undo", {"step": "x"}, 400, "the number of a step"),
        ("POST", "/api/pages/PAGE/undo", {"step": 9}, 422, "nothing to undo"),
        ("POST", "/api/read", {"pages": ["nothing"]}, 404, "no such page"),
        ("POST", "/api/learn", {}, 422, "confirm 25 more"),
    ],
)
def test_what_cannot_be_done_is_explained(client, page, method, path, body, status, error):
    answer = client.request(method, path.replace("PAGE", page), json=body, headers={"If-Match": "stale"})
    assert answer.status_code == status and error in answer.json()["error"]


def test_errors_name_files_within_the_folder(client, page, line, tmp_path):
    (tmp_path / "scans" / "a.page.xml").chmod(0o444)
    refused = client.put(address(page, line), json={"text": "x"}, headers={"If-Match": line["revision"]})
    assert refused.status_code == 422 and refused.json()["error"].startswith("a.page.xml: cannot be written: ")
    (tmp_path / "scans" / "a.png").write_bytes(b"broken")
    shown = client.get(f"/api/pages/{page}/image.jpg")
    assert shown.status_code == 422 and shown.json()["error"].startswith("a.png: not an image")
    job = client.post(f"/api/pages/{page}/read").json()["id"]
    until(lambda: client.get(f"/api/jobs/{job}").json()["state"] not in ("waiting", "running"))
    job = client.get(f"/api/jobs/{job}").json()
    told = [job["message"], client.get("/api/pages").text, client.get(f"/api/pages/{page}").text]
    assert not any(str(tmp_path) in one for one in told) and "a.png" in told[0]


def test_a_request_that_is_too_large_or_no_json_is_refused(client, page, line):
    headers = {"If-Match": line["revision"], "Content-Type": "application/json"}
    assert client.put(address(page, line), content=b"x" * (2 << 20), headers=headers).status_code == 413
    assert client.put(address(page, line), content=b"{", headers=headers).status_code == 400
    assert client.put(address(page, line), content=b"[" * 100_000, headers=headers).status_code == 400
    plain = {**headers, "Content-Type": "text/plain"}
    assert client.put(address(page, line), content=b'{"text": "x"}', headers=plain).status_code == 415


def test_metrics_count_addresses_and_not_pages(client, page):
    client.get(f"/api/pages/{page}")
    shown = client.get("/metrics").text
    assert 'drethtr_requests_total{method="GET",path="/api/pages/{page}",status="200"} 1' in shown and page not in shown
    for line in ("", "l", "r"):
        assert client.get(f"/api/pages/{page}/lines/{line}").status_code == 404
    client.get("/static/app.js")
    shown = client.get("/metrics").text
    assert (
        'path="/api/pages/{page}/lines/{line}",status="404"} 3' in shown and 'path="/static",status="200"} 1' in shown
    )


def test_images_are_read_beside_the_folder(client):
    assert client.get("/about").json()["precision"] == "float32" and client.get("/health").json() == {"status": "ok"}
    scan = client.get(f"/api/pages/{client.get('/api/pages').json()[0]['id']}/image.jpg").content
    assert client.post("/page?format=txt", content=scan).status_code == 200


def test_whole_pages_are_confirmed_and_lines_that_changed_meanwhile_are_not(client):
    first, second = client.get("/api/pages").json()
    assert client.post("/api/confirm", json={"pages": [second["id"]], "who": "Ada"}).json() == {"confirmed": 4}
    page = client.get(f"/api/pages/{second['id']}").json()
    assert {line["status"] for line in page["lines"]} == {"confirmed"}
    [change] = client.get(f"/api/pages/{second['id']}/lines/{page['lines'][0]['id']}/history").json()
    assert (change["who"], change["action"]) == ("Ada", "status")
    lines = {line["id"]: line["revision"] for line in client.get(f"/api/pages/{first['id']}").json()["lines"]}
    lines[next(iter(lines))] = "changed"
    asked = {"pages": [first["id"]], "lines": lines}
    assert client.post("/api/confirm", json=asked).json() == {"confirmed": len(lines) - 1}
    assert client.post("/api/confirm", json={"pages": "all"}).status_code == 400


def test_pages_without_lines_and_damaged_ones_keep_no_other_from_being_confirmed(client, tmp_path):
    first, second = client.get("/api/pages").json()
    pages = [second["id"], first["id"]]
    assert client.post("/api/confirm", json={"pages": [*pages, "nothing"]}).status_code == 404
    file = tmp_path / "scans" / "sub" / "b.alto.xml"
    file.write_bytes(b"<alto")
    answer = client.post("/api/confirm", json={"pages": pages}).json()
    [failed] = answer.pop("failed")
    assert answer == {"confirmed": 4} and failed.startswith("sub/b.alto.xml: ")
    file.unlink()
    assert client.post("/api/confirm", json={"pages": pages}).json() == {"confirmed": 0}


def test_half_a_character_in_a_name_keeps_nobody_from_being_shown(client, page):
    broken = {"content": rb'{"id": "1", "who": "\ud800"}', "headers": {"Content-Type": "application/json"}}
    [shown] = client.post("/api/here", **broken).json()
    assert shown["who"] == "\ufffd"
    ada = {"id": "2", "who": "Ada \U0001f58b", "page": page, "line": None}
    assert ada in client.post("/api/here", json=ada).json()


def test_half_a_character_in_a_tag_leaves_a_file_that_other_programs_can_read(client, page, line, tmp_path):
    tags = [{"name": "person", "start": 0, "length": 1, "details": {"key": "\ud800\U0001f58b"}}]
    headers = {"If-Match": line["revision"], "Content-Type": "application/json"}
    answer = client.put(address(page, line), content=json.dumps({"tags": tags}), headers=headers).json()
    assert [tag["details"] for tag in answer["tags"]] == [{"key": "\ufffd\U0001f58b"}]
    assert r"key:\ufffd\ud83d\udd8b;" in (tmp_path / "scans" / "a.page.xml").read_text(encoding="utf-8")


def test_everybody_learns_where_the_others_are(client, page):
    ada = {"id": "1", "who": "Ada", "page": page, "line": "l1"}
    assert client.post("/api/here", json=ada).json() == [ada]
    bo = {"id": "2", "who": "", "page": page, "line": None}
    assert client.post("/api/here", json=bo).json() == [ada, bo]
    gone = {"id": "1", "who": "", "page": None, "line": None}
    assert client.post("/api/here", json=gone).json() == [bo]
    assert client.post("/api/here", json={"who": "Ada"}).status_code == 400


def test_who_cannot_follow_the_events_begins_anew_instead_of_missing_some(tmp_path):
    put_page(tmp_path, "a")

    async def listened(workspace, events):
        queue = asyncio.Queue(2)
        connected = SimpleNamespace(is_disconnected=partial(asyncio.sleep, 0, False))
        handlers = folder.FolderHandlers(SimpleNamespace(workspace=workspace, reader=None), HERE)
        stream = handlers.stream_events(connected, queue)
        assert await anext(stream) == ": hello\n\n"
        for number in range(events):
            workspace.notify("page", page=number)
        await asyncio.sleep(0.01)
        return await anext(stream, "the end")

    with Workspace.open(tmp_path) as workspace:
        assert asyncio.run(listened(workspace, 2)) == 'event: page\ndata: {"page": 0}\n\n'
        assert asyncio.run(listened(workspace, 3)) == "the end"


def test_only_who_manages_sees_the_tokens_of_others_and_starts_the_machine(tmp_path, tiny_path):
    put_page(tmp_path / "scans", "a")
    recognizer, lines = Recognizer.load(tiny_path), segmentation_named("projection")
    access = Access.of("127.0.0.1", token="a-secret")
    with Workspace.open(tmp_path / "scans") as workspace, Session(workspace, recognizer, lines) as session:
        app = make_app(recognizer, lines, session=session, access=access)
        for role in Role:
            header = {"Authorization": f"Bearer {role.token('a-secret')}"}
            with TestClient(app, "http://localhost", headers=header) as client:
                told, manages = client.get("/api/status"), role is Role.MANAGE
                assert told.json()["role"] == role
                assert told.json()["links"] == (access.tokens if manages else None)
                assert [
                    other
                    for other in Role
                    if role.token("a-secret") != other.token("a-secret") and other.token("a-secret") in told.text
                ] == (["read", "correct"] if manages else [])
                for path in ("/api/index", "/api/index%0A", "/api/read%0A"):
                    assert (client.post(path).status_code == 202) is manages
                assert (client.put("/api/edition", json={}).status_code == 200) is (role is not Role.READ)


def test_no_more_people_are_remembered_than_shown(client, page, monkeypatch):
    monkeypatch.setattr(folder, "MAX_PEOPLE", 3)
    for number in range(5):
        here = client.post("/api/here", json={"id": str(number), "who": "x", "page": page}).json()
    assert [one["id"] for one in here] == ["2", "3", "4"]
    for number in (4, 3):
        here = client.post("/api/here", json={"id": str(number), "who": "", "page": None}).json()
    assert [one["id"] for one in here] == ["2"]


@pytest.mark.parametrize(
    ("tag", "error"),
    [
        ({"name": "person", "start": 20, "length": 500}, "beyond the end of the text"),
        ({"name": "drethtr", "start": 0, "length": 5, "details": {"review": "confirmed"}}, "tags must be a list"),
        ({"name": "person", "start": 0, "length": 5, "details": {"continued": "true"}}, "tags must be a list"),
    ],
    ids=["place", "name", "detail"],
)
def test_a_tag_is_on_the_text_and_says_nothing_of_its_line(client, page, line, tag, error):
    headers = {"If-Match": line["revision"]}
    answer = client.put(address(page, line), json={"tags": [tag]}, headers=headers)
    assert answer.status_code in (400, 422) and error in answer.text  # no tag, or none of this text


def test_tags_are_kept_as_in_transkribus_and_move_with_the_text(client, page, line):
    words = line["text"].split()
    start = len(words[0]) + 1
    tags = [
        {"name": "person", "start": start, "length": len(words[1]), "details": {}},
        {"name": "abbrev", "start": 0, "length": len(words[0]), "details": {"expansion": "Ihr; sehr {geehrter}"}},
    ]
    headers = {"If-Match": line["revision"]}
    tagged = client.put(address(page, line), json={"tags": tags, "who": "Ada"}, headers=headers).json()
    assert tagged["tags"] == tags
    written = client.get(f"/api/pages/{page}/export?format=page").text
    assert f"person {{offset:{start}; length:{len(words[1])};}}" in written
    assert "expansion:Ihr\\u003b\\u0020sehr\\u0020\\u007bgeehrter\\u007d;" in written
    longer = {"text": f"Oh {line['text']}"}
    moved = client.put(address(page, line), json=longer, headers={"If-Match": tagged["revision"]}).json()
    assert [tag["start"] for tag in moved["tags"]] == [start + 3, 3]
    table = client.get("/api/export?format=tags").text
    assert f",person,{words[1]}," in table and "expansion: Ihr; sehr {geehrter}" in table
    assert f"<persName>{words[1]}</persName>" in client.get(f"/api/pages/{page}/export?format=tei").text
    noted = client.get(f"{address(page, line)}/history").json()
    assert [(change["action"], change["who"]) for change in noted if change["action"] == "tag"] == [("tag", "Ada")]
    gone = client.put(address(page, line), json={"tags": []}, headers={"If-Match": moved["revision"]}).json()
    assert gone["tags"] == [] and gone["text"] == longer["text"]
    for wrong in ({"name": "a b", "start": 0, "length": 1}, {"name": "person", "start": True, "length": 1}):
        refused = client.put(address(page, line), json={"tags": [wrong]}, headers={"If-Match": "x"})
        assert refused.status_code == 400 and refused.json()["error"].startswith("tags must be")


def test_alto_has_no_tags(client):
    alto = client.get("/api/pages").json()[1]["id"]
    line = client.get(f"/api/pages/{alto}").json()["lines"][0]
    tags = {"tags": [{"name": "person", "start": 0, "length": 2}]}
    refused = client.put(address(alto, line), json=tags, headers={"If-Match": line["revision"]})
    assert refused.status_code >= 400 and "PAGE" in refused.json()["error"]


def test_an_edition_is_described_once_and_previewed(client, page):
    about = {
        "title": "Letters",
        "author": "Anne",
        "shelf_mark": "MS 7",
        "editors": "Ada",
        "licence": "",
        "language": "en",
    }
    assert client.put("/api/edition", json=about).json() == about == client.get("/api/edition").json()
    assert "<title>Letters</title>" in client.get("/api/export?format=tei").text
    shown = client.get("/api/preview?format=tei").json()
    assert (
        shown["text"].startswith("<text>")
        and shown["left_out"] == []
        and (shown["lines"], shown["confirmed"]) == (8, 0)
    )
    assert client.get("/api/preview?format=word").json()["text"].startswith("# Letters")
    assert client.get("/api/preview?format=pdf").json() | {"left_out": []} == {
        "text": None, "page": page, "lines": 8, "confirmed": 0, "left_out": []
    }  # fmt: skip
    assert client.put("/api/edition", json={"titel": "x"}).status_code == 400


def test_a_preview_begins_with_a_page_that_has_lines(client, page):
    second = client.get("/api/pages").json()[1]["id"]
    lines = [line["id"] for line in client.get(f"/api/pages/{page}").json()["lines"]]
    client.post(f"/api/pages/{page}/layout", json={"do": "delete", "lines": lines})
    shown = client.get("/api/preview?format=word").json()
    assert (shown["page"], shown["lines"]) == (second, 4) and shown["text"]
