import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.datasets.open import open_samples
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample

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


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    path = tmp_path / "lines.parquet"
    path.touch()
    path.chmod(0o600)
    store_parquet([Sample(LINE, "a")], path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_place_that_cannot_be_a_folder_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"lines.*: cannot be written"):
        store_parquet([], tmp_path / "file" / "lines.parquet")
