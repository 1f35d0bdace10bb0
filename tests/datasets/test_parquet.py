import os
import re
import socket
import sys
from pathlib import Path

import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.datasets.open import open_samples
from drethtr.datasets.parquet import encoded, entry_of, image_of, store_parquet
from drethtr.datasets.sample import Sample
from drethtr.text.normalize import as_written

LINE = np.tile(np.arange(0, 250, 5, dtype=np.uint8), (20, 1))


def test_what_is_stored_is_read_again(tmp_path):
    samples = [
        Sample(LINE, "Eau-de-vie", "bills", "fr", "p. 3", "anon", False, id="r1l2"),
        Sample(255 - LINE // 2, "œuf", "bills"),
    ]
    store_parquet(iter(samples), tmp_path / "lines.parquet")
    for before, after in zip(samples, open_samples(tmp_path / "lines.parquet"), strict=True):
        assert np.array_equal(before.line(), after.line())
        for name in ("text", "set", "language", "page", "hand", "clean", "id"):
            assert getattr(before, name) == getattr(after, name)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are UTF-8 elsewhere")
def test_a_file_name_need_not_be_utf_8(tmp_path):
    """Nothing could be imported into such a folder."""
    path = tmp_path / os.fsdecode(b"caf\xe9") / "lines.parquet"
    path.parent.mkdir()
    store_parquet([Sample(LINE, "a", "s")], path)
    assert [line.text for line in open_samples(path)] == ["a"]


def test_hugging_face_sees_images(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    store_parquet([Sample(LINE, "a")], tmp_path / "lines.parquet")
    assert b'"image": {"_type": "Image"}' in parquet.read_schema(tmp_path / "lines.parquet").metadata[b"huggingface"]


def test_an_unfinished_file_never_has_its_name(tmp_path):
    path = tmp_path / "lines.parquet"
    store_parquet([Sample(LINE, "before")], path)

    def breaks_off():
        yield Sample(LINE, "after")
        raise DataError("no more")

    with pytest.raises(DataError, match="no more"):
        store_parquet(breaks_off(), path)
    assert [sample.text for sample in open_samples(path)] == ["before"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_a_folder_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"lines.*: cannot be written"):
        store_parquet([], tmp_path / "file" / "lines.parquet")


@pytest.mark.parametrize(
    "place",
    [
        *(
            "ftp://127.0.0.1:{port}/a.png",
            "http://127.0.0.1:{port}/a.png",
            "simplecache::http://127.0.0.1:{port}/a.png",
        ),
        *("file://{elsewhere}", "{elsewhere}", "../../elsewhere.png"),
    ],
)
def test_a_table_on_disk_fetches_nothing_and_opens_nothing_elsewhere(tmp_path, place):
    """Whoever made it chose these names: nobody connects, and no file of this user becomes a line."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "received" / "lines").mkdir(parents=True)
    (tmp_path / "elsewhere.png").write_bytes(encoded(Sample(LINE, "a"))[0])
    table = tmp_path / "received" / "lines" / "lines.parquet"
    with socket.create_server(("127.0.0.1", 0)) as server:
        named = place.format(port=server.getsockname()[1], elsewhere=tmp_path / "elsewhere.png")
        parquet.write_table(pyarrow.table({"image": [{"bytes": None, "path": named}], "text": ["a"]}), table)
        with pytest.raises(DataError, match=r"row 0: image .* is neither in the folder of its table nor in"):
            open_samples(table)
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_table_at_an_address_names_no_other_host():
    for named in (
        "memory://other/a.png",
        "http://127.0.0.1/a.png",
        "/etc/hostname",
        "simplecache::memory://lines/a.png",
    ):
        with pytest.raises(DataError, match=r"image .* is not where its table is, memory://lines; download both"):
            image_of(named, "memory://lines/a.parquet", "row 0")


IMAGE = b"\x89PNG" + bytes(70_000)
ODD_CELLS = [
    [{"bytes": IMAGE, "path": None}],
    [IMAGE] * 3,
    {"bytes": None, "path": [IMAGE]},
    {"a": {"b": [IMAGE]}},
    3.5,
]


@pytest.mark.parametrize("column", ["image", "text", "clean"])
@pytest.mark.parametrize("cell", ODD_CELLS, ids=range(len(ODD_CELLS)))
def test_an_odd_cell_is_named_without_its_content(column, cell):
    row = {"image": IMAGE, "text": "a", "clean": True} | {column: cell}
    left_out = entry_of(row, "lines.parquet", 7, Path("lines"), as_written)
    assert re.search(r"^lines\.parquet row 7: .*(expected|not a string|no image)", left_out.described())
    assert len(left_out.described()) < 300


def test_a_text_too_long_for_a_line_is_refused():
    left_out = entry_of({"image": IMAGE, "text": "ab " * 3_000_000}, "a.parquet", 7, Path("a"), as_written)
    assert left_out.detail == "text has 9,000,000 characters, more than 10,000: a row is one line"
