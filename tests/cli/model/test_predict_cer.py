import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from conftest import written
from PIL import Image
from printed_pages import put_page

from drethtr.base.errors import DataError
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample
from drethtr.images.page import PageSource
from drethtr.layout.doubt import USUAL
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.file import load_model, save_record
from drethtr.recognition.pieces import reading_of


@pytest.fixture
def sets(tmp_path):
    """Lines of four sets with their texts."""
    for name in "abcd":
        samples = [
            Sample(written(f"{name} {text}"), text, name, page=f"p{number % 2}")
            for number, text in enumerate(("abc def", "a cabbage", "jam", "a big egg"))
        ]
        store_parquet(samples, tmp_path / f"{name}.val.parquet")
    return tmp_path


@pytest.fixture
def taught(drethtr, sets, tiny_path):
    """The tiny model, having learned to tell its error rate."""
    path = sets / "taught.safetensors"
    outcome = drethtr("predict-cer", sets / "*.val.parquet", "--model", tiny_path, "--learn", path)
    assert outcome.code == 0 and "mean absolute error" in outcome.out and "fitted on 4 sets" in outcome.out
    return path


def test_what_was_learned_is_in_the_model(taught, tiny_path):
    before, after = load_model(tiny_path), load_model(taught)
    [rate] = after.record.error_rates
    assert rate.sets == 4 and rate.factor > 0 and before.record.error_rates == ()
    assert before.weights.keys() == after.weights.keys()
    assert all(np.array_equal(weight, after.weights[name]) for name, weight in before.weights.items())


def test_folders_are_pages(drethtr, taught, tmp_path):
    for page in ("p1", "p2"):
        folder = tmp_path / "scans" / page
        folder.mkdir(parents=True)
        for number in range(3):
            Image.fromarray(written("a cab " * (number + 3))).save(folder / f"{number}.png")
    figures = tmp_path / "cer.json"
    outcome = drethtr("predict-cer", tmp_path / "scans", "--model", taught, "--json", figures)
    assert outcome.code == 0 and "scans/p1" in outcome.out and "all" in outcome.out
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert [page["lines"] for page in found["pages"]] == [3, 3] and found["overall"]["lines"] == 6
    assert found["overall"]["low"] <= found["overall"]["cer"] <= found["overall"]["high"]


def test_folders_of_one_name_are_told_apart(drethtr, taught, tmp_path):
    for box in "ab":
        (tmp_path / box / "scans" / "p1").mkdir(parents=True)
        Image.fromarray(written(f"{box} cab")).save(tmp_path / box / "scans" / "p1" / "1.png")
    outcome = drethtr("predict-cer", tmp_path / "a" / "scans", tmp_path / "b" / "scans", "--model", taught)
    assert outcome.code == 0 and "a/scans/p1" in outcome.out and "b/scans/p1" in outcome.out


def test_folders_in_an_unknown_hand_are_named(drethtr, taught, tmp_path):
    before, model = load_model(taught), tmp_path / "doubting"
    rate = replace(before.record.error_rates[0], factor=100.0)
    save_record(taught, CalibrationRecord(error_rates=(rate,)), model, of=before)
    for page, lines in (("p1", 10), ("p2", 3)):
        (tmp_path / "scans" / page).mkdir(parents=True)
        for number in range(lines):
            Image.fromarray(written("a cab " * 3)).save(tmp_path / "scans" / page / f"{number}.png")
    figures = tmp_path / "cer.json"
    outcome = drethtr("predict-cer", tmp_path / "scans", "--model", model, "--json", figures)
    assert outcome.code == 0 and "the hand, or the language, of 1 of 2 pages (scans/p1): confirm" in outcome.out
    pages = json.loads(figures.read_text(encoding="utf-8"))["pages"]
    assert [page["unknown_hand"] for page in pages] == [True, False]
    (tmp_path / "scans" / "p1" / "0.png").unlink()
    together = drethtr("predict-cer", tmp_path / "scans", "--model", model)
    assert "does not know the hand, or the language, of these lines: confirm" in together.out


def test_lines_of_pages_are_read(drethtr, taught, tmp_path):
    put_page(tmp_path / "scans" / "1.png", tmp_path / "scans" / "page" / "1.xml", ["abc def", "", "a cabbage"])
    outcome = drethtr("predict-cer", tmp_path / "scans", "--model", taught, "--json", tmp_path / "p.json")
    assert outcome.code == 0
    [page] = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["pages"]
    assert (page["page"], page["lines"]) == ("scans/1", 3)


def test_scans_without_lines_are_counted(drethtr, taught, tmp_path):
    scans = tmp_path / "scans"
    put_page(scans / "1.png", scans / "page" / "1.xml", ["abc def", "", "a cabbage"])
    for name in ("2.png", "sub/3.png"):
        put_page(scans / name, tmp_path / "elsewhere.xml", ["abc def"])
    outcome = drethtr("predict-cer", scans, "--model", taught)
    assert outcome.code == 0
    assert f"2 left out, not read yet (drethtr transcribe {scans} --recursive --format page" in outcome.err
    assert f"--output {scans}):\n  {scans / '2.png'}\n  {scans / 'sub' / '3.png'}\n" in outcome.err


def test_lines_that_nobody_confirmed_are_read_too(drethtr, taught, tmp_path):
    """`data import` takes only confirmed lines of a folder in which people worked."""
    path = tmp_path / "scans" / "1.xml"
    put_page(tmp_path / "scans" / "1.png", path, ["abc def", "bad", "a cabbage"])
    reviewed = path.read_text(encoding="utf-8").replace(
        "<TextLine ", '<TextLine custom="drethtr {review:confirmed;}" ', 1
    )
    path.write_text(reviewed, encoding="utf-8")
    outcome = drethtr("predict-cer", tmp_path / "scans", "--model", taught, "--json", tmp_path / "p.json")
    assert outcome.code == 0 and "left out" not in outcome.err
    assert json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["overall"]["lines"] == 3


def test_lines_come_from_pages_and_patterns_too(drethtr, taught, sets, tmp_path):
    put_page(tmp_path / "scans" / "1.png", tmp_path / "scans" / "1.xml", ["abc def", "", "a cabbage"])
    put_page(tmp_path / "old" / "2.png", tmp_path / "old" / "2.XML", ["abc def", "jam"])
    for name, lines in (
        (tmp_path / "scans" / "1.xml", 3),
        (tmp_path / "old" / "2.XML", 2),
        (tmp_path / "scans" / "*.xml", 3),
        (sets / "*.parquet", 16),
        (f"{sets / 'a.val.parquet'}#val", 4),
    ):
        outcome = drethtr("predict-cer", name, "--model", taught, "--json", tmp_path / "p.json", "--force")
        assert outcome.code == 0, outcome.err
        assert json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["overall"]["lines"] == lines


@pytest.mark.parametrize(
    ("name", "options"),
    [("pages", ()), ("pages", ("--lines", "auto")), ("pages", ("--truth",)), ("pages#train", ())],
)
def test_images_of_pages_lie_in_another_folder(drethtr, taught, tmp_path, name, options):
    put_page(tmp_path / "scans" / "1.png", tmp_path / "pages" / "train" / "1.xml", ["abc def", "a cabbage"])
    (tmp_path / "scans").rename(tmp_path / "elsewhere")
    read = ("predict-cer", tmp_path / name, "--model", taught, *options)
    assert drethtr(*read).code == 2
    assert drethtr(*read, "--images", tmp_path / "elsewhere").code == 0


def test_pages_are_refused_with_the_way_to_read_them(drethtr, taught, tmp_path):
    scans = tmp_path / "scans"
    put_page(scans / "letter.png", tmp_path / "letter.xml", ["abc def", "a big egg", "jam", "jam", "jam", "jam"])
    outcome = drethtr("predict-cer", scans, "--model", taught)
    assert outcome.code == 2 and outcome.out == ""
    assert f"{scans / 'letter.png'} is a page, not a line" in outcome.err
    remedy = f"drethtr transcribe {scans} --format alto --output {scans}, then give {scans} instead"
    assert remedy in outcome.err
    shutil.make_archive(str(tmp_path / "export"), "zip", scans)
    outcome = drethtr("predict-cer", tmp_path / "export.zip", "--model", taught)
    assert f"{tmp_path}/export.zip/letter.png is a page, not a line: unpack the ZIP file and give" in outcome.err


def test_scans_are_read_and_their_layout_is_doubted(drethtr, taught, tmp_path):
    """Given lines have no doubt about the layout, found ones the usual one."""
    put_page(tmp_path / "scans" / "1.png", tmp_path / "scans" / "1.xml", ["abc def", "a big egg", "a cabbage", "jam"])
    figures = tmp_path / "p.json"

    def told(lines):
        outcome = drethtr(
            "predict-cer", tmp_path / "scans", "--lines", lines, "--model", taught, "--json", figures, "--force"
        )
        assert outcome.code == 0, outcome.err
        return outcome.out, json.loads(figures.read_text(encoding="utf-8"))["overall"]

    given, found = told("given"), told("rapid")
    assert given[1]["layout"] == 0 and "layout" not in given[0]
    assert found[1]["layout"] == USUAL and "points of it are the expected cost of layout errors" in found[0]
    assert found[1]["high"] >= found[1]["cer"] > found[1]["layout"]
    outcome = drethtr("predict-cer", tmp_path / "scans", "--lines", "rapid", "--truth", "--model", taught)
    assert outcome.code == 2 and "leave out --learn, --truth and --limit" in outcome.err


def test_a_damaged_page_of_a_file_costs_itself_only(drethtr, taught, tmp_path, monkeypatch):
    put_page(tmp_path / "1.png", tmp_path / "1.xml", ["abc def", "a big egg", "a cabbage", "jam"])
    gray = PageSource.gray

    def damaged(source):
        if source.number == 1:
            raise DataError("is damaged", source.name)
        return gray(source)

    with Image.open(tmp_path / "1.png") as page:
        page.save(tmp_path / "book.tif", save_all=True, append_images=[page])
    monkeypatch.setattr(PageSource, "gray", damaged)
    outcome = drethtr("predict-cer", tmp_path / "book.tif", "--lines", "rapid", "--model", taught)
    assert outcome.code == 1 and "page 1: is damaged" in outcome.err and "page 2" in outcome.out
    assert "1 of 2 images could not be used" in outcome.out


def test_no_rate_is_told_where_nothing_was_read(drethtr, taught, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "drethtr.recognition.recognizer.Recognizer.read_lines", lambda _, lines: [reading_of([])] * len(lines)
    )
    (tmp_path / "blank").mkdir()
    for name in "ab":
        Image.new("L", (600, 64), 255).save(tmp_path / "blank" / f"{name}.png")
    figures = tmp_path / "cer.json"
    outcome = drethtr("predict-cer", tmp_path / "blank", "--model", taught, "--json", figures)
    assert outcome.code == 1 and "[" not in outcome.out and not figures.exists()
    assert "No text was found on any of 2 lines" in outcome.err


def test_images_that_cannot_be_used_are_named_and_skipped(drethtr, taught, lines, tmp_path):
    (lines / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    Image.new("L", (20_000, 2), 255).save(lines / "long.png")
    outcome = drethtr("predict-cer", lines, "--model", taught, "--json", tmp_path / "p.json")
    assert outcome.code == 1 and "2 of 4 images could not be used" in outcome.out
    assert outcome.err.count(f"drethtr: {lines / 'bad.png'}: not an image") == 1 and outcome.err.count("\n") == 2
    assert f"drethtr: {lines / 'long.png'}: a line image of 20000 x 2 pixels is too long" in outcome.err
    found = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert (found["overall"]["lines"], found["failed"]) == (2, 2)
    for name in ("one.png", "two.png"):
        (lines / name).unlink()
    outcome = drethtr("predict-cer", lines, "--model", taught)
    assert outcome.code == 2 and outcome.out == "" and outcome.err.count("\n") == 2


def test_a_page_without_its_image_is_named_once(drethtr, taught, tmp_path):
    put_page(tmp_path / "1.png", tmp_path / "deeper" / "out" / "1.xml", ["abc def"])
    (tmp_path / "1.png").unlink()
    outcome = drethtr("predict-cer", tmp_path / "deeper", "--model", taught)
    assert outcome.code == 2 and outcome.err.count("1.xml") == 1


def test_the_truth_stands_beside(drethtr, taught, sets, tmp_path):
    outcome = drethtr("predict-cer", sets / "a.val.parquet", "--model", taught, "--truth", "--json", tmp_path / "t")
    assert outcome.code == 0
    [found] = json.loads((tmp_path / "t").read_text(encoding="utf-8"))["sets"]
    assert found["name"] == "a" and found["inside"] == (found["low"] <= found["truth"] <= found["high"])


@pytest.mark.parametrize("option", ["--truth", "--learn"])
def test_images_that_cannot_be_used_are_left_out_of_the_truth(drethtr, taught, sets, tmp_path, option):
    """One of them was the end of it, after minutes of reading."""
    store_parquet([Sample(np.full((2, 20_000), 255, np.uint8), "abc", "long")], tmp_path / "long.parquet")
    read = (
        "predict-cer",
        sets / "*.val.parquet",
        tmp_path / "long.parquet",
        "--model",
        taught,
        "--json",
        tmp_path / "t",
    )
    outcome = drethtr(*read, option, *([tmp_path / "again"] if option == "--learn" else []))
    assert outcome.code == 1 and outcome.err.count("long.parquet row 0") == 1, outcome.err
    assert [row["name"] for row in json.loads((tmp_path / "t").read_text(encoding="utf-8"))["sets"]] == list("abcd")


def test_a_set_without_text_has_no_truth(drethtr, taught, sets, tmp_path):
    store_parquet([Sample(written("a cab"), "", "blank")], tmp_path / "blank.parquet")
    data = sets / "a.val.parquet", tmp_path / "blank.parquet"
    outcome = drethtr("predict-cer", *data, "--model", taught, "--truth", "--json", tmp_path / "t")
    assert outcome.code == 0
    [row] = [line for line in outcome.out.splitlines() if line.startswith("blank")]
    assert row.endswith("     –") and "  1 set: mean absolute error" in outcome.out
    found = json.loads((tmp_path / "t").read_text(encoding="utf-8"))
    assert found["sets"][1]["truth"] is None and found["of_sets"]["number"] == 1


def test_refusals(drethtr, sets, taught, tiny_path, tmp_path, monkeypatch):
    """All of them before a line is read."""
    monkeypatch.setattr("drethtr.recognition.recognizer.Recognizer.read_lines", None)
    (tmp_path / "empty").mkdir()
    for more in ((), ("--truth",)):
        assert (
            "has no CER prediction" in drethtr("predict-cer", sets / "a.val.parquet", "--model", tiny_path, *more).err
        )
    assert "no images" in drethtr("predict-cer", tmp_path / "empty", "--model", taught).err
    lonely = drethtr("predict-cer", sets / "a.val.parquet", "--model", tiny_path, "--learn", tmp_path / "m")
    assert lonely.code == 2 and "lines of 1 set; at least 4" in lonely.err and not (tmp_path / "m").exists()
    learn = ("predict-cer", sets / "*.val.parquet", "--model", tiny_path, "--learn")
    for model in (tiny_path, taught):
        assert "exists; choose another output or use --force" in drethtr(*learn, model).err
    assert "is never overwritten" in drethtr(*learn, sets / "a.val.parquet", "--force").err
    assert "leave out --truth" in drethtr(*learn, tmp_path / "m", "--truth").err
    assert "--learn and --json" in drethtr("predict-cer", sets / "*.val.parquet", "--model", taught, "--force").err
    outcome = drethtr("predict-cer", sets / "*.val.parquet", "--learn", taught, "--force")
    assert outcome.code == 2 and f"add --model {taught}" in outcome.err


def test_what_a_model_of_the_same_weights_learned_since_is_not_replaced(drethtr, sets, taught, tiny_path):
    learn = ("predict-cer", sets / "*.val.parquet", "--learn", taught, "--force", "--model")
    assert drethtr(*learn, tiny_path).code == 0, "only the prediction changes"
    assert drethtr("language", taught, sets / "a.val.parquet", "--name", "la", "--order", 2, "--force").code == 0
    outcome = drethtr(*learn, tiny_path)
    assert outcome.code == 2 and f"add --model {taught}" in outcome.err
    assert load_model(taught).languages
    assert drethtr(*learn, taught).code == 0


def test_what_is_learned_is_that_of_all_languages(drethtr, sets, taught, monkeypatch):
    assert drethtr("language", taught, sets / "a.val.parquet", "--name", "la", "--order", 2, "--force").code == 0
    learn = ("predict-cer", sets / "*.val.parquet", "--learn", taught, "--force", "--model", taught)
    outcome = drethtr(*learn, "--language", "la")
    assert outcome.code == 2 and "leave out --language" in outcome.err
    monkeypatch.setenv("DRETHTR_LANGUAGE", "no-such-language")  # it is for other commands
    assert drethtr(*learn).code == 0
