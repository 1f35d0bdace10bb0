"""Small tables that stand for gigabytes are refused, with little memory in this process; genuine ones are read."""

import pytest
from growth import megabytes_of, needs_status
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.datasets import growth
from drethtr.datasets.open import open_samples
from drethtr.datasets.parquet import open_parquet, store_parquet
from drethtr.datasets.sample import Sample

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


def repeated(size, rows):
    """A column that has one value, of so many bytes, in all rows."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([bytes(size)], pa.binary()))


BOMBS = {
    "a value of 200 MB": lambda: (pa.array([bytes(200 << 20)], pa.binary()), {}),
    "a value of 30 MB 300 times": lambda: (repeated(30 << 20, 300), {}),
    "a value of 5 kB a million times": lambda: (repeated(5000, 1_000_000), {}),
    "a million empty rows": lambda: (pa.nulls(1_000_000, pa.binary()), {}),
    "long common beginnings": lambda: (
        pa.array([bytes(20_000)] * 20_000, pa.binary()),
        {"use_dictionary": False, "column_encoding": {"image": "DELTA_BYTE_ARRAY"}},
    ),
}


def written(path, images, **options):
    table = pa.table({"image": images, "text": ["a"] * len(images)})
    pq.write_table(table, path, compression="zstd", row_group_size=len(images), **options)


@pytest.fixture(scope="module", params=BOMBS)
def bomb(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("bombs") / "a.parquet"
    images, options = BOMBS[request.param]()
    written(path, images, **options)
    assert path.stat().st_size < 1 << 20
    return path


@needs_status
def test_a_small_table_that_grows_is_refused(bomb):
    def refused():
        with pytest.raises(DataError, match=r"a\.parquet: has [\d,]+ bytes that become more than [\d,]+; rewrite it"):
            open_samples(bomb)

    assert megabytes_of(refused) < 300


def test_a_footer_that_lies_is_not_believed(tmp_path, monkeypatch):
    """What the footer tells is the first limit only: here it is switched off."""
    path = tmp_path / "a.parquet"
    written(path, pa.array([bytes(200 << 20)], pa.binary()))
    honest = pq.ParquetFile

    class Lying(honest):
        metadata = type("Footer", (), {"num_rows": 1, "num_row_groups": 0, "row_group": None})

    monkeypatch.setattr(pq, "ParquetFile", Lying)
    with pytest.raises(DataError, match="rewrite it with fewer repetitions"), open_parquet(str(path)):
        pass


def test_of_a_large_table_the_footer_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "SMALL", 0)
    path = tmp_path / "a.parquet"
    written(path, pa.array([bytes(40 << 20)], pa.binary()))
    with pytest.raises(DataError, match="rewrite it with fewer repetitions"), open_parquet(str(path)):
        pass


def test_genuine_tables_are_read(tmp_path):
    """Blank lines, which shrink most, and the same line again and again."""
    Image.new("L", (4000, 128), 255).save(tmp_path / "blank.png")
    store_parquet([Sample((tmp_path / "blank.png").read_bytes(), "a")] * 3000, tmp_path / "lines.parquet")
    assert len(open_samples(tmp_path / "lines.parquet")) == 3000
