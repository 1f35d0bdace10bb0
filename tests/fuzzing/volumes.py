"""Volumes of pages: METS, IIIF manifests and collections, and ZIP files like the exports of other programs."""

import shutil
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

from hypothesis import strategies as st
from iiif_examples import canvas_2, canvas_3, manifest_2, manifest_3, service_2, service_3
from mets_examples import mets_of
from PIL import Image

from drethtr.base.archive import unpack_cached, unpack_once, unpacked_from
from drethtr.documents.page_xml.reader import NAMESPACES as PAGE
from drethtr.pages.inputs import find_inputs
from drethtr.pages.source import open_originals
from fuzzing.files import ANYTHING, NUMBERS, TEXTS, Target, as_json, elements, encoded, escaped, mutated
from fuzzing.page_files import alto, page_xml
from fuzzing.scans import saved

PICTURE = saved(Image.new("L", (40, 20), 200), "PNG")
DESCRIBED = f'<PcGts xmlns="{PAGE[-1]}"><Page imageFilename="scan.png" imageWidth="40" imageHeight="20"/></PcGts>'

ADDRESSES = st.sampled_from(
    ["https://library.example/a/1", "http://[", "https://[::1", "//x", "file:///etc/passwd", "file://[/a", "ftp://a/b",
     "http://a:99999999/b", "http://a/%00", "%2e%2e/%2e%2e/a.png", "http://\u2100.example/a", "javascript:alert(1)"]
)  # fmt: skip
PLACES = st.sampled_from(["scan.png", "scan.xml", "./scan.png", "case.xml", "."]) | ADDRESSES | TEXTS
IDS = st.sampled_from(["A", "B", "C", ""]) | TEXTS.map(escaped)

FILES = st.lists(
    st.tuples(
        IDS,
        st.sampled_from(["image/png", "image/jpeg", "application/vnd.prima.page+xml", "text/xml", ""]),
        PLACES.map(escaped),
    ),
    max_size=3,
)
GROUPS = st.dictionaries(st.sampled_from(["OCR-D-IMG", "THUMBS", "MAX", "OCR-D-GT", ""]), FILES, max_size=3)
LISTED = st.lists(st.tuples(st.sampled_from(["1", "2"]) | NUMBERS, st.lists(IDS, max_size=3)), max_size=4)
METS_PARTS = st.just("") | elements(
    "fileSec fileGrp file FLocat structMap div fptr area seq",
    "ID USE FILEID ORDER TYPE MIMETYPE href",
)
METS = st.builds(mets_of, GROUPS, LISTED)


@st.composite
def mets(draw: Any) -> str:
    """Almost valid METS."""
    return draw(METS).replace("</mets:mets>", draw(METS_PARTS) + "</mets:mets>")


PROFILES = st.sampled_from(["level1", "level0", "http://iiif.io/api/image/2/level1.json"])
SERVICES = st.one_of(
    st.none(), ANYTHING, *(st.builds(made, PLACES, PROFILES, ADDRESSES) for made in (service_2, service_3))
)
SIDES = st.integers(-1, 9999) | st.sampled_from([1e999, -1e999, 10**400, 0.5, True])
REGIONS = st.sampled_from(["full", "1,2,3,4", "xywh=pct:0,0,50,33.3", "1,2,3.4.5,6", "0,0,.,1", "0,0,1," + "9" * 400])
SIZES = st.fixed_dictionaries({"width": SIDES, "height": SIDES})


def canvases(made: Any) -> st.SearchStrategy[list[Any]]:
    """Canvases of one version of the format, possibly with invalid sizes."""
    one = st.builds(
        lambda image, service, size, region: made(image, service, region=region) | size,
        PLACES, SERVICES, SIZES, st.none() | REGIONS | TEXTS,
    )  # fmt: skip
    return st.lists(one, max_size=3)


MANIFESTS = canvases(canvas_3).map(lambda some: manifest_3(*some)) | canvases(canvas_2).map(
    lambda some: manifest_2(*some)
)


@st.composite
def manifests(draw: Any) -> Any:
    """Manifests and collections with some values replaced."""
    whole = draw(MANIFESTS)
    if draw(st.integers(0, 4)) == 0:
        whole |= {"type": "Collection", "manifests": draw(ANYTHING)}
    return replaced(draw, whole)


def replaced(draw: Any, value: Any) -> Any:
    """A JSON value with a few parts replaced."""
    if draw(st.integers(0, 30)) == 0:
        return draw(ANYTHING)
    if isinstance(value, dict):
        return {key: replaced(draw, one) for key, one in value.items()}
    return [replaced(draw, one) for one in value] if isinstance(value, list) else value


CONTENTS = st.one_of(
    st.just(PICTURE), encoded(page_xml() | alto() | mets()), manifests().map(as_json), st.binary(max_size=40)
)
NAMES = st.one_of(
    st.sampled_from(["scan.png", "scan.xml", "page/scan.xml", "alto/scan.xml", "mets.xml", "manifest.json"]),
    st.sampled_from(["../up.png", "/up.png", "a\\b.png", "C:x.png", "a//b.xml", "con", ".hidden.png", "a/", "a", ""]),
    TEXTS.map(lambda text: text.encode("utf-8", "replace").decode()),
)
TIMES = st.sampled_from([(2026, 11, 25, 12, 0, 0), (1980, 0, 0, 0, 0, 0), (2107, 15, 31, 31, 63, 62)])
MODES = st.sampled_from([0o100644, 0o100000, 0o120777, 0o040755, 0o20600, 0])
METHODS = st.sampled_from([ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
ENTRIES = st.lists(st.tuples(NAMES, TIMES, MODES, METHODS, CONTENTS), max_size=5)


def archive_with(entries: list[Any]) -> bytes:
    """A ZIP file of scans, descriptions, volumes and odd entries."""
    file = BytesIO()
    with ZipFile(file, "w") as archive, warnings.catch_warnings(action="ignore"):  # about duplicate names
        for name, time, mode, method, content in entries:
            entry = ZipInfo(name, time)
            entry.external_attr, entry.compress_type = mode << 16, method
            archive.writestr(entry, content)
    return file.getvalue()


def use_volume(path: Path) -> None:
    """Open the pages of a volume; nothing is downloaded."""
    path.with_name("scan.png").write_bytes(PICTURE)
    path.with_name("scan.xml").write_text(DESCRIBED)
    for original in open_originals(path):
        assert original.name
        assert original.source.file is None or original.source.file.is_file()
        original.given()


def use_archive(path: Path) -> None:
    """Open the pages in a ZIP file, and check that nothing is written outside its temporary folder."""
    before, others = sorted(path.parent.iterdir()), dict(unpacked_from)  # of tests in the same process
    try:
        unpack_once(path)
        [folder] = unpacked_from.keys() - others
        assert [one.name for one in folder.parent.iterdir()] == [folder.name]
        assert all(one.is_dir() or (one.is_file() and not one.is_symlink()) for one in folder.rglob("*"))
        files, _ = find_inputs([str(path)])
        for file in files:
            for original in open_originals(file):
                original.given()
    finally:
        unpack_cached.cache_clear()  # the next case may have the same size and, by a coarse clock, the same time
        for folder in unpacked_from.keys() - others:
            shutil.rmtree(folder.parent)
            del unpacked_from[folder]
        assert sorted(path.parent.iterdir()) == before


TARGETS = {
    "mets": Target(".xml", mutated(encoded(mets())), use_volume),
    "iiif": Target(".json", mutated(manifests().map(as_json)), use_volume),
    "zip": Target(".zip", mutated(ENTRIES.map(archive_with)), use_archive),
}
