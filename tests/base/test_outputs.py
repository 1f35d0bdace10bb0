import os
import sys

import pytest

from drethtr.base.errors import DataError
from drethtr.base.outputs import is_there, make_folder, write_bytes, write_text


def test_what_utf_8_lacks_is_replaced(tmp_path):
    write_text(tmp_path / "a.txt", "caf\udce9\n")
    assert (tmp_path / "a.txt").read_bytes() == b"caf?\n"


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(DataError, match="cannot be written"):
        write_bytes(tmp_path / "a", b"")


def test_a_file_is_no_folder(tmp_path):
    make_folder(tmp_path / "new" / "folder")
    (tmp_path / "file").touch()
    for place, message in ((tmp_path / "file", "is a file"), (tmp_path / "file" / "out", "cannot be created")):
        with pytest.raises(DataError, match=message):
            make_folder(place)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everybody may write")
def test_a_folder_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="not writable"):
        make_folder(tmp_path)
    tmp_path.chmod(0o700)


def test_a_name_that_is_too_long_is_not_there(tmp_path):
    assert not is_there(tmp_path / ("n" * 300))
