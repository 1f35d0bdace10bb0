import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from drethtr.cli.synth import synth
from drethtr.data.sources import open_samples
from drethtr.data.sources.parquet import read_parquet
from drethtr.errors import DataError

app = typer.Typer()
app.command()(synth)


@pytest.fixture
def options(make_font, tmp_path):
    make_font()
    text = tmp_path / "text.txt"
    text.write_text("words that go on and on, over the page and on\n" * 9, encoding="utf-8")
    return [str(tmp_path / "out.parquet"), "--fonts", str(tmp_path / "fonts"), "--text", str(text), "--lines", "6"]


def run(arguments):
    return CliRunner().invoke(app, arguments)


def test_writes_lines_and_a_sheet_of_them(options, tmp_path):
    result = run([*options, "--sheet", str(tmp_path / "sheet.png")])
    assert result.exit_code == 0, result.output
    samples = read_parquet(tmp_path / "out.parquet")
    assert len(samples) == 6 and all(sample.line().shape[0] == 64 and sample.text for sample in samples)
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.height > 3 * 64
    assert not [path for path in tmp_path.iterdir() if "unfinished" in path.name]


def test_the_seed_decides(options, tmp_path):
    written = []
    for seed in ("1", "1", "2"):
        assert run([*options, "--force", "--seed", seed]).exit_code == 0
        written.append((tmp_path / "out.parquet").read_bytes())
    assert written[0] == written[1] != written[2]


def test_does_not_replace_a_file_unasked(options, tmp_path):
    (tmp_path / "out.parquet").write_text("precious")
    assert isinstance(run(options).exception, DataError)
    assert (tmp_path / "out.parquet").read_text() == "precious"
    assert run([*options, "--force"]).exit_code == 0


@pytest.mark.parametrize("place", ["gone/out.parquet", "gone/sheet.png"])
def test_a_place_without_a_folder_is_refused_at_once(options, tmp_path, place):
    given = [str(tmp_path / place), *options[1:]] if "out" in place else [*options, "--sheet", str(tmp_path / place)]
    error = run(given).exception
    assert isinstance(error, DataError) and "there is no folder" in str(error)
    assert not (tmp_path / "gone").exists() and not (tmp_path / "out.parquet").exists()


def test_writes_a_folder_where_no_parquet_is_asked_for(options, tmp_path):
    options[0] = str(tmp_path / "lines")
    assert run(options).exit_code == 0
    assert len(open_samples(tmp_path / "lines")) == 6


def test_a_folder_is_replaced_whole(options, tmp_path):
    folder = tmp_path / "lines"
    options[0] = str(folder)
    assert run(options).exit_code == 0
    (folder / "notes.md").write_text("precious")
    assert isinstance(run([*options, "--lines", "2"]).exception, DataError)
    assert run([*options, "--lines", "2", "--force"]).exit_code == 0
    assert len(open_samples(folder)) == 2 and (folder / "notes.md").read_text() == "precious"


def test_other_kinds_of_files_are_refused(options, tmp_path):
    options[0] = str(tmp_path / "lines.tsv")
    assert "must end in .parquet" in str(run(options).exception) and not (tmp_path / "lines.tsv").exists()
