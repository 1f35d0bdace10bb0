"""Images are found by the names that descriptions have for them, however they are spelled and wherever they lie."""

import os
import sys
import time
from itertools import product
from pathlib import Path
from unicodedata import normalize
from urllib.parse import quote

import pytest
from growth import steps
from hypothesis import given
from hypothesis import strategies as st

from drethtr.base.errors import DataError
from drethtr.documents import image_beside
from drethtr.documents.names import files_like, key_of, listed_file, restored, stored
from drethtr.pages.catalog import Folders

STEMS = ("0001", "Brief é", "straße 12", "IMG_0001", "n° 3 (verso)", "Ünal.b")
SPELLINGS = {
    "as it is": str,
    "composed": lambda name: normalize("NFC", name),
    "decomposed": lambda name: normalize("NFD", name),
    "percent": quote,
    "upper": str.upper,
    "lower": str.lower,
    "of Windows": lambda name: f"C:\\scans\\{name}",
}
PLACES = (".", "..", "images", "../jpg", "../OCR-D-IMG")
ENDINGS = ((".jpg", ".jpg"), (".tif", ".jpg"), (".png", ".PNG"))
MEMBERS = list(product(STEMS, SPELLINGS.values(), PLACES, ENDINGS))


@pytest.mark.parametrize("stem", STEMS)
def test_images_are_found_in_every_spelling_and_folder(stem, tmp_path):
    """The description has another name than its image, so that only the name in it leads there."""
    assert len(MEMBERS) > 600
    members = [member for member in MEMBERS if member[0] == stem]
    for number, (_, spelled, place, (named, there)) in enumerate(members):
        page = tmp_path / str(number) / "page" / "x.xml"
        image = page.parent / place / (stem + there)
        image.parent.mkdir(parents=True, exist_ok=True)
        page.parent.mkdir(parents=True, exist_ok=True)
        for file in (page, image):
            file.touch()
        assert image_beside(page, spelled(stem + named)).samefile(image), f"{spelled(stem + named)} for {image}"


def test_the_very_name_comes_before_other_spellings(tmp_path):
    for name in ("a b.jpg", "A B.jpg", "a%20b.jpg", "a b.png"):
        (tmp_path / name).touch()
    for name in ("a b.jpg", "A B.jpg", "a%20b.jpg", "a b.png"):
        assert image_beside(tmp_path / "x.xml", name).name == name


def test_a_scan_has_one_name_where_a_drive_finds_it_by_several(tmp_path, monkeypatch):
    """As on macOS and Windows drives; with two names it would be two pages."""
    there = tmp_path / normalize("NFD", "Brief é.JPG")
    for file in (there, tmp_path / "x.xml"):
        file.touch()
    monkeypatch.setattr(
        Path, "is_file", lambda self: key_of(self.name) in {key_of(file.name) for file in self.parent.iterdir()}
    )
    monkeypatch.setattr(Path, "samefile", lambda self, other: key_of(self.name) == key_of(other.name))
    folders = Folders()
    folders.list(tmp_path)
    for find in (listed_file, folders.find):
        assert str(image_beside(tmp_path / "x.xml", "brief é.jpg", find)) == str(there)


@pytest.mark.parametrize("other", ["vol2", "images of vol2"])
def test_volumes_side_by_side_do_not_lend_each_other_pages(other, tmp_path):
    for volume in ("vol1", other):
        (tmp_path / volume).mkdir()
        (tmp_path / volume / "0001.xml").touch()
    (tmp_path / other / "0001.jpg").touch()
    with pytest.raises(DataError, match=r"0001\.xml: its image '0001\.jpg' is missing"):
        image_beside(tmp_path / "vol1" / "0001.xml", "0001.jpg")


def test_one_of_several_images_is_not_guessed(tmp_path):
    for folder in ("alto", "max", "scans 1914"):
        (tmp_path / folder).mkdir()
    for folder in ("max", "scans 1914"):
        (tmp_path / folder / "0001.jpg").touch()
    with pytest.raises(
        DataError, match=r"may be any of .*max.0001\.jpg, .*scans 1914.0001\.jpg; put the right one beside it"
    ):
        image_beside(tmp_path / "alto" / "0001.xml", "0001.jpg")


def test_a_missing_image_takes_little_longer_in_a_large_folder(tmp_path):
    """In thousands of pages whose images have other names, each name would be compared with each."""

    def missing():
        with pytest.raises(DataError, match="similar names"):
            image_beside(tmp_path / "x.xml", "scan 17.jpg")

    taken = []
    for number in range(300):
        (tmp_path / f"scan_{number:05}.jpg").touch()
        if number in (9, 299):
            os.utime(tmp_path, (0, number))
            missing()  # lists the folder
            taken.append(steps(missing))
    assert taken[1] < taken[0] + 10 * 290


def test_an_image_that_was_put_there_since_is_found(tmp_path):
    for name in ("a.jpg", "b.jpg"):
        with pytest.raises(DataError):
            image_beside(tmp_path / "x.xml", name.upper())
        (tmp_path / name).touch()
        assert image_beside(tmp_path / "x.xml", name.upper()).name in (name, name.upper())


@given(st.binary(max_size=30) | st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace")))
def test_every_name_can_be_stored_and_comes_back(name):
    as_path = os.fsdecode(name)
    assert restored(stored(as_path).encode("utf-8").decode("utf-8")) == as_path


@pytest.mark.parametrize("name", ["\\udc41", "\\udc5c", "\\\\udce9", "a\\b", "lettre_\udce9.png", "\\udc\udce9"])
def test_names_that_look_like_stored_ones_come_back(name):
    assert restored(stored(name)) == name


def test_names_that_are_utf_8_are_stored_as_they_are():
    assert stored(str(Path("Brief_é.png"))) == "Brief_é.png"


def test_a_folder_whose_time_is_ahead_is_not_listed_for_each_name(tmp_path, monkeypatch):
    (tmp_path / "a.JPG").touch()
    ahead = time.time() + 1e8
    os.utime(tmp_path, (ahead, ahead))
    listed, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: listed.append(folder) or scandir(folder))
    assert all(files_like(tmp_path, "a.jpg") == [tmp_path / "a.JPG"] for _ in range(100)) and len(listed) <= 2
    (tmp_path / "b.png").touch()
    assert files_like(tmp_path, "B.png") == [tmp_path / "b.png"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_a_link_that_leads_in_circles_hides_no_file_beside_it(tmp_path):
    (tmp_path / "A.png").touch()
    (tmp_path / "loop.png").symlink_to("loop.png")
    assert files_like(tmp_path, "a.png") == [tmp_path / "A.png"] and not files_like(tmp_path, "loop.png")
