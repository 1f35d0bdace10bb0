import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import written
from PIL import Image

from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample


@pytest.fixture
def splits(tmp_path):
    """Training and validation lines in files of their own."""
    for split, texts in (("train", ["abc def", "a cabbage", "jam", "egg"]), ("val", ["a cab", "legal"])):
        samples = [Sample(written(f"{split} {text}"), text, "s", page=split) for text in texts]
        store_parquet(samples, tmp_path / f"s.{split}.parquet")
    return tmp_path


def test_sound_lines_end_well(drethtr, splits, tiny_path):
    outcome = drethtr("data", "check", splits / "*.parquet", "--model", tiny_path)
    assert outcome.code == 0 and "0 errors" in outcome.out and "6 of 6 lines were read" in outcome.out


def test_files_elsewhere_are_checked_too(drethtr, splits):
    outcome = drethtr("data", "check", f"file://{splits}/*.parquet", "--read", "0")
    assert outcome.code == 0 and "val" in outcome.out and "train" in outcome.out


def test_errors_end_in_code_1_with_all_rows_in_json(drethtr, splits, tmp_path):
    store_parquet([Sample(written("x"), "", "s") for _ in range(8)], splits / "s.test.parquet")
    outcome = drethtr("data", "check", splits / "*.parquet", "--read", "0", "--json", tmp_path / "report.json")
    assert outcome.code == 1 and "error: empty text, 8:" in outcome.out and "3 more" in outcome.out
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    [empty] = [finding for finding in report["findings"] if finding["check"] == "empty text"]
    assert report["sound"] is False and report["splits"]["test"]["lines"] == 8
    assert len(empty["rows"]) == 8 and empty["rows"][0]["key"].endswith("s.test.parquet row 0")


def test_texts_are_checked_as_written(drethtr, lines):
    (lines / "one.gt.txt").write_text("u\u0308b", encoding="utf-8")
    assert "note: normal form, 1:" in drethtr("data", "check", lines, "--read", "0").out


def test_every_line_that_cannot_be_opened_is_named_and_the_others_are_checked(drethtr, lines, tiny_path):
    """Of a folder with one bad text nothing was checked, and only the first one was named."""
    (lines / "two.gt.txt").write_bytes(b"caf\xe9")
    (lines / "lonely.gt.txt").write_text("a")
    (lines / "three.png").write_bytes((lines / "one.png").read_bytes())
    outcome = drethtr("data", "check", lines, "--model", tiny_path)
    assert outcome.code == 1 and "error: unusable line, 3:" in outcome.out and "1 of 1 lines were read" in outcome.out
    for name, reason in (
        ("two.gt.txt", "is not UTF-8"),
        ("lonely.gt.txt", "no image"),
        ("three.png", "no transcription"),
    ):
        assert f"{lines / name}: {reason}" in outcome.out


def test_every_row_of_a_parquet_file_that_cannot_be_used_is_named(drethtr, splits, tiny_path):
    path = splits / "s.val.parquet"
    rows = pq.read_table(path).to_pylist()
    pq.write_table(pa.Table.from_pylist([*rows, rows[0] | {"text": None}, rows[0] | {"image": None}]), path)
    outcome = drethtr("data", "check", splits / "*.parquet", "--model", tiny_path)
    assert outcome.code == 1 and "error: unusable line, 2:" in outcome.out and "6 of 6 lines were read" in outcome.out
    assert f"{path} row 2: text is None" in outcome.out and f"{path} row 3: no image" in outcome.out


def test_a_table_without_a_line_that_can_be_opened(drethtr, lines, tiny_path):
    table = lines / "lines.jsonl"
    table.write_text('{"file": "gone.png", "text": "a"}\n[]\n{"file": "one.png"}\n{"file"\n')
    outcome = drethtr("data", "check", lines, "--model", tiny_path)
    assert outcome.code == 1 and "error: unusable line, 4:" in outcome.out
    assert all(f"{table} line {number}: " in outcome.out for number in (1, 2, 3, 4))


def test_an_image_that_is_no_line_costs_only_itself(drethtr, splits, tiny_path):
    """The whole check stopped at it, with nothing said of all other lines."""
    store_parquet([Sample(np.full((2, 9000), 9, np.uint8), "long", "s", page="t")], splits / "s.test.parquet")
    outcome = drethtr("data", "check", splits / "*.parquet", "--model", tiny_path)
    assert (
        outcome.code == 0 and "warning: unlikely image, 1:" in outcome.out and "6 of 7 lines were read" in outcome.out
    )
    assert "s.test.parquet row 0: a line image of 9000 x 2 pixels is too long for its height" in outcome.out


def test_suspects_are_drawn(drethtr, splits, tmp_path):
    store_parquet([Sample(written("x"), "", "s")], splits / "s.test.parquet")
    picture = tmp_path / "suspects.png"
    assert "suspects.png: 1 of 1" in drethtr("data", "check", splits / "*", "--read", "0", "--picture", picture).out
    with Image.open(picture) as drawn:
        assert drawn.width > 20


def test_an_image_with_two_texts_is_drawn(drethtr, tmp_path):
    store_parquet([Sample(written("x"), text, "s") for text in ("x", "y")], tmp_path / "s.parquet")
    outcome = drethtr("data", "check", tmp_path / "s.parquet", "--read", "0", "--picture", tmp_path / "suspects.png")
    assert "suspects.png: 1 of 1" in outcome.out


def test_lines_of_another_script_are_not_read(drethtr, lines, tiny_path):
    for name in ("one", "two"):
        (lines / f"{name}.gt.txt").write_text("мир", encoding="utf-8")
    outcome = drethtr("data", "check", lines, "--model", tiny_path)
    assert outcome.code == 0 and "Misaligned lines were not checked" in outcome.out


def test_a_split_that_is_not_there_is_not_sound(drethtr, splits):
    """None of its lines was checked, and it had 0 errors."""
    outcome = drethtr("data", "check", f"{splits / 's.train.parquet'}#test", "--read", "0")
    assert outcome.code == 2 and "has no split 'test', only train" in outcome.err


def test_a_table_without_lines_is_not_sound(drethtr, lines):
    (lines / "t.tsv").write_text("file\ttext\n")
    outcome = drethtr("data", "check", lines / "t.tsv", "--read", "0")
    assert outcome.code == 2 and "t.tsv: no lines found" in outcome.err


def test_more_can_be_read_only_where_lines_were_left_out(drethtr, lines, tiny_path):
    (lines / "two.png").write_bytes(b"damaged")
    said = drethtr("data", "check", lines, "--model", tiny_path).out
    assert "1 of 2 lines were read to find misaligned texts." in said
    said = drethtr("data", "check", lines, "--model", tiny_path, "--read", "1").out
    assert "lines were read to find misaligned texts; increase --read to read more." in said
