from functools import partial

import pytest
from PIL import Image

from drethtr.datasets.open import open_samples


@pytest.fixture
def options(make_font, tmp_path):
    make_font()
    text = tmp_path / "text.txt"
    text.write_text("words that go on and on, over the page and on\n" * 9, encoding="utf-8")
    return [tmp_path / "out.parquet", "--fonts", tmp_path / "fonts", "--text", text, "--count", "6"]


@pytest.fixture
def synth(drethtr):
    return partial(drethtr, "synth")


def test_writes_lines_and_a_sheet_of_them(synth, options, tmp_path):
    outcome = synth(*options, "--sheet", tmp_path / "sheet.png")
    assert outcome.code == 0, outcome.err
    samples = open_samples(tmp_path / "out.parquet")
    assert len(samples) == 6 and all(sample.line().shape[0] == 64 and sample.text for sample in samples)
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.height > 3 * 64
    assert not [path for path in tmp_path.iterdir() if "unfinished" in path.name]


def test_lines_have_the_height_that_is_asked_for(synth, options):
    assert synth(*options, "--height", 48).code == 0
    assert {sample.line().shape[0] for sample in open_samples(options[0])} == {48}


def test_the_seed_decides(synth, options, tmp_path):
    written = []
    for seed in ("1", "1", "2"):
        assert synth(*options, "--force", "--seed", seed).code == 0
        written.append((tmp_path / "out.parquet").read_bytes())
    assert written[0] == written[1] != written[2]


def test_a_sheet_without_a_folder_is_refused_at_once(synth, options, tmp_path):
    outcome = synth(*options, "--sheet", tmp_path / "gone" / "sheet.png")
    assert outcome.code == 2 and "there is no folder" in outcome.err
    assert not (tmp_path / "gone").exists() and not (tmp_path / "out.parquet").exists()


def test_an_ending_in_capitals_is_one(synth, options, tmp_path):
    options[0] = tmp_path / "OUT.PARQUET"
    assert synth(*options).code == 0 and len(open_samples(options[0])) == 6


def test_writes_a_folder_where_no_parquet_is_asked_for(synth, options, tmp_path):
    options[0] = tmp_path / "lines"
    assert synth(*options).code == 0
    assert len(open_samples(tmp_path / "lines")) == 6


def test_one_line_is_one(synth, options):
    assert synth(*options, "--count", "1").out == f"{options[0]}: 1 line\n"


def test_a_folder_is_replaced_whole(synth, options, tmp_path):
    options[0] = folder = tmp_path / "lines"
    assert synth(*options).code == 0
    (folder / "notes.md").write_text("precious")
    assert synth(*options, "--count", "2").code == 2
    assert f"{folder}: 2 lines\n" in synth(*options, "--count", "2", "--force").out
    assert len(open_samples(folder)) == 2 and (folder / "notes.md").read_text() == "precious"


def test_other_kinds_of_files_are_refused(synth, options, tmp_path):
    options[0] = tmp_path / "lines.tsv"
    assert "must end in .parquet" in synth(*options).err and not (tmp_path / "lines.tsv").exists()
    options[0] = tmp_path / "out.parquet"
    assert f"name it {tmp_path / 'sheet.png'}" in synth(*options, "--sheet", tmp_path / "sheet.jpg").err


def test_a_text_that_is_not_there_is_named(synth, options, tmp_path):
    options[4] = tmp_path / "gone.txt"
    outcome = synth(*options)
    assert outcome.code == 2
    assert f"cannot read the text file {tmp_path / 'gone.txt'}: No such file or directory\n" in outcome.err
