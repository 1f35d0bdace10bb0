"""Every command that reads descriptions of pages finds their images where it is told, and says what it does not use."""

import pytest
from printed_pages import put_page

COMMANDS = {
    "transcribe": ("transcribe", "pages", "--format", "json", "--output", "out"),
    "check": ("check", "pages/a.xml"),
    "align": ("align", "pages/a.xml", "text.txt", "--line-breaks", "kept", "--output", "out"),
    "index": ("index", "pages", "--output", "a.sqlite"),
    "import": ("data", "import", "pages", "o.parquet"),
    "evaluate": ("evaluate", "pages"),
    "end to end": ("evaluate", "pages", "--end-to-end", "--lines", "given"),
}


@pytest.fixture
def run(drethtr, tiny_path, tmp_path, monkeypatch):
    """Runs a command on a page with bands around its lines and one odd value; its image is in a folder of its own."""
    texts = ["abc def", "a cabbage", "fed", "a bed"]
    put_page(tmp_path / "elsewhere" / "a.png", tmp_path / "pages" / "a.xml", texts)
    file = tmp_path / "pages" / "a.xml"
    file.write_text(
        file.read_text(encoding="utf-8").replace('id="l3"><Coords points="30,', 'id="l3"><Coords points="3O,')
    )
    (tmp_path / "text.txt").write_text("\n".join(texts))
    monkeypatch.chdir(tmp_path)

    def of(command, *more):
        model = () if command[0] in ("data", "segment") else ("--model", tiny_path, "--threads", "1")
        done = drethtr(*command, *model, *more)
        return done.out + done.err

    return of


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_is_not_used_is_said_once(run, command):
    assert "is missing" in run(command, "--images", "pages")
    said = run(command, "--images", "elsewhere")
    assert said.count("'3O' is not a number") == 1, said
    assert said.count("--outlines given keeps them") == 1, said
    again = () if command[0] == "evaluate" else ("--force",)
    assert "--outlines" not in run(command, *again, "--images", "elsewhere", "--outlines", "given")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_folder_of_images_that_is_not_there_is_refused(run, command):
    assert "gone: no such folder; give --images" in run(command, "--images", "gone")


def test_gaps_are_not_looked_for_without_a_word_either(run, tiny_path, tmp_path):
    (tmp_path / "elsewhere" / "a.png").rename(tmp_path / "pages" / "a.png")
    said = run(("data", "gaps", "pages", "--output", "gaps.parquet"), "--model", tiny_path, "--threads", "1")
    assert said.count("'3O' is not a number") == 1, said


@pytest.mark.parametrize(("options", "few"), [((), "4 usable lines"), (("--layout",), "1 page with lines")])
def test_lines_to_learn_from_are_found_there(run, options, few):
    command = ("model", "finetune", "pages", "--output", "o.safetensors")
    assert "is missing" in run(command, *options, "--images", "pages")
    assert few in run(command, *options, "--images", "elsewhere")


def test_lines_are_written_of_scans_found_there(run, tmp_path):
    assert "is missing" in run(("segment", "pages", "--output", "out"), "--images", "pages")
    said = run(("segment", "pages", "--output", "out"), "--images", "elsewhere")
    assert said.count("'3O' is not a number") == 1 and (tmp_path / "out" / "a.page.xml").exists()
