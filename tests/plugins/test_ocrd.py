"""The processor of OCR-D over a workspace of METS, where OCR-D is installed; the command that says what is missing."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from made_pages import TEXTS, blank, write
from mets_examples import PAGE_TYPE, mets_of
from printed_pages import page_xml
from programs import source_first
from rapidfuzz.fuzz import ratio

import drethtr
from drethtr.documents.read import read_page
from drethtr.pages.source import open_originals

COMMAND = [sys.executable, "-c", "from drethtr.plugins.ocrd_main import main; main()"]

needs_ocrd = pytest.mark.skipif(find_spec("ocrd") is None, reason="OCR-D is not installed")


def run(folder, *arguments):
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, env={**os.environ, **source_first()}, capture_output=True, encoding="utf-8"
    )


@pytest.fixture
def workspace(tmp_path):
    """Two pages; the lines of the first are given, with a text that is wrong."""
    (tmp_path / "OCR-D-IMG").mkdir()
    (tmp_path / "OCR-D-SEG").mkdir()
    pages = [write(blank(700, 240), TEXTS[start : start + 2]) for start in (0, 2)]
    for number, page in enumerate(pages):
        page.image.save(tmp_path / "OCR-D-IMG" / f"{number}.png")
    [first, second] = pages[0].lines
    xml = page_xml("OCR-D-IMG/0.png", ["wrong", "too"], 240).replace('imageWidth="400"', 'imageWidth="700"')
    for number, (left, top, right, bottom) in enumerate((first.box, second.box)):
        low, high = 60 * number + 45, 60 * number + 90
        xml = xml.replace(
            f'points="30,{low} 390,{low} 390,{high} 30,{high}"',
            f'points="{left - 5},{top - 5} {right + 5},{top - 5} {right + 5},{bottom + 5} {left - 5},{bottom + 5}"',
        ).replace(
            f'points="35,{60 * number + 78} 385,{60 * number + 78}"', f'points="{left},{top + 33} {right},{top + 33}"'
        )
    xml = xml.replace(
        "<Metadata/>",
        "<Metadata><Creator>a person</Creator><Created>2026-11-25T00:00:00</Created>"
        "<LastChange>2026-11-25T00:00:00</LastChange></Metadata>",
    ).replace("2013-07-15", "2019-07-15")
    (tmp_path / "OCR-D-SEG" / "0.xml").write_text(
        xml.replace("400,0", "700,0").replace("400,240", "700,240"), encoding="utf-8"
    )
    groups = {
        "OCR-D-IMG": [(f"I{number}", "image/png", f"OCR-D-IMG/{number}.png") for number in range(2)],
        "OCR-D-SEG": [("S0", PAGE_TYPE, "OCR-D-SEG/0.xml"), ("S1", "image/png", "OCR-D-IMG/1.png")],
    }
    text = mets_of(groups, [("1", ["I0", "S0"]), ("2", ["I1", "S1"])])
    (tmp_path / "mets.xml").write_text(text, encoding="utf-8")
    return tmp_path


@needs_ocrd
def test_a_workspace_gets_a_group_with_the_text(workspace):
    done = run(workspace, "-I", "OCR-D-SEG", "-O", "OCR-D-OCR", "-P", "decoder", "ctc", "-P", "lines", "projection")
    assert done.returncode == 0, done.stderr
    first, second = open_originals(workspace / "mets.xml")
    assert first.description.parent.name == second.description.parent.name == "OCR-D-OCR"
    for original, texts in ((first, TEXTS[:2]), (second, TEXTS[2:4])):
        lines = original.given().lines
        assert len(lines) == len(texts)
        assert all(ratio(line.text, text) > 80 for line, text in zip(lines, texts, strict=True))
        assert all(line.confidence > 0.5 and [word.text for word in line.words] == line.text.split() for line in lines)
    assert [line.id for line in first.given().lines] == ["l0", "l1"]
    assert "a person" in first.description.read_text(encoding="utf-8")
    assert read_page(workspace / "OCR-D-SEG" / "0.xml").lines[0].text == "wrong"


@needs_ocrd
def test_the_description_of_the_tool_is_valid(tmp_path):
    from ocrd_validators import OcrdToolValidator

    tool = json.loads((Path(drethtr.__file__).parent / "plugins" / "ocrd-tool.json").read_text(encoding="utf-8"))
    report = OcrdToolValidator.validate(tool)
    assert report.is_valid, report.errors
    assert tool["version"] == drethtr.__version__
    help = run(tmp_path, "--help")
    assert help.returncode == 0 and "Read handwriting with drethtr" in help.stdout


@pytest.mark.skipif(find_spec("ocrd") is not None, reason="OCR-D is installed")
def test_without_ocrd_the_command_says_what_to_install(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 1
    assert done.stderr == "ocrd-drethtr-recognize: ocrd is not installed; run: pip install 'drethtr[ocrd]'\n"
