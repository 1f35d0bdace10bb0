"""A page beside somebody else's text, over HTTP. The model is too small to judge what the ink supports."""

import json

import pytest
from edited_folders import put_page, scan
from made_pages import TEXTS
from starlette.testclient import TestClient

from drethtr import Recognizer
from drethtr.editing import Session, Workspace
from drethtr.pages.segmentation import segmentation_named
from drethtr.server.app import make_app
from drethtr.server.editor.pages import MAX_TEXT_BYTES


@pytest.fixture
def client(tmp_path, tiny_path):
    put_page(tmp_path / "scans", "a")
    scan().image.save(tmp_path / "scans" / "b.png")
    recognizer, lines = Recognizer.load(tiny_path), segmentation_named("projection")
    with (
        Workspace.open(tmp_path / "scans") as workspace,
        Session(workspace, recognizer, lines) as session,
        TestClient(make_app(recognizer, lines, session=session), "http://localhost") as client,
    ):
        yield client


@pytest.fixture
def pages(client):
    return [row["id"] for row in client.get("/api/pages").json()]


def compare(client, page, content, name=None):
    return client.post(f"/api/pages/{page}/compare", params={"name": name} if name else {}, content=content)


def test_running_text_lies_on_the_lines_where_it_stands(client, pages):
    theirs = [TEXTS[0], TEXTS[1].replace("fourth", "fifth"), TEXTS[3]]
    text = f"{' '.join(theirs)} A postscript that is on no line of this page, whoever wrote it there."
    found = compare(client, pages[0], text).json()
    assert [line["theirs"] for line in found["lines"]] == [*theirs[:2], None, theirs[2]]
    assert [line["ours"] for line in found["lines"]] == list(TEXTS[:4])
    assert [bool(line["words"]) for line in found["lines"]] == [False, True, False, False]
    assert [word["text"] for word in found["lines"][1]["words"] if word["text"]] == theirs[1].split()
    [left] = found["left"]
    assert left.startswith("A postscript")


def test_every_kind_of_file_is_taken(client, pages):
    text = "\n".join(TEXTS[:4])
    given = {
        "theirs.txt": text,
        "theirs.md": f"# {text}",
        "theirs.json": json.dumps({"lines": [{"text": line} for line in TEXTS[:4]]}),
        "theirs.xml": client.get(f"/api/pages/{pages[0]}/export?format=alto").text,
        "folder/theirs.page.xml": client.get(f"/api/pages/{pages[0]}/export?format=page").text,
    }
    for name, content in given.items():
        answer = compare(client, pages[0], content.encode(), name)
        assert [line["theirs"] for line in answer.json()["lines"]] == list(TEXTS[:4]), name


def test_differences_that_a_convention_allows_are_told(client, pages):
    text = " ".join(TEXTS[:4]).replace("Sir,", "Sir").replace("fourth", "fifth")

    def asked(names):
        return client.post(f"/api/pages/{pages[0]}/compare", params={"allow": names}, content=text)

    assert [line["alike"] for line in asked("").json()["lines"]] == [[], [], [], []]
    assert [line["alike"] for line in asked("punctuation,spelling").json()["lines"]] == [[["Sir", "Sir,"]], [], [], []]
    assert asked("speling").status_code == 400 and "did you mean 'spelling'" in asked("speling").json()["error"]


def test_nothing_is_written(client, pages, tmp_path):
    before = {path: path.read_bytes() for path in (tmp_path / "scans").glob("*.xml")}
    assert compare(client, pages[0], " ".join(TEXTS[:4]).replace("Sir", "Madam")).status_code == 200
    assert {path: path.read_bytes() for path in (tmp_path / "scans").glob("*.xml")} == before
    line = client.get(f"/api/pages/{pages[0]}").json()["lines"][0]
    assert client.get(f"/api/pages/{pages[0]}/lines/{line['id']}/history").json() == []


@pytest.mark.parametrize(
    ("content", "name", "status", "error"),
    [
        ("", None, 422, "text.txt: this text is empty"),
        (" \n\t", "theirs.md", 422, "theirs.md: this text is empty"),
        ("Lorem ipsum dolor sit amet. " * 8, None, 422, "is not the text of a.png"),
        ("Всё смешалось в доме Облонских. " * 8, "theirs.txt", 422, "theirs.txt: this is not the text of a.png"),
        (b"\xff\x00\xfe", None, 422, "is not UTF-8"),
        ("text", "theirs.rtf", 422, "unsupported text format '.rtf'; supported: .txt, .md, .xml, .json, .docx"),
        ("PK", "theirs.docx", 422, "not a Word document"),
        ("<html/>", "../theirs.xml", 422, "theirs.xml: neither TEI, PAGE nor ALTO"),
        ("[" * 100_000, "theirs.json", 422, "not valid JSON"),
        (b"x" * (MAX_TEXT_BYTES + 1), None, 413, "a text may have at most 16 MiB"),
    ],
)
def test_what_cannot_be_compared_is_explained(client, pages, content, name, status, error):
    answer = compare(client, pages[0], content, name)
    assert answer.status_code == status and error in answer.json()["error"]
    assert "/" not in answer.json()["error"].partition(":")[0]


def test_pages_that_cannot_be_compared_are_named(client, pages):
    assert "has not been read" in compare(client, pages[1], "text").json()["error"]
    assert compare(client, "nowhere", "text").status_code == 404
    assert compare(client, pages[0], "text").status_code == 422
    answer = client.post(f"/api/pages/{pages[0]}/compare", content="text", headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403


def test_a_page_is_found_in_a_book(client, pages):
    book = (
        f"{'Once upon a time there was a king in a castle. ' * 20_000}{' '.join(TEXTS[:4])}{' The end of it.' * 20_000}"
    )
    found = compare(client, pages[0], book).json()
    assert [line["theirs"] for line in found["lines"]] == list(TEXTS[:4])
    assert all(len(part) <= 300 for part in found["left"])
