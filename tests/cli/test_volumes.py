"""Volumes as inputs: METS on this machine, and what libraries offer on the web, by a host of the test."""

import json

import pytest
from iiif_examples import canvas_3, manifest_3, service_3
from mets_examples import PAGE_TYPE, mets_of
from printed_pages import draw_page, put_page
from web_server import Reply, served

from drethtr.base import web
from drethtr.base.web import Web
from drethtr.documents.read import read_page


@pytest.fixture
def library(monkeypatch, tmp_path):
    """A library with the images of two pages, and nothing else yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(web, "WEB", Web(may_reach=lambda number: number.is_loopback, pause=lambda seconds: None))
    with served() as host:
        for name, texts in (("a", ["eins", "zwei"]), ("b", ["drei"])):
            draw_page(tmp_path / f"{name}.png", texts)
            host.replies[f"/i/{name}/full/max/0/default.jpg"] = Reply(content=(tmp_path / f"{name}.png").read_bytes())
        yield host


@pytest.fixture
def manifest(library):
    """The address of the manifest of a volume."""
    canvases = [
        canvas_3(f"{library.address}/{name}.jpg", service_3(f"/i/{name}", host=library.address)) for name in "ab"
    ]
    library.replies["/ms17/manifest"] = Reply(content=json.dumps(manifest_3(*canvases)).encode())
    return f"{library.address}/ms17/manifest"


@pytest.fixture
def transcribe(drethtr, tiny_path, tmp_path):
    """`drethtr transcribe` into a folder `out`, with a small model."""
    return lambda *arguments: drethtr(
        "transcribe", *arguments, "--model", tiny_path, "--lines", "projection", "--output", tmp_path / "out"
    )


def names(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_annotations_refer_to_the_canvases(transcribe, manifest, tmp_path):
    assert transcribe(manifest, "--format", "iiif", "--pages", "2").code == 0
    [path] = (tmp_path / "out").glob("*.json")
    items = json.loads(path.read_text(encoding="utf-8"))["items"]
    targets = {item["target"].split("#")[0] for item in items if item["motivation"] == "supplementing"}
    assert [target.rsplit("/", 2)[1:] for target in targets] == [["b.jpg", "canvas"]]


def test_mets_becomes_one_document(transcribe, tmp_path):
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["eins"])
    put_page(tmp_path / "b.png", tmp_path / "unused.xml", ["zwei"])
    images = [("I1", "image/png", "a.png"), ("I2", "image/png", "b.png")]
    groups = {"OCR-D-IMG": images, "OCR-D-SEG": [("G1", PAGE_TYPE, "a.xml")]}
    pages = [("1", ["I1", "G1"]), ("2", ["I2"])]
    (tmp_path / "mets.xml").write_text(mets_of(groups, pages), encoding="utf-8")
    assert transcribe(tmp_path / "mets.xml", "--format", "page,txt,pdf").code == 0
    assert names(tmp_path / "out") == ["mets.pdf", "mets.txt", "mets_0001.page.xml", "mets_0002.page.xml"]
    assert read_page(tmp_path / "out" / "mets_0002.page.xml").image == "b.png"
    assert transcribe(tmp_path / "mets.xml", "--pages", "2", "--format", "md").code == 0
    assert "mets_0002.md" in names(tmp_path / "out")
    outcome = transcribe(tmp_path / "mets.xml", "--pages", "3-")
    assert outcome.code == 2 and "none of the files has a page in the given ranges" in outcome.err


def test_pages_of_a_manifest_are_fetched_as_they_are_read_and_never_again(transcribe, library, manifest, tmp_path):
    assert transcribe(manifest, "--format", "page,txt,pdf") == (0, "", "")
    images = [f"/i/{name}/full/max/0/default.jpg" for name in "ab"]
    assert library.asked == ["/ms17/manifest", *images]
    assert names(tmp_path / "out") == ["ms17.pdf", "ms17.txt", "ms17_0001.page.xml", "ms17_0002.page.xml"]
    assert read_page(tmp_path / "out" / "ms17_0002.page.xml").image == "b.jpg"
    library.asked.clear()
    again = transcribe(manifest, "--format", "page,txt,pdf")
    assert again.code == 0 and "1 of 1 files already have results" in again.err
    assert transcribe(manifest, "--format", "json").code == 0
    assert library.asked == ["/ms17/manifest"] * 2


def test_a_manifest_that_has_changed_is_noticed(transcribe, library, manifest, tmp_path):
    assert transcribe(manifest).code == 0
    before = (tmp_path / "out" / "ms17.txt").read_bytes()
    content = json.loads(library.replies["/ms17/manifest"].content)
    content["items"].reverse()
    library.replies["/ms17/manifest"] = Reply(content=json.dumps(content).encode())
    outcome = transcribe(manifest)
    assert outcome.code == 1 and f"{manifest}: the results in " in outcome.err
    assert (
        "were made from different files with these names" in outcome.err and str(tmp_path / "cache") not in outcome.err
    )
    assert (tmp_path / "out" / "ms17.txt").read_bytes() == before
    assert transcribe(manifest, "--force").code == 0
    assert (tmp_path / "out" / "ms17.txt").read_bytes() != before


def test_only_pages_that_are_asked_for_are_fetched(transcribe, library, manifest, tmp_path):
    assert transcribe(manifest, "--pages", "2").code == 0
    assert library.asked == ["/ms17/manifest", "/i/b/full/max/0/default.jpg"]
    assert names(tmp_path / "out") == ["ms17_0002.txt"]


def test_a_page_that_cannot_be_fetched_is_fetched_the_next_time(transcribe, library, manifest):
    image = "/i/b/full/max/0/default.jpg"
    good, library.replies[image] = library.replies[image], Reply(503)
    outcome = transcribe(manifest)
    assert outcome.code == 1 and f"{manifest} page 2: " in outcome.err and "status 503" in outcome.err
    library.replies[image] = good
    library.asked.clear()
    assert transcribe(manifest).code == 0
    assert library.asked == ["/ms17/manifest", image]


def test_progress_names_the_address(transcribe, manifest):
    events = [json.loads(row) for row in transcribe(manifest, "--log", "json").err.splitlines()]
    pages = [(event["file"], event["page"]) for event in events if event["event"] == "page"]
    assert pages == [(manifest, 1), (manifest, 2)]


def test_a_manifest_in_a_file_leads_to_its_images(transcribe, library, manifest, tmp_path):
    (tmp_path / "volume.json").write_bytes(library.replies["/ms17/manifest"].content)
    assert transcribe(tmp_path / "volume.json").code == 0
    assert names(tmp_path / "out") == ["volume.txt"] and len(library.asked) == 2


def test_mets_at_an_address_leads_to_its_images(transcribe, library, tmp_path):
    """But to nothing on this machine."""
    images = [("I1", "image/png", "../i/a/full/max/0/default.jpg"), ("I2", "image/png", (tmp_path / "b.png").as_uri())]
    volume = mets_of({"MAX": images}, [("1", ["I1"]), ("2", ["I2"])])
    library.replies["/ms18/mets.xml"] = Reply(content=volume.encode())
    outcome = transcribe(f"{library.address}/ms18/mets.xml")
    assert outcome.code == 1 and "mets.xml page 2: " in outcome.err and "is not a web address" in outcome.err
    assert names(tmp_path / "out") == ["ms18.txt"]


def test_a_scan_at_an_address(transcribe, library, tmp_path):
    library.replies["/scans/a.png"] = library.replies["/i/a/full/max/0/default.jpg"]
    assert transcribe(f"{library.address}/scans/a.png").code == 0
    assert names(tmp_path / "out") == ["a.txt"]
    outcome = transcribe(f"{library.address}/scans/c.png")
    assert outcome.code == 2 and f"drethtr: {library.address}/scans/c.png: not found" in outcome.err


def test_this_machine_and_its_network_are_not_asked(drethtr, library, manifest, monkeypatch):
    monkeypatch.setattr(web, "WEB", Web())
    outcome = drethtr("transcribe", manifest)
    assert outcome.code == 2 and "127.0.0.1 is in a private network" in outcome.err
    assert library.asked == []
