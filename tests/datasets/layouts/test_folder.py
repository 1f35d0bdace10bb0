import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.datasets.layouts.folder import store_folder
from drethtr.datasets.open import open_samples


def test_comes_back_as_it_was(make_samples, tmp_path):
    samples = make_samples("a", 3)
    store_folder(samples, tmp_path / "lines")
    found = open_samples(tmp_path / "lines")
    assert [sample.text for sample in found] == [sample.text for sample in samples]
    for sample, other in zip(found, samples, strict=True):
        np.testing.assert_array_equal(sample.line(), other.line())


def test_an_image_may_be_named_like_its_text(draw, tmp_path):
    (tmp_path / "a.gt.png").write_bytes(draw("ab"))
    (tmp_path / "a.gt.txt").write_text("ab\n")
    [sample] = open_samples(tmp_path)
    assert (sample.text, sample.id, sample.image) == ("ab", "a", tmp_path / "a.gt.png")
    (tmp_path / "a.png").write_bytes(draw("ab"))
    with pytest.raises(DataError, match=r"belongs to two images, a\.gt\.png and a\.png"):
        open_samples(tmp_path)


def test_a_file_in_the_way_is_named(make_samples, tmp_path):
    (tmp_path / "lines").write_text("precious")
    with pytest.raises(DataError, match="lines"):
        store_folder(make_samples("a", 1), tmp_path / "lines")


def test_what_fails_at_once_removes_nothing(make_samples, tmp_path):
    def fails():
        raise DataError("cannot open the font")
        yield

    store_folder(make_samples("a", 2), tmp_path)
    with pytest.raises(DataError, match="cannot open the font"):
        store_folder(fails(), tmp_path)
    assert len(open_samples(tmp_path)) == 2
    store_folder(make_samples("b", 1), tmp_path)
    assert [sample.text for sample in open_samples(tmp_path)] == ["b0"]
