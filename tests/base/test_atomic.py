"""A file is whole or as it was."""

import pytest

from drethtr.base.atomic import atomic_write, remove_unfinished


def test_a_file_takes_its_place_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "file"
    with atomic_write(path) as unfinished:
        unfinished.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_a_name_may_be_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("n" * 255)
    with atomic_write(path) as unfinished:
        unfinished.write_text("whole")
    assert path.read_text() == "whole"


def test_after_an_error_the_old_file_is_there(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def breaks_off():
        with atomic_write(path) as unfinished:
            unfinished.write_text("half")
            raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        breaks_off()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_who_write_one_file_both_write_it_whole(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as one:
        one.write_text("one")
        with atomic_write(path) as other:
            other.write_text("other")
        assert path.read_text() == "other"
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_keeps_its_mode(tmp_path):
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o640)
    with atomic_write(path) as unfinished:
        unfinished.unlink()
        unfinished.touch(0o600)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_file_is_written(there, tmp_path):
    (tmp_path / "links").mkdir()
    link, file = tmp_path / "links" / "link", tmp_path / "file"
    link.symlink_to("../file")
    if there:
        file.write_text("old")
    with atomic_write(link) as unfinished:
        unfinished.write_text("new")
    assert link.is_symlink() and file.read_text() == "new"
    assert sorted(tmp_path.rglob("*")) == [file, link.parent, link]


def test_what_a_killed_program_left_can_be_removed(tmp_path):
    """And nothing else."""
    own = [tmp_path / name for name in ("file", "thesis.unfinished", ".notes.unfinished")]
    for path in own:
        path.touch()
    writing = atomic_write(tmp_path / "file")
    writing.__enter__()  # and no more: the program is killed
    assert len(list(tmp_path.iterdir())) == 4
    remove_unfinished(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(own)
    remove_unfinished(tmp_path / "missing")
