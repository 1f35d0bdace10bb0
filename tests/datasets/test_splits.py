import unicodedata
from pathlib import Path

import pytest

from drethtr.base.errors import DataError
from drethtr.datasets.sample import LeftOut, Sample
from drethtr.datasets.splits import by_lists, read_lists, set_at, split_named, split_of_folder, split_of_path


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.uttlist", "train"),
        ("trainset.txt", "train"),
        ("validationset2.txt", "val"),
        ("ValidationLines.lst", "val"),
        ("letters.test.parquet", "test"),
        ("letters_train", "train"),
        ("test-00000-of-00002", "test"),
        ("TR", "train"),
        ("va.lst", "val"),
        ("letters.te.parquet", "test"),
        ("contest", ""),
        ("lines.txt", ""),
    ],
)
def test_names_speak_of_splits(name, split):
    assert split_named(name) == split


@pytest.mark.parametrize("name", ["Trésor", "Tröltsch", "Träger 1848", "Te Deum", "VA_12", "Ste-Thérèse", "Léval"])
def test_names_of_people_and_places_speak_of_none(name):
    assert split_named(name) == split_named(unicodedata.normalize("NFD", name)) == ""


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("mine.train.jsonl", "mine"),
        ("mine.test.v2.parquet", "mine.v2"),
        ("letters_val.parquet", "letters"),
        ("Train-anna.tsv", "anna"),
        ("mine.train-00001-of-00003.parquet", "mine"),
        ("Te Deum.parquet", "Te Deum"),
        ("mine.parquet", "mine"),
        ("letters/test.parquet", "letters"),
        ("letters/train-00000-of-00003.parquet", "letters"),
        ("s3://bucket/letters/dev.parquet", "letters"),
    ],
)
def test_files_of_all_splits_are_one_set(file, name):
    place = set_at(file)
    assert place.name == name and place == set_at(Path(file).absolute() if "://" not in file else file)


def test_splits_in_folders_of_their_own_are_one_set():
    places = {set_at(file) for file in ("mine/train/lines.jsonl", "mine/val/lines.jsonl", "mine/lines.test.jsonl")}
    assert places == {Path("mine/lines").resolve()}
    assert set_at("mine/train/train.parquet") == set_at("mine/val/val.parquet") == Path("mine").resolve()


PLACES = [
    "Val-de-Marne",
    "Training manual",
    "Te Deum",
    "Dev. papers",
    "Test Valley",
    "Eval report",
    "St. Val",
    "Léval",
    "Valid papers of 1705",
]
YEARS = ["", " 1914", "_1905", "-2", ". 17", " (copy)"]


@pytest.mark.parametrize("folder", [f"{place}{year}" for place in PLACES for year in YEARS])
@pytest.mark.parametrize("around", [".", "letters", "train_2", "Val"])
def test_a_folder_is_a_split_by_its_whole_name_only(folder, around):
    expected = {"train_2": "train", "Val": "val"}.get(around, "")
    assert split_of_folder(Path("a") / around / folder, Path("a")) == expected
    assert split_of_path(Path("a") / around / folder / "x.png", Path("a")) == expected


@pytest.mark.parametrize(
    ("folder", "split"), [("val.2", "val"), ("Training", "train"), ("test_set", "test"), ("train-images-01", "train")]
)
def test_whole_names_of_folders(folder, split):
    assert split_of_folder(Path(folder), Path()) == split


def test_the_nearest_name_counts():
    assert split_of_path(Path("a/train/dev/x.png"), Path("a")) == "val"
    assert split_of_path(Path("train/x.png"), Path("train")) == ""


def given(entries, lists):
    """What the lists make of lines: their splits and keys, and what is left out."""
    return [(entry.split, entry.key) if isinstance(entry, Sample) else entry for entry in by_lists(entries, lists)]


def test_a_table_is_split_by_the_names_of_its_images(tmp_path):
    (tmp_path / "train.txt").write_text("a\n")
    line = Sample(tmp_path / "lines" / "a.png", "x", key="lines.tsv line 3")
    assert given([line], read_lists(tmp_path)) == [("train", line.key)]


def test_lists_give_lines_and_pages_their_split(tmp_path):
    (tmp_path / "train.uttlist").write_text("a01-000u\n")
    (tmp_path / "test.uttlist").write_text("a01-003-00.png\n")
    (tmp_path / "notes.txt").write_text("nothing\n")
    lists = read_lists(tmp_path)
    samples = [
        Sample(b"", "x", page=page, key=f"lines/{page}-{line}.png")
        for page, line in (("a01-000u", "00"), ("a01-003", "00"), ("a01-003", "01"))
    ]
    assert given([*samples, LeftOut("a", "no image")], lists) == [
        ("train", samples[0].key),
        ("test", samples[1].key),
        LeftOut(samples[2].key, "not in any split list"),
        LeftOut("a", "no image"),
    ]


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ("lines/a01.jpg", "lines/a01.jpg"),
        ("a01.TIF", "lines/a01.tif"),
        ("a01", "lines/a01.JPEG"),
        ("p.1.line.2", "p.1.line.2.png"),
        ("page/0001.xml", "page/0001.xml line r1l2"),
        ("Seite 1.jpg ", "Seite 1.jpg"),
        ("Seite 1", "Seite 1.png"),
        ("Seite 1\tein Text", "Seite 1.png"),
        ("a01.png ein Text", "a01.png"),
    ],
)
def test_a_list_may_name_a_line_with_or_without_the_ending_of_its_file(row, key, tmp_path):
    (tmp_path / "train.txt").write_text("Seite 2\n")
    (tmp_path / "test.txt").write_text(row + "\n")
    entry = Sample(b"", "x", key=key)
    assert given([entry], read_lists(tmp_path))[0] == ("test", key)


def test_folders_that_a_list_names_must_agree(tmp_path):
    (tmp_path / "train.txt").write_text("p1/0000.png\n")
    (tmp_path / "val.txt").write_text("p2\\0001.png\nC:\\lines\\p4\\0003.png\n/elsewhere/p3/0002.png\np9/0009.png\n")
    keys = (
        "set/p1/0000.png",
        "set/p1/0001.png",
        "set/p2/0000.png",
        "set/p2/0001.png",
        "set/p3/0002.png",
        "set/p4/0003.png",
    )
    assert given([Sample(b"", "x", key=key) for key in keys], read_lists(tmp_path)) == [
        ("train", keys[0]),
        LeftOut(keys[1], "not in any split list"),
        LeftOut(keys[2], "not in any split list"),
        ("val", keys[3]),
        ("val", keys[4]),
        ("val", keys[5]),
        LeftOut("p9/0009", "in a split list, but not in the source"),
    ]


def test_a_name_in_two_splits_is_refused(tmp_path):
    (tmp_path / "train.txt").write_text("a\nb\n")
    (tmp_path / "test.txt").write_text("b\n")
    with pytest.raises(DataError, match=r"train\.txt line 2: b is in test and in train"):
        read_lists(tmp_path)


def test_a_list_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "train.txt").symlink_to(tmp_path / "gone.txt")
    with pytest.raises(DataError, match=r"train\.txt: cannot be read: No such file"):
        read_lists(tmp_path)


def test_no_lists(tmp_path):
    with pytest.raises(DataError, match="contains no split lists"):
        read_lists(tmp_path)
    (tmp_path / "train.txt").write_text("a\n")
    for path in (tmp_path / "gone", tmp_path / "train.txt"):
        with pytest.raises(DataError, match=f"{path}: no such folder; give one with split lists"):
            read_lists(path)
