"""The hidden folder of the pages of a file."""

import sys

import pytest

from drethtr.base.errors import DataError
from drethtr.pages.task import PageCache


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_the_folder_of_pages_that_were_read_is_no_link(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / ".a.pages").symlink_to("mine")
    with pytest.raises(DataError, match="is a link; remove it"):
        PageCache(tmp_path / ".a.pages")
