"""ZIP exports of Transkribus and eScriptorium as inputs, as the platforms lay them out."""

import json
import zipfile
from shutil import copyfile

import pytest
from printed_pages import put_page

from drethtr.datasets.open import open_samples
from drethtr.documents.read import read_page
from drethtr.pages.record import RECORD

LINES = ("--lines", "projection")
TEXTS = {"0001": ["abc def", "fed"], "0002": ["cab"]}


def packed(folder, path):
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))
    return path


@pytest.fixture
def transkribus(tmp_path):
    """Two pages in PAGE and in ALTO, in the folders of a job and a document, and a third that nobody has described."""
    document = tmp_path / "made" / "export_job_17" / "4711" / "Letters"
    for name, texts in TEXTS.items():
        put_page(document / f"{name}.png", document / "page" / f"{name}.xml", texts)
        (document / "alto").mkdir(exist_ok=True)
        copyfile(document / "page" / f"{name}.xml", document / "alto" / f"{name}.xml")
    put_page(document / "0003.png", tmp_path / "unused.xml", ["fab"])
    (document / "mets.xml").write_text("<mets/>")
    (document / "metadata.xml").write_text("<trpDocMetadata/>")
    return packed(tmp_path / "made", tmp_path / "export.zip")


@pytest.fixture
def escriptorium(tmp_path):
    """All files side by side."""
    for name, texts in TEXTS.items():
        put_page(tmp_path / "made" / f"{name}.png", tmp_path / "made" / f"{name}.xml", texts)
    (tmp_path / "made" / "METS.xml").write_text("<mets/>")
    return packed(tmp_path / "made", tmp_path / "export_doc7_letters.zip")


@pytest.fixture
def transcribe(drethtr, tiny_path):
    return lambda *arguments: drethtr("transcribe", *arguments, "--model", tiny_path)


def names(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_pages_of_an_export_are_read_on_their_lines(transcribe, transkribus, tmp_path):
    outcome = transcribe(transkribus, "--format", "page", "--output", tmp_path / "out")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith("3 lines already had text, apparently a person's")
    assert names(tmp_path / "out") == [f"{name}.page.xml" for name in ("0001", "0002", "0003")]
    page = read_page(tmp_path / "out" / "0001.page.xml")
    assert page.image == "0001.png" and [line.id for line in page.lines] == ["l0", "l1"]
    again = transcribe(transkribus, "--format", "page", "--output", tmp_path / "out")
    assert again.code == 0 and "3 of 3 files already have results" in again.err


def test_programs_are_told_the_given_names_of_pages(transcribe, transkribus, tmp_path):
    run = (transkribus, "--format", "page", "--output", tmp_path / "out", "--log", "json")
    assert transcribe(*run).code == 0
    (tmp_path / "out" / RECORD).unlink()
    events = map(json.loads, transcribe(*run).err.splitlines())
    started = next(event for event in events if event["event"] == "started")
    assert len(started["unrecorded"]) == 3
    assert all(name.startswith(f"{transkribus}/") for name in started["unrecorded"]), started


def test_files_side_by_side(transcribe, escriptorium, tmp_path):
    assert transcribe(escriptorium, "--format", "txt", "--output", tmp_path / "out").code == 0
    assert names(tmp_path / "out") == ["0001.txt", "0002.txt"]


def test_an_export_is_filled_in_as_copies(transcribe, escriptorium, tmp_path):
    outcome = transcribe(escriptorium, "--update", "--force", "--output", tmp_path / "out")
    assert outcome.code == 0 and names(tmp_path / "out") == ["0001.xml", "0002.xml"]
    before = escriptorium.read_bytes()
    refused = transcribe(escriptorium, "--update")
    assert refused.code == 2 and "export_doc7_letters.zip: cannot be updated in place; give" in refused.err
    assert refused.err.count("\n") == 1, "not for each of its pages"
    assert escriptorium.read_bytes() == before


def test_messages_name_the_file_and_not_a_folder_that_will_be_gone(transcribe, tmp_path):
    put_page(tmp_path / "made" / "a.png", tmp_path / "made" / "a.xml", ["abc"])
    (tmp_path / "made" / "a.png").unlink()
    put_page(tmp_path / "made" / "b.png", tmp_path / "unused.xml", ["abc"])
    export = packed(tmp_path / "made", tmp_path / "e.zip")
    outcome = transcribe(export, *LINES)
    assert outcome.code == 1 and f"{export}/a.xml: its image 'a.png' is missing; put it into {export}" in outcome.err
    assert outcome.out == "" or outcome.out.startswith(f"{export}/b.png\t")


@pytest.mark.parametrize("export", ["transkribus", "escriptorium"])
def test_lines_of_an_export_become_training_data(drethtr, request, export, tmp_path):
    path = request.getfixturevalue(export)
    outcome = drethtr("data", "import", path, tmp_path / "lines.parquet")
    assert outcome.code == 0 and "lines.parquet: 3 lines" in outcome.out
    samples = open_samples(tmp_path / "lines.parquet")
    assert [sample.text for sample in samples] == ["abc def", "fed", "cab"]
    assert {sample.set for sample in samples} == {"Letters" if export == "transkribus" else path.stem}
    assert f"{path}/" in outcome.out and "/drethtr-" not in outcome.out


def test_texts_of_an_export_are_checked_and_aligned(drethtr, escriptorium, tiny_path, tmp_path):
    model = ("--model", tiny_path)
    outcome = drethtr("check", escriptorium, *model, "--json", tmp_path / "words.json")
    assert outcome.code == 1 and "unsupported  0001.png l1" in outcome.out
    assert "/drethtr-" not in (tmp_path / "words.json").read_text(encoding="utf-8")
    (tmp_path / "text.txt").write_text("nothing like it", encoding="utf-8")
    refused = drethtr("align", escriptorium, tmp_path / "text.txt", *model, "--output", tmp_path / "out")
    assert refused.code == 2 and f"is not the text of {escriptorium}/0001.xml" in refused.err


def test_an_index_takes_folders_only(drethtr, transcribe, escriptorium, tmp_path):
    refused = drethtr("index", escriptorium, "--output", tmp_path / "i.drethtr.sqlite")
    assert refused.code == 2 and "unpack it and give the folder" in refused.err
    (tmp_path / "mets.xml").write_text("<mets/>")
    refused = drethtr("index", tmp_path / "mets.xml", "--output", tmp_path / "i.drethtr.sqlite")
    assert refused.code == 2 and "mets.xml: an index links to the scans; give the folder of the images" in refused.err
    refused = transcribe(escriptorium, "--index", tmp_path / "i.drethtr.sqlite")
    assert refused.code == 2 and "unpack it and give the folder" in refused.err


def test_what_is_no_export_is_refused(transcribe, tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "inner.zip").write_bytes(packed(tmp_path / "made", tmp_path / "inner.zip").read_bytes())
    outcome = transcribe(packed(tmp_path / "made", tmp_path / "e.zip"))
    assert outcome.code == 2 and "e.zip: no images in this ZIP file (" in outcome.err
    (tmp_path / "e.zip").write_text("text")
    outcome = transcribe(tmp_path / "e.zip")
    assert outcome.code == 2 and "e.zip: not a ZIP file that can be unpacked" in outcome.err
