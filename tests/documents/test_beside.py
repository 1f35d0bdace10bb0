"""Where the image of a page file is looked for."""

import os
import shutil
import sys
from itertools import product
from pathlib import Path

import pytest

from drethtr.base.errors import DataError
from drethtr.documents.beside import image_beside, visible_below
from drethtr.documents.page import file_name


@pytest.mark.parametrize("name", ["a.png", "images/a.png", "../a.png", "../../img/a.png", "../jpg/a.png"])
def test_an_image_is_found_near_its_page_file(tmp_path, monkeypatch, name):
    path = tmp_path / "sent" / "volume" / "page" / "p.xml"
    image = path.parent / name
    image.parent.mkdir(parents=True, exist_ok=True)
    image.touch()
    path.parent.mkdir(exist_ok=True)
    assert image_beside(path, name).samefile(image)
    for here, below in (("page", "p.xml"), ("page", "../page/p.xml"), ("", "page/p.xml")):
        monkeypatch.chdir(path.parents[1] / here)
        assert image_beside(Path(below), file_name(name)).samefile(image)


@pytest.mark.parametrize("ending", [".page.xml", ".alto.xml"])
def test_files_of_ours_that_were_renamed_with_their_scans_keep_them(tmp_path, ending):
    """Before them comes a new scan, which has the name of the first."""
    for name in ("1.png", "2.png", "3.tif", f"2{ending}", f"3{ending}", "vol.tif", "vol_0001.tif"):
        (tmp_path / name).touch()
    assert image_beside(tmp_path / f"2{ending}", "1.png") == tmp_path / "2.png"
    assert image_beside(tmp_path / f"3{ending}", "2.png") == tmp_path / "3.tif"
    # Not renamed: a page of a volume, a file of another program, one whose scan alone has its old name.
    assert image_beside(tmp_path / f"vol_0001{ending}", "vol.tif") == tmp_path / "vol.tif"
    assert image_beside(tmp_path / "2.xml", "1.png") == tmp_path / "1.png"
    assert image_beside(tmp_path / f"4{ending}", "1.png") == tmp_path / "1.png"


@pytest.mark.parametrize("scan", ["new.tif", "new.PDF"])
@pytest.mark.parametrize("folder", ["scans", "scans/page", "elsewhere"])
def test_files_of_pages_that_were_renamed_with_their_volume_keep_it(tmp_path, folder, scan):
    """They had no scan any more, and the pages of the volume were read again without their corrections."""
    (tmp_path / "scans" / "page").mkdir(parents=True)
    (tmp_path / "scans" / scan).touch()
    images = tmp_path / "scans" if folder == "elsewhere" else None
    for file, name in product(("new_0001.page.xml", "new_0012.alto.xml"), ("old.tif", "old.pdf")):
        assert image_beside(tmp_path / folder / file, name, images=images) == tmp_path / "scans" / scan
    with pytest.raises(DataError, match="is missing"):
        image_beside(tmp_path / folder / "other_0001.page.xml", "old.pdf", images=images)


def test_pdfs_are_found_among_images_and_beside_folders_of_descriptions(tmp_path):
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "vol.pdf").touch()
    for folder, images in ((tmp_path / "a" / "b" / "read", tmp_path / "scans"), (tmp_path / "page", None)):
        folder.mkdir(parents=True)
        assert image_beside(folder / "vol_0001.page.xml", "vol.pdf", images=images) == tmp_path / "scans" / "vol.pdf"
        with pytest.raises(DataError, match="is missing"):  # one of the same name may have been made from the image
            image_beside(folder / "vol.page.xml", "vol.jpg", images=images)


@pytest.mark.parametrize("folder", ["scans", "scans/page", "elsewhere"])
def test_renamed_files_in_another_folder_keep_their_scans_too(tmp_path, folder):
    """In that beside the scans, as in exports of Transkribus, and with the folder of the images given."""
    scans = tmp_path / "scans"
    scans.mkdir()
    for name in ("1.png", "2.png"):
        (scans / name).touch()
    path = tmp_path / folder / "2.page.xml"
    assert image_beside(path, "1.png", images=scans if folder == "elsewhere" else None) == scans / "2.png"
    (tmp_path / folder).mkdir(exist_ok=True)
    if folder == "scans/page":  # a volume of its own
        (tmp_path / folder / "1.png").touch()
        assert image_beside(path, "1.png") == tmp_path / folder / "1.png"


@pytest.mark.parametrize("name", ["{}/mine.png", "../../../mine.png", "x/../../../../mine.png"])
def test_no_image_is_taken_from_elsewhere(tmp_path, name):
    path = tmp_path / "sent" / "volume" / "page" / "p.xml"
    (path.parent / "x").mkdir(parents=True)
    (tmp_path / "mine.png").touch()
    with pytest.raises(DataError, match=r"mine\.png' is missing; put it into"):
        image_beside(path, name.format(tmp_path))


@pytest.mark.skipif(sys.platform == "win32", reason="no path can be too long for its own folder")
def test_a_folder_that_cannot_be_opened_is_named(tmp_path):
    """Its path is too long, which even the superuser cannot overcome."""
    name, folder = "x" * 200, os.open(tmp_path, os.O_RDONLY)
    for _ in range(25):
        os.mkdir(name, dir_fd=folder)
        above, folder = folder, os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(above)
    os.close(folder)
    with pytest.raises(DataError, match=r"xxx: cannot be accessed: File name too long"):
        visible_below(tmp_path)
    shutil.rmtree(tmp_path / name)


NAMES = (
    "letter_0012.jpg",
    "Brief an Anna.tif",
    "straße_0007.png",
    "f. 12 verso.JPG",
    "IMG%20_00031.jpeg",
    "Ünal (3).jp2",
)
MISSES = {
    "nothing": lambda stem: None,
    "a letter less": lambda stem: f"{stem[:-3]}{stem[-2:]}.jpg",
    "another letter": lambda stem: f"{stem[:-1]}x.png",
    "a letter more": lambda stem: f"{stem}x.tif",
    "no image": lambda stem: f"{stem[:-1]}x.txt",
    "another name": lambda stem: "1799-03-04 W.jpg",
}
"""What lies where the image should be; the second to fourth are worth naming."""


@pytest.mark.parametrize("miss", MISSES)
@pytest.mark.parametrize("name", NAMES)
def test_a_missing_image_is_named_with_its_cure_and_with_similar_names(tmp_path, name, miss):
    """216 members: where the near miss lies, whether a folder of images was named, and whether the name has folders."""
    other = MISSES[miss](Path(name).stem)
    for number, (place, named, around) in enumerate(product(("page", "."), (False, True), ("", "../x/", "C:\\x\\"))):
        folder = tmp_path / str(number)
        (folder / "page").mkdir(parents=True)
        images = folder / place if named else None
        if other is not None:
            (folder / place / other).write_bytes(b"")
        with pytest.raises(DataError) as error:
            image_beside(folder / "page" / "p.xml", file_name(around + name), images=images)
        said = str(error.value)
        assert said.startswith(f"{folder / 'page' / 'p.xml'}: its image {name!r} is missing; ")
        assert (
            f"it is not in {images}"
            if named
            else f"put it into {folder / 'page'} or {folder}, or name its folder with --images"
        ) in said
        similar = miss in ("a letter less", "another letter", "a letter more")
        assert (f"; similar names: {folder / place / str(other)}" in said) is similar, said


def test_the_current_folder_is_called_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="put it into page or the current folder, or name its folder with --images"):
        image_beside(Path("page") / "p.xml", "p.jpg")
    with pytest.raises(DataError, match="put it into the current folder or the one above, or name"):
        image_beside(Path("p.xml"), "p.jpg")


ODD = ("a\0b.jpg", "x" * 5000, "\udc80.jpg", "a\nb.jpg", "\x1b[2J.jpg", "a/" * 3000 + "b.jpg", "/dev/zero", "..", "~")


@pytest.mark.parametrize("name", ODD)
def test_odd_names_lead_to_no_image(tmp_path, name):
    with pytest.raises(DataError, match="is missing"):
        image_beside(tmp_path / "page" / "a.xml", name)
