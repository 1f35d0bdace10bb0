"""Which files a person means."""

import pytest

from drethtr.pages.inputs import find_inputs


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_no_folder(tmp_path, monkeypatch, name):
    (tmp_path / "scan.jfif").touch()
    monkeypatch.chdir(tmp_path)
    assert find_inputs([str(tmp_path)]) == ([tmp_path / "scan.jfif"], [])
    files, [error] = find_inputs([name])
    assert not files and "an input name is empty" in str(error)


def test_pictures_of_a_telephone_are_not_passed_over(tmp_path):
    for name in ("a.jpg", "b.HEIC", "notes.docx"):
        (tmp_path / name).touch()
    assert find_inputs([str(tmp_path)]) == ([tmp_path / "a.jpg", tmp_path / "b.HEIC"], [])
