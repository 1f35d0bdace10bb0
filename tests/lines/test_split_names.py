import unicodedata
from pathlib import Path

import pytest

from drethtr.lines.split_names import set_named, split_named


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
    assert set_named(file) == set_named(Path(file).absolute() if "://" not in file else file) == name
