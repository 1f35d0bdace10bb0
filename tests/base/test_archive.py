"""ZIP files of strangers: what is unpacked, and what is refused before anything is written."""

import os
import stat
import zipfile
from errno import ENOSPC, EROFS
from pathlib import Path
from types import SimpleNamespace

import pytest

from drethtr.base import archive as module
from drethtr.base.archive import archive_of, as_given, unpack, unpack_once
from drethtr.base.errors import DataError


def pack(path, *files, method=zipfile.ZIP_DEFLATED):
    """A ZIP file of names, or entries, with their contents."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return path


def below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def entry_of_kind(mode):
    entry = zipfile.ZipInfo("a.jpg")
    entry.external_attr = mode << 16
    return entry


def test_files_are_unpacked_once_and_nothing_is_written_beside_them(tmp_path):
    path = pack(tmp_path / "export.zip", ("1.jpg", b"1"), ("page\\1.xml", b"2"), ("empty/", b""))
    folder = unpack_once(path)
    assert unpack_once(path) == folder and names(tmp_path) == ["export.zip"]
    assert below(folder) == ["1.jpg", "page/1.xml"] and folder.name == "export"
    assert (folder / "1.jpg").read_bytes() == b"1"
    assert archive_of(folder / "page" / "1.xml") == path and archive_of(tmp_path / "1.jpg") is None
    assert as_given(f"{folder}/page/1.xml: broken") == f"{path}/page/1.xml: broken"


def test_a_changed_file_is_unpacked_again(tmp_path):
    path = tmp_path / "a.zip"
    first = unpack_once(pack(path, ("1.jpg", b"1")))
    second = unpack_once(pack(path, ("1.jpg", b"1"), ("2.jpg", b"2")))
    assert below(first) == ["1.jpg"] and below(second) == ["1.jpg", "2.jpg"]


def test_the_folder_that_holds_all_is_the_export(tmp_path):
    """Hidden files, which macOS adds, do not count."""
    files = ("job/7/Letters/1.jpg", "job/7/Letters/2.jpg", "__MACOSX/job/._1.jpg", "job/.DS_Store")
    folder = unpack_once(pack(tmp_path / "a.zip", *((name, b"1") for name in files)))
    assert folder.name == "Letters" and below(folder) == ["1.jpg", "2.jpg"]


def test_on_windows_names_that_it_lacks_are_changed(tmp_path, monkeypatch):
    """`Brief: 1.jpg` would be a part of a file `Brief`, and `aux.xml` a device."""
    path = pack(tmp_path / "a.zip", ("St. /Brief: 1?.jpg", b"1"), ("aux.xml", b"2"), ("auxiliary.xml", b"3"))
    monkeypatch.setattr("sys.platform", "win32")
    (tmp_path / "out").mkdir()
    unpack(path, tmp_path / "out", "a.zip")
    assert below(tmp_path / "out") == ["St._/Brief_ 1_.jpg", "_aux.xml", "auxiliary.xml"]


@pytest.mark.parametrize("name", ["..zip", "...zip", ".a.zip"])
def test_an_archive_may_have_an_odd_name(tmp_path, name):
    """Without its ending, it may lead to the folder above."""
    assert below(unpack_once(pack(tmp_path / name, ("1.jpg", b"1")))) == ["1.jpg"]


@pytest.mark.parametrize("error", [ENOSPC, EROFS])
def test_without_room_for_temporary_files_the_archive_is_named(tmp_path, monkeypatch, error):
    def fails(folder):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr("pathlib.Path.mkdir", fails)
    expected = rf"a\.zip: cannot be unpacked into a temporary folder: {os.strerror(error)}"
    with pytest.raises(DataError, match=expected):
        unpack_once(pack(tmp_path / "a.zip", ("1.jpg", b"1")))


def test_files_keep_their_times(tmp_path):
    """Pages of a book that were read are known by the time of its file."""
    entry = zipfile.ZipInfo("1.tif", (2001, 2, 3, 4, 5, 6))
    first, second = (unpack_once(pack(tmp_path / name, (entry, b"1"), ("2", b""))) for name in ("a.zip", "b.zip"))
    assert first != second
    assert (first / "1.tif").stat().st_mtime_ns == (second / "1.tif").stat().st_mtime_ns


@pytest.mark.parametrize(
    "name", ["../a.jpg", "b/../../a.jpg", "/etc/a.jpg", "..\\a.jpg", "C:\\a.jpg", "\\\\host\\share\\a.jpg"]
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    with pytest.raises(DataError, match=r"a\.zip: contains an unsafe path"):
        unpack_once(pack(tmp_path / "a.zip", ("good.jpg", b"1"), (name, b"1")))
    assert names(tmp_path) == ["a.zip"]


@pytest.mark.parametrize("name", ["", "."])
def test_a_file_without_a_name_is_refused(tmp_path, name):
    with pytest.raises(DataError, match=r"a\.zip: contains a file without a name"):
        unpack_once(pack(tmp_path / "a.zip", (zipfile.ZipInfo(name), b"1")))


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFCHR | 0o600, stat.S_IFIFO | 0o600])
def test_links_and_devices_are_refused(tmp_path, mode):
    with pytest.raises(DataError, match=r"contains a link or device, 'a\.jpg'"):
        unpack_once(pack(tmp_path / "a.zip", (entry_of_kind(mode), b"/etc/passwd")))


def test_a_bomb_is_refused_by_what_it_says_and_cannot_lie(tmp_path):
    path = pack(tmp_path / "a.zip", ("a.tif", bytes(module.SMALL + 1)))
    with pytest.raises(DataError, match="more than 100 times larger than the ZIP file"):
        unpack_once(path)
    content = path.read_bytes()
    size = (module.SMALL + 1).to_bytes(4, "little")
    assert content.count(size) == 2  # before the file, and in the list at the end
    path.write_bytes(content.replace(size, (1000).to_bytes(4, "little")))
    with pytest.raises(DataError, match="not a ZIP file that can be unpacked"):
        unpack_once(path)


@pytest.mark.parametrize(("filler", "refused"), [(14_000, False), (7_000, True)])
def test_a_bomb_grows_a_hundredfold(tmp_path, monkeypatch, filler, refused):
    """A million zeros take a thousand bytes, and a filler that cannot be compressed makes the file larger."""
    monkeypatch.setattr(module, "SMALL", 0)
    path = pack(tmp_path / "a.zip", ("a.tif", bytes(1_000_000)), ("b.tif", os.urandom(filler)))
    growth = (1_000_000 + filler) / path.stat().st_size
    assert 60 < growth < 90 or 110 < growth < 150
    out = tmp_path / "out"
    out.mkdir()
    if refused:
        with pytest.raises(DataError, match="more than 100 times larger than the ZIP file"):
            unpack(path, out, "a.zip")
    else:
        unpack(path, out, "a.zip")
    assert below(out) == ([] if refused else ["a.tif", "b.tif"])


@pytest.mark.parametrize(
    ("bound", "value", "reason"),
    [
        ("MAX_FILES", 1, "has more than 1 files"),
        ("MAX_BYTES", 3, "larger than 0 GB in total"),
        ("MAX_FILE_BYTES", 1, "'2.jpg' in it is larger"),
    ],
)
def test_bounds(tmp_path, monkeypatch, bound, value, reason):
    monkeypatch.setattr(module, bound, value)
    path = pack(tmp_path / "a.zip", ("1.jpg", b"1"), ("2.jpg", b"222"))
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match=reason):
        unpack(path, tmp_path / "out", "a.zip")
    assert names(tmp_path / "out") == []


def test_a_full_disk_is_noticed_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "disk_usage", lambda folder: SimpleNamespace(free=0))
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match="set TMPDIR to a folder with more space"):
        unpack(pack(tmp_path / "a.zip", ("1.jpg", b"1")), tmp_path / "out", "a.zip")


def damaged(path):
    content = bytearray(path.read_bytes())
    content[40] ^= 0xFF
    path.write_bytes(content)


def damaged_bzip2(path):
    path.write_bytes(
        pack(path, ("1.jpg", os.urandom(200)), method=zipfile.ZIP_BZIP2).read_bytes().replace(b"BZh9", b"BZh!")
    )


def cut(path):
    path.write_bytes(path.read_bytes()[:-30])


def encrypted(path):
    content = path.read_bytes()
    at = content.index(b"PK\1\2") + 8
    path.write_bytes(content[:at] + b"\1" + content[at + 1 :])


def text(path):
    path.write_text("no archive")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (damaged, "not a ZIP file that can be unpacked"),
        (damaged_bzip2, "not a ZIP file that can be unpacked: Invalid data stream"),
        (cut, "not a ZIP file that can be unpacked"),
        (text, "not a ZIP file that can be unpacked"),
        (encrypted, "is encrypted"),
        (Path.unlink, "cannot be read: No such file"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, spoil, reason):
    path = pack(tmp_path / "a.zip", ("1.jpg", os.urandom(200)))
    spoil(path)
    with pytest.raises(DataError, match=rf"a\.zip: {reason}"):
        unpack_once(path)


def test_an_unknown_method_of_packing_is_named_with_a_cure(tmp_path):
    """As Zstandard is to most versions of Python, and this one to all."""
    path = pack(tmp_path / "a.zip", ("1.jpg", b"1"))
    content = bytearray(path.read_bytes())
    for signature, field in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        content[content.index(signature) + field] = 97
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.zip: this Python cannot unpack it: .*; save it with the usual"):
        unpack_once(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"contains two files named '1\.jpg'"):
        unpack_once(pack(tmp_path / "a.zip", ("1.jpg", b"1"), ("1.jpg", b"2")))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_all_methods_of_packing(tmp_path, method):
    folder = unpack_once(pack(tmp_path / "a.zip", ("1.jpg", b"1" * 1000), method=method))
    assert (folder / "1.jpg").read_bytes() == b"1" * 1000
