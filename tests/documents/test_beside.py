"""Where the image of a page file is looked for."""

import pytest

from drethtr.base.errors import DataError
from drethtr.documents.beside import image_beside


@pytest.mark.parametrize("name", ["a.png", "images/a.png", "../a.png", "../../img/a.png"])
def test_an_image_is_found_near_its_page_file(tmp_path, name):
    path = tmp_path / "sent" / "volume" / "page" / "p.xml"
    image = path.parent / name
    image.parent.mkdir(parents=True, exist_ok=True)
    image.touch()
    path.parent.mkdir(exist_ok=True)
    assert image_beside(path, name) == image


@pytest.mark.parametrize("name", ["{}/mine.png", "../../../mine.png", "x/../../../../mine.png"])
def test_no_image_is_taken_from_elsewhere(tmp_path, name):
    path = tmp_path / "sent" / "volume" / "page" / "p.xml"
    (path.parent / "x").mkdir(parents=True)
    (tmp_path / "mine.png").touch()
    with pytest.raises(DataError, match=r"mine\.png' is missing; put it into"):
        image_beside(path, name.format(tmp_path))
