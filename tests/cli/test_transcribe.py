import json
import os
import struct
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from drethtr import Recognizer, __version__
from drethtr.cli.main import main
from drethtr.cli.reports import NOT_CALIBRATED
from drethtr.datasets.open import open_samples
from drethtr.recognition.model.file import load_model
from drethtr.recognition.reading import DOUBTFUL

FRENCH = Path(__file__).parents[2] / "samples" / "000005.png"


def png_header(width, height):
    """The start of a PNG that says it is so large, and has no pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))


@pytest.fixture
def bad(lines, tmp_path):
    """An image file that cannot be read, by its kind."""

    def make(kind):
        path = tmp_path / f"{kind}.png"
        if kind == "truncated":
            whole = (lines / "one.png").read_bytes()
            path.write_bytes(whole[: len(whole) // 2])
        elif kind == "bomb":
            path.write_bytes(png_header(60_000, 60_000))
        elif kind == "empty":
            path.write_bytes(b"")
        elif kind == "no-image":
            path.write_text("Dear Sir,")
        elif kind == "too-long":
            Image.fromarray(np.full((1, 5000), 255, np.uint8)).save(path)
        return path  # "missing": nothing is there

    return make


def test_on_the_screen_nothing_is_replaced(drethtr, lines, tiny_path):
    outcome = drethtr("transcribe", lines, "--model", tiny_path, "--force")
    assert outcome.code == 2 and outcome.out == "" and "add --output or --update" in outcome.err


def test_lines_are_read_in_the_language_that_is_named(drethtr, tmp_path):
    """A French line is misread as Latin, unless a file has its words."""
    texts = tmp_path / "letters.txt"
    texts.write_text(FRENCH.with_suffix(".gt.txt").read_text(encoding="utf-8"), encoding="utf-8")
    french, latin, favored = (
        drethtr("transcribe", FRENCH, "--decoder", "joint", "--language", names).out.strip()
        for names in ("fr", "la", f"la,{texts}")
    )
    assert french == favored == texts.read_text(encoding="utf-8").strip() != latin


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_no_utf_8(drethtr, lines, tiny_path, tmp_path):
    """As old archives leave them."""
    odd = lines / os.fsdecode(b"caf\xe9.png")
    (lines / "one.png").rename(odd)
    outcome = drethtr("transcribe", odd, "--model", tiny_path, "--format", "json", "--output", tmp_path / "out")
    assert outcome.code == 0
    [written] = (tmp_path / "out").glob("*.json")
    assert json.loads(written.read_text(encoding="utf-8"))["file"].endswith("caf?.png")


def test_doubts_are_told_at_the_end(lines, tiny_path, capsys, monkeypatch):
    """Every word of a blank line is one."""
    Image.fromarray(np.full((40, 300), 220, np.uint8)).save(lines / "blank.png")
    arguments = ["drethtr", "transcribe", str(lines), "--model", str(tiny_path), "--format", "json"]
    monkeypatch.setattr("sys.argv", arguments)
    with suppress(SystemExit):
        main()
    out, err = capsys.readouterr()
    read = [json.loads(row) for row in out.splitlines()]
    doubtful = [reading["flags"] or word["confidence"] < DOUBTFUL for reading in read for word in reading["words"]]
    assert err.count(NOT_CALIBRATED) == 1
    assert f"{sum(map(bool, doubtful))} of {len(doubtful)} words doubtful by uncalibrated confidences, 1 of 3" in err
    assert "lines flagged (blank 1)" in err


def test_a_single_line_prints_its_text_alone(drethtr, lines, tiny_path):
    [reading] = Recognizer.load(tiny_path).read([lines / "one.png"])
    outcome = drethtr("transcribe", lines / "one.png", "--model", tiny_path)
    assert (outcome.code, outcome.out, outcome.err) == (0, reading.text + "\n", "")


@pytest.mark.parametrize(
    "pattern", ["", "*.png", "o*.png|two.png", "two.png|*"], ids=["folder", "glob", "mix", "twice"]
)
def test_several_lines_print_their_names(drethtr, lines, tiny_path, pattern):
    """A folder, a pattern or both: each image once, in order; a text beside an image is no image."""
    inputs = [lines / part for part in pattern.replace("|*", "|*.png").split("|")]
    outcome = drethtr("transcribe", *inputs, "--model", tiny_path)
    names = [row.split("\t")[0] for row in outcome.out.splitlines()]
    assert outcome.code == 0 and sorted(names) == [str(lines / "one.png"), str(lines / "two.png")]


def test_json_has_places_and_confidences(drethtr, lines, tiny_path):
    image = lines / "two.png"
    [reading] = Recognizer.load(tiny_path).read([image])
    found = json.loads(drethtr("transcribe", image, "--model", tiny_path, "--format", "json").out)
    assert list(found) == [
        "file",
        "text",
        "confidence",
        "calibrated",
        "flags",
        "alternatives",
        "characters",
        "words",
        "made_by",
    ]
    assert found["made_by"]["model"] == load_model(tiny_path).identity
    assert (found["file"], found["text"]) == (str(image), reading.text)
    assert found["confidence"] == pytest.approx(reading.confidence, abs=1e-4)
    assert "".join(character["text"] for character in found["characters"]) == reading.text
    assert [word["text"] for word in found["words"]] == reading.text.split()
    for part in (*found["characters"], *found["words"]):
        assert list(part)[:4] == ["text", "confidence", "left", "right"]
        assert 0 <= part["confidence"] <= 1 and 0 <= part["left"] <= part["right"] <= 20 + 7 * 9
    assert [word["doubtful"] for word in found["words"]] == [word.doubtful for word in reading.transcription().words]


def test_json_of_several_lines_is_an_object_in_each_row(drethtr, lines, tiny_path):
    rows = drethtr("transcribe", lines, "--model", tiny_path, "--format", "json").out.splitlines()
    assert [json.loads(row)["file"] for row in rows] == [str(lines / "one.png"), str(lines / "two.png")]


def test_table(drethtr, lines, tiny_path):
    header, *rows = drethtr("transcribe", lines, "--model", tiny_path, "--format", "tsv").out.splitlines()
    assert header == "file\ttext\tconfidence\tflags\tmade by"
    maker = f"drethtr {__version__}, model {load_model(tiny_path).identity}"
    assert [row.split("\t")[4:] for row in rows] == [[maker], [maker]]


@pytest.mark.parametrize("output", ["out", "lines/texts/of lines"])
def test_a_table_in_a_folder_leads_to_its_image(drethtr, lines, tiny_path, monkeypatch, output):
    """So that it can be corrected and imported again, also where a link leads to the folder."""
    monkeypatch.chdir(lines.parent)
    (lines.parent / "elsewhere" / "far").mkdir(parents=True)
    (lines.parent / "out").symlink_to(lines.parent / "elsewhere" / "far", target_is_directory=True)
    options = ("--model", tiny_path, "--format", "tsv", "--output", output)
    assert drethtr("transcribe", "lines/one.png", *options).code == 0
    [sample] = open_samples(lines.parent / output / "one.tsv")
    assert sample.image.samefile(lines / "one.png")
    assert drethtr("transcribe", lines / "two.png", *options).code == 0
    assert (lines.parent / output / "two.tsv").read_text(encoding="utf-8").count(str(lines / "two.png")) == 1


def test_a_folder_gets_a_file_for_each_image(drethtr, lines, tiny_path, tmp_path):
    output = tmp_path / "new" / "texts"
    outcome = drethtr("transcribe", lines, "--model", tiny_path, "--output", output)
    readings = Recognizer.load(tiny_path).read([lines / "one.png", lines / "two.png"])
    assert (outcome.code, outcome.out) == (0, "")
    assert {path.name: path.read_text(encoding="utf-8") for path in output.glob("*.txt")} == {
        "one.txt": readings[0].text + "\n",
        "two.txt": readings[1].text + "\n",
    }


def test_what_is_there_is_kept_and_the_rest_is_read(drethtr, lines, tiny_path, tmp_path):
    """So a run that was stopped goes on. What drethtr did not write is named."""
    precious = tmp_path / "two.txt"
    precious.write_text("precious")
    arguments = ("transcribe", lines, "--model", tiny_path, "--output", tmp_path)
    outcome = drethtr(*arguments)
    done, unknown = outcome.err.splitlines()
    assert (outcome.code, done) == (0, "1 of 2 files already have results; --force reads them again")
    assert unknown.startswith(
        f"drethtr: {lines / 'two.png'}: the results in {tmp_path} have no record of how they were"
    )
    assert precious.read_text() == "precious" and (tmp_path / "one.txt").exists()
    again = drethtr(*arguments)
    assert again.code == 0 and "2 of 2 files already have results" in again.err
    assert drethtr(*arguments, "--force") == (0, "", "")
    assert precious.read_text() != "precious"


def test_an_image_is_not_overwritten_by_what_it_says(drethtr, lines, tiny_path):
    """Whatever its name ends with."""
    image = (lines / "one.png").rename(lines / "one.txt")
    before = image.read_bytes()
    outcome = drethtr("transcribe", image, "--model", tiny_path, "--output", lines, "--force")
    assert outcome.code == 2 and "would be overwritten" in outcome.err and image.read_bytes() == before


def test_every_kind_of_image_is_read_in_a_folder(drethtr, lines, tiny_path):
    kinds = {"jp2": "L", "j2k": "L", "ppm": "RGB", "pgm": "L", "pbm": "1", "pnm": "L"}
    with Image.open(lines / "one.png") as image:
        for ending, mode in kinds.items():
            image.convert(mode).save(lines / f"{ending}.{ending}")
    outcome = drethtr("transcribe", lines, "--model", tiny_path)
    assert outcome.code == 0 and all(f"{ending}.{ending}\t" in outcome.out for ending in kinds)


def test_of_a_table_of_lines_the_command_for_it_is_named(drethtr, tmp_path, tiny_path):
    (tmp_path / "lines.parquet").write_bytes(b"PAR1")
    for command in (("transcribe",), ("index", "--output", tmp_path / "index.sqlite")):
        outcome = drethtr(*command, tmp_path / "lines.parquet", "--model", tiny_path)
        assert outcome.code == 2 and "lines.parquet: is a table of lines, not of pages; drethtr batch" in outcome.err


def test_images_in_subfolders_are_hinted_at(drethtr, lines, tiny_path):
    """The option that is offered reads them, and so does a pattern."""
    outcome = drethtr("transcribe", lines.parent, "--model", tiny_path)
    assert outcome.code == 2 and "subfolders have some: read them with --recursive" in outcome.err
    (lines.parent / "export" / "page").mkdir(parents=True)
    (lines.parent / "export" / "page" / "one.xml").write_text("<PcGts/>")
    outcome = drethtr("transcribe", lines.parent / "export", "--model", tiny_path)
    assert outcome.code == 2 and "subfolders have some: read them with --recursive" in outcome.err
    assert drethtr("transcribe", lines.parent, "--model", tiny_path, "-r").out.count("\n") == 2
    assert drethtr("transcribe", f"{lines.parent}/**/*.png", "--model", tiny_path).out.count("\n") == 2


@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_a_line_reads_alike_in_every_format(drethtr, lines, tiny_path, tmp_path, ending):
    """Alone, or as a page of one line, which is neither straightened nor cut."""
    image = tmp_path / f"line.{ending}"
    with Image.open(lines / "two.png") as original:
        original.convert("RGB").save(image)
    alone = json.loads(drethtr("transcribe", image, "--model", tiny_path, "--format", "json").out)
    out = tmp_path / "out"
    outcome = drethtr("transcribe", image, "--model", tiny_path, "--format", "json, txt", "--output", out)
    page = json.loads((out / "line.json").read_text(encoding="utf-8"))
    [line] = page["regions"][0]["lines"]
    assert outcome.code == 0 and (out / "line.txt").read_text(encoding="utf-8") == alone["text"] + "\n"
    assert (line["text"], line["confidence"]) == (alone["text"], alone["confidence"])
    for word, known in zip(line["words"], alone["words"], strict=True):
        assert (word["text"], word["confidence"]) == (known["text"], known["confidence"])
        xs, ys = zip(*word["polygon"], strict=True)
        assert min(xs) == pytest.approx(known["left"], abs=2) and max(xs) == pytest.approx(known["right"], abs=2)
        assert (min(ys), max(ys)) == (0, page["height"])


def test_verbose_says_what_was_taken_for_a_line(drethtr, lines, tiny_path, tmp_path):
    image = lines / "one.png"
    run = ("transcribe", image, "--model", tiny_path, "--verbose")
    assert drethtr(*run).err == f"{image}: read as one line\n"
    assert f"{image}: read as one line\n" in drethtr(*run, "--format", "txt,page", "--output", tmp_path / "out").err


def test_tsv_goes_alone(drethtr, lines, tmp_path):
    outcome = drethtr("transcribe", lines, "--format", "tsv,json", "--output", tmp_path / "out")
    assert outcome.code == 2 and "tsv must be the only format, for line images only" in outcome.err


def test_images_of_one_name_do_not_share_a_file(drethtr, lines, tiny_path, tmp_path):
    (lines / "one.bmp").write_bytes((lines / "one.png").read_bytes())
    outcome = drethtr("transcribe", lines, "--model", tiny_path, "--output", tmp_path / "out")
    assert outcome.code == 2 and "one.bmp and" in outcome.err and not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["missing", "empty", "truncated", "bomb", "no-image", "too-long"])
def test_a_bad_image_is_named_and_the_others_are_read(drethtr, bad, lines, tiny_path, kind):
    path = bad(kind)
    among = drethtr("transcribe", path, lines / "one.png", "--model", tiny_path)
    assert among.out.startswith(str(lines / "one.png")) and among.out.count("\n") == 1
    alone = drethtr("transcribe", path, "--model", tiny_path)
    assert (among.code, alone.code, alone.out) == (1, 2, "")
    for said in (among.err, alone.err):
        assert said.startswith(f"drethtr: {path}: ") and said.count("\n") == 1


@pytest.mark.parametrize("given", ["nothing/*.png", "folder"])
def test_inputs_without_images(drethtr, tiny_path, tmp_path, given):
    (tmp_path / "folder").mkdir()
    outcome = drethtr("transcribe", tmp_path / given, "--model", tiny_path)
    assert outcome.code == 2 and outcome.err.count("\n") == 1 and given in outcome.err


def test_a_result_that_cannot_be_written_is_named_and_the_rest_is_read(drethtr, lines, tiny_path, tmp_path):
    out = tmp_path / "out"
    (out / "one.txt").mkdir(parents=True)
    outcome = drethtr("transcribe", lines, "--model", tiny_path, "--output", out, "--force")
    assert outcome.code == 1 and outcome.err.startswith(f"drethtr: {out / 'one.txt'}: cannot be written: ")
    assert outcome.err.count("\n") == 1 and (out / "two.txt").is_file()


def test_a_place_where_no_results_can_go_is_refused_before_the_model_is_loaded(drethtr, lines):
    outcome = drethtr("transcribe", lines, "--model", "nowhere", "--output", lines / "one.gt.txt" / "out")
    assert outcome.code == 2 and "the folder cannot be created" in outcome.err


@pytest.mark.parametrize(("form", "name"), [("txt", "out.txt"), ("alto", "out.XML"), ("csv", "out.csv")])
def test_output_that_is_meant_as_a_file(drethtr, lines, tiny_path, tmp_path, form, name):
    outcome = drethtr("transcribe", lines, "--model", tiny_path, "--format", form, "--output", tmp_path / name)
    assert outcome.code == 2 and "give a folder" in outcome.err
    assert not (tmp_path / name).exists()


def test_output_that_is_a_file(drethtr, lines):
    outcome = drethtr("transcribe", lines, "--output", lines / "one.gt.txt")
    assert outcome.code == 2 and "is a file" in outcome.err
