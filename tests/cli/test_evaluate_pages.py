import json
import re
from pathlib import Path

import edited_folders
import pytest
from printed_pages import put_page

from drethtr import __version__

TEXTS = ["abc def", "a cabbage"]


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "pages"
    for name in ("one", "two"):
        put_page(folder / f"{name}.png", folder / f"{name}.xml", TEXTS)
    return folder


@pytest.mark.parametrize("given", ["", "*.xml"], ids=["folder", "pattern"])
def test_lines_of_pages_are_scored_like_line_images(drethtr, pages, tiny_path, tmp_path, given):
    outcome = drethtr("evaluate", pages / given, "--model", tiny_path, "--json", tmp_path / "a.json")
    assert outcome.code == 0
    [of_set] = json.loads((tmp_path / "a.json").read_text())["sets"]
    assert (of_set["name"], of_set["lines"], of_set["characters"]) == ("pages", 4, 2 * sum(map(len, TEXTS)))


@pytest.mark.parametrize("lines", ["given", "projection"])
def test_whole_pages(drethtr, pages, tiny_path, tmp_path, lines):
    arguments = ("--model", tiny_path, "--end-to-end", "--lines", lines, "--json", tmp_path / "a.json")
    outcome = drethtr("evaluate", pages, *arguments)
    assert outcome.code == 0 and "CER % in order" in outcome.out
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["convention"] in outcome.out
    model = found["made_by"]["model"]
    assert f"Read with drethtr {__version__}, model {model}, decoder ctc, float32." in outcome.out
    assert found["decoder"] == "ctc"
    assert [page["lines"] for page in found["pages"]] == [2, 2] and found["overall"]["lines"] == 4
    assert all(page["cer_matched"] >= page["cer_found_only"] >= 0 for page in found["pages"])


def test_lines_that_count_on_whole_pages_only_are_told(drethtr, tmp_path, tiny_path):
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["abc def", "a [...] cab"])
    arguments = ("evaluate", tmp_path, "--model", tiny_path, "--json", tmp_path / "a.json", "--force")
    assert "Left out because of editorial marks or uncertain letters: 1 of" in drethtr(*arguments).out
    for more in ((), ("--layout", "--lines", "projection")):
        outcome = drethtr(*arguments, "--end-to-end", *more)
        assert "marks or uncertain letters, which drethtr evaluate leaves out without --end-to-end, count here: 1." in (
            outcome.out
        )
    drethtr(*arguments, "--end-to-end")
    [page] = json.loads((tmp_path / "a.json").read_text())["pages"]
    assert (page["lines"], page["lines_marked"]) == (2, 1)


def test_layout_is_measured_without_reading(drethtr, pages, tmp_path, monkeypatch):
    """Each folder is a collection, and so are files in a folder that differ in a number."""
    for number in (1, 2):
        put_page(pages / f"bill_{number}.png", pages / f"bill_{number}.xml", TEXTS)
    monkeypatch.setenv("DRETHTR_MODEL", str(tmp_path / "gone"))  # it would be refused if anything were read
    arguments = ("--layout", "--lines", "projection", "--json", tmp_path / "a.json")
    outcome = drethtr("evaluate", pages, *arguments)
    assert outcome.code == 0 and "merged" in outcome.out
    found = json.loads((tmp_path / "a.json").read_text())
    assert {row["name"]: row["pages"] for row in found["sets"]} == {"bill": 2, "pages": 2}
    assert found["overall"]["lines"] == 8 and 0 < found["overall"]["recall"] < 1  # drawn lines are shorter than marked


def test_given_lines_are_not_measured(drethtr, pages):
    outcome = drethtr("evaluate", pages, "--layout", "--lines", "given")
    assert outcome.code == 2 and "--lines given are the lines to compare with" in outcome.err


def test_what_a_layout_costs(drethtr, pages, tiny_path, tmp_path):
    arguments = ("--layout", "--end-to-end", "--lines", "projection", "--json", tmp_path / "a.json")
    outcome = drethtr("evaluate", pages, *arguments, "--model", tiny_path)
    assert outcome.code == 0 and "points of CER" in outcome.out
    *_, cost = json.loads((tmp_path / "a.json").read_text())["cost"]
    assert cost["lost"] + cost["extra"] + cost["order"] == pytest.approx(cost["cer_found"] - cost["cer_given"])


def test_a_layout_costs_as_much_as_with_the_chosen_outlines(drethtr, pages, tmp_path):
    found = []
    for name, how in (("a", ("--layout",)), ("b", ("--lines", "given"))):
        file = tmp_path / name
        options = (*how, "--end-to-end", "--outlines", "own", "--json", file)
        assert drethtr("evaluate", pages, *options).code == 0
        found.append(json.loads(file.read_text()))
    assert found[0]["cost"][-1]["cer_given"] == found[1]["overall"]["cer_ordered"]


def test_six_pages_have_an_interval(drethtr, tmp_path, tiny_path):
    for number in range(6):
        put_page(tmp_path / f"{number}.png", tmp_path / f"{number}.xml", TEXTS)
    arguments = ("--model", tiny_path, "--end-to-end", "--lines", "given")
    few = drethtr("evaluate", *(tmp_path / f"{number}.xml" for number in range(5)), *arguments).out
    many = drethtr("evaluate", tmp_path, *arguments).out
    last_of_few, last_of_many = (next(r for r in said.splitlines() if r.startswith("all")) for said in (few, many))
    assert last_of_few.count(" –") == 3 and "[" not in last_of_few and last_of_many.count("[") == 3


def test_a_line_that_cannot_be_read_is_not_scored_with_its_own_text(drethtr, tmp_path, tiny_path):
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["abc"])
    data = (tmp_path / "a.xml").read_text(encoding="utf-8")
    (tmp_path / "a.xml").write_text(re.sub(r"<Coords [^>]*><Baseline [^>]*>", "", data), encoding="utf-8")
    arguments = ("--model", tiny_path, "--end-to-end", "--lines", "given", "--json", tmp_path / "a.json")
    outcome = drethtr("evaluate", tmp_path / "a.xml", *arguments)
    assert outcome.code == 0 and "1 of 1 given lines could not be read: l0" in outcome.err
    [page] = json.loads((tmp_path / "a.json").read_text())["pages"]
    assert (page["lines"], page["lines_read"], page["cer_matched"]) == (1, 0, 1.0)


def test_whole_pages_need_descriptions(drethtr, lines, tiny_path):
    outcome = drethtr("evaluate", lines / "one.png", "--model", tiny_path, "--end-to-end")
    assert outcome.code == 2 and "no PAGE or ALTO" in outcome.err and outcome.err.count("\n") == 1


@pytest.mark.parametrize("option", [("--limit", 2), ("--confidence",)], ids=str)
def test_whole_pages_refuse_what_is_for_lines(drethtr, pages, tiny_path, option):
    outcome = drethtr("evaluate", pages, "--model", tiny_path, "--end-to-end", *option)
    assert outcome.code == 2 and option[0] in outcome.err and outcome.err.count("\n") == 1


def test_the_lines_that_were_meant_are_suggested(drethtr, pages, tmp_path):
    known = "unknown line segmentation 'givn'; did you mean 'given'?; known: auto, given, rapid"
    for command in (("evaluate", pages, "--end-to-end", "--model", tmp_path / "gone"), ("transcribe", pages)):
        outcome = drethtr(*command, "--lines", "givn")
        assert outcome.code == 2 and known in outcome.err and outcome.err.count("\n") == 1


def test_lines_refuse_what_is_for_whole_pages(drethtr, pages, tiny_path):
    outcome = drethtr("evaluate", pages, "--model", tiny_path, "--lines", "given")
    assert outcome.code == 2 and "needs --end-to-end" in outcome.err and outcome.err.count("\n") == 1


def test_settings_for_pages_and_for_lines_go_together(drethtr, pages, tiny_path, tmp_path, monkeypatch):
    (tmp_path / "drethtr.toml").write_text('[evaluate]\nlines = "projection"\nlimit = 1\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert drethtr("evaluate", pages, "--model", tiny_path).code == 0
    assert drethtr("evaluate", pages, "--layout").code == 0


def test_pages_without_text_or_image(drethtr, tmp_path, tiny_path):
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["", ""])
    outcome = drethtr("evaluate", tmp_path / "a.xml", "--model", tiny_path, "--end-to-end")
    assert outcome.code == 2 and "has no text to compare with" in outcome.err
    (tmp_path / "a.png").unlink()
    outcome = drethtr("evaluate", tmp_path / "a.xml", "--model", tiny_path)
    assert outcome.code == 2 and "a.xml" in outcome.err and outcome.err.count("\n") == 1


@pytest.mark.parametrize("how", [("--end-to-end",), ("--layout",), ("--end-to-end", "--layout")], ids=str)
def test_pages_that_cannot_be_compared_are_left_out(drethtr, tmp_path, tiny_path, monkeypatch, how):
    monkeypatch.setenv("DRETHTR_MODEL", str(tiny_path))  # typed, it would be refused where nothing is read
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["eins", "zwei"])
    put_page(tmp_path / "blank.png", tmp_path / "blank.xml", [])
    put_page(tmp_path / "broken.png", tmp_path / "broken.xml", ["eins"])
    (tmp_path / "broken.png").write_bytes((tmp_path / "broken.png").read_bytes()[:200])
    result = tmp_path / "result.json"
    outcome = drethtr("evaluate", tmp_path, *how, "--json", result)
    assert outcome.code == 1
    assert outcome.err.count("to compare with") == 1 and "broken.png" in outcome.err
    assert [Path(page["name"]).name for page in json.loads(result.read_text())["pages"]] == ["a.xml"]


@pytest.mark.parametrize("how", [(), ("--end-to-end", "--lines", "given")], ids=["lines", "pages"])
def test_texts_that_a_program_read_prove_nothing(drethtr, tiny_path, tmp_path, how):
    path = edited_folders.put_page(tmp_path, "a")
    outcome = drethtr("evaluate", path, "--model", tiny_path, *how)
    assert outcome.code == 0 and "nobody has corrected or confirmed" in outcome.err
