from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample, check_apart, choose, clean_lines, with_distinct_sets


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "TIFF", "GIF"])
def test_size_is_that_of_the_decoded_line(draw, form, tmp_path):
    encoded = draw("hello", form)
    path = tmp_path / "line"
    path.write_bytes(encoded)
    for image in (encoded, path, Sample(encoded, "").line()):
        sample = Sample(image, "hello")
        assert sample.size() == (48, 16) == sample.line().shape[::-1]


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_size_of_an_image_that_its_exif_data_turns(form, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = BytesIO()
    Image.new("L", (48, 16), 255).save(file, form, exif=exif)
    sample = Sample(file.getvalue(), "")
    assert sample.size() == sample.line().shape[::-1]


def test_size_needs_no_pixels(draw):
    """A file cut off behind its header still has a size, which proves that nothing is decoded."""
    encoded = draw("hello", "PNG")
    cut = Sample(encoded[: encoded.index(b"IDAT") + 8], "hello", key="cut")
    assert cut.size() == (48, 16)
    with pytest.raises(DataError, match=r"^cut: "):
        cut.line()


@pytest.mark.parametrize("read", [Sample.line, Sample.size])
def test_what_is_no_image_is_named(read, tmp_path):
    with pytest.raises(DataError, match=r"train.parquet row 7"):
        read(Sample(b"no image", "", key="train.parquet row 7"))
    with pytest.raises(DataError, match=r"missing.png"):
        read(Sample(tmp_path / "missing.png", "", key="lines.tsv line 3"))


def test_pages_and_images_apart(draw):
    train = [Sample(draw("a"), "a", set="letters", page="1"), Sample(draw("b"), "b", set="letters")]
    test = [Sample(draw("c"), "c", set="diary", page="1"), Sample(draw("d"), "d", set="letters")]
    check_apart({"train": train, "test": test})


@pytest.mark.parametrize("page", [None, ""])
def test_unknown_pages_are_not_the_same(draw, page):
    check_apart({name: [Sample(draw(name), name, set="letters", page=page)] for name in ("train", "test")})


def test_the_same_image_in_two_splits(draw, tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(draw("a"))
    train = [Sample(draw("b"), "b", key="b"), Sample(draw("a"), "a", key="first a")]
    with pytest.raises(DataError, match=r"same image is in 'train' \(first a\) and in 'test' \(second a\)"):
        check_apart({"train": train, "test": [Sample(path, "another text", key="second a")]})


def test_an_image_file_that_is_gone_is_named(tmp_path):
    (tmp_path / "a.png").symlink_to(tmp_path / "gone.png")
    with pytest.raises(DataError, match=r"^lines.tsv line 3: .*a.png cannot be read: No such file"):
        check_apart({"train": [Sample(tmp_path / "a.png", "a", key="lines.tsv line 3")]})


def test_the_same_pixels_in_two_splits():
    line = np.full((16, 40), 255, np.uint8)
    check_apart({"train": [Sample(line, "a")], "test": [Sample(line.reshape(40, 16), "a")]})
    with pytest.raises(DataError, match="same image"):
        check_apart({"train": [Sample(line, "a")], "test": [Sample(line.copy(), "a")]})


def test_the_same_page_in_two_splits(draw):
    train = [Sample(draw("a"), "a", set="letters", page="7r")]
    test = [Sample(draw("b"), "b", set="letters", page="7r")]
    with pytest.raises(DataError, match="page '7r' of 'letters'"):
        check_apart({"train": train, "test": test})


def test_a_set_has_one_name_in_all_splits(draw):
    """Whatever else they hold, and however its lines were opened."""
    places = [Path("/a/lines"), Path("/b/lines")]
    a, b = (Sample(draw(str(place)), place.name, "lines", page="1", named_after=place) for place in places)
    check_apart({"train": [a], "test": [b]})
    [[a, b], [again]] = with_distinct_sets([a, b], [Sample(draw("c"), "c", "lines", page="1", named_after=places[0])])
    assert (a.set, b.set, again.set) == ("a/lines", "b/lines", "a/lines")
    for test in (again, replace(again, set="lines")):
        with pytest.raises(DataError, match=r"page '1' of 'lines' .* one split; if .* two sets .* --set-name$"):
            check_apart({"train": [a], "test": [test]})


def test_a_set_that_the_data_names_keeps_its_name(draw):
    samples = [Sample(draw(str(place)), "a", "lines", named_after=place) for place in (Path("/lines"), None)]
    [found] = with_distinct_sets(samples)
    assert [sample.set for sample in found] == ["lines", "lines"]


def test_slashes_do_not_join_pages(draw):
    train, test = Sample(draw("a"), "a", "a", page="b/c"), Sample(draw("b"), "b", "a/b", page="c")
    check_apart({"train": [train], "test": [test]})


def test_repeats_within_a_split_are_allowed(draw):
    check_apart({"train": [Sample(draw("a"), "a", page="1"), Sample(draw("a"), "b", page="1")], "test": []})


def names(samples):
    return [sample.text.rstrip("x") for sample in samples]


def test_takes_so_many_of_each_set_in_their_order(make_samples):
    samples = [*make_samples("b", 20), *make_samples("a", 3)]
    chosen = choose(samples, 5)
    places = [int(name[1:]) for name in names(chosen)]
    assert [sample.set for sample in chosen] == ["a"] * 3 + ["b"] * 5
    assert places[:3] == [0, 1, 2] and places[3:] == sorted(set(places[3:]))


def test_a_draw_does_not_depend_on_other_sets(make_samples):
    alone = choose(make_samples("b", 20), 5)
    assert names(choose([*make_samples("a", 9), *make_samples("b", 20)], 5))[5:] == names(alone)


def test_the_seed_decides(make_samples):
    samples = make_samples("a", 50)
    drawn = {tuple(names(choose(samples, 5, seed))) for seed in (0, 0, 1, 2)}
    assert len(drawn) == 3


def test_uncertain_texts_are_no_clean_lines(make_samples):
    first, second = make_samples("a", 2)
    assert clean_lines([replace(first, clean=False), second]) == [second]


@pytest.mark.parametrize("text", ["until [...] were", "[?]", "a <unk> b", "###"])
def test_a_text_with_editorial_marks_is_not_clean(text):
    assert not Sample(b"", text).clean and Sample(b"", "a [and] b").clean
