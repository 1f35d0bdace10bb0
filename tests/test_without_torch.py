"""Every command that does not train works without torch.

Each runs in a process of its own in which importing torch fails; CI runs this file once more in an environment that
really has none.
"""

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pytest
from PIL import Image
from rapidfuzz.distance import Levenshtein

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samples"
MISSING = "import sys; sys.modules['torch'] = None; from drethtr.cli.main import main; main()"


def drethtr(*arguments, code=0):
    """The output of a command."""
    command = [sys.executable, "-c", MISSING, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == code, run.stderr
    return run.stdout + run.stderr


EACH = """
import sys
sys.modules["torch"] = None
from drethtr.cli.main import main
for line in open("commands", encoding="utf-8"):
    sys.argv = ["drethtr", *line.rstrip("\\n").split("\\t")]
    try:
        main()
    except SystemExit as end:
        if end.code:
            sys.exit(f"{line}: {end.code}")
"""


def drethtr_each(commands, folder):
    """What commands print that one process runs in a folder, one after the other."""
    (folder / "commands").write_text("".join("\t".join(map(str, words)) + "\n" for words in commands), "utf-8")
    done = subprocess.run([sys.executable, "-c", EACH], cwd=folder, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def letter(tmp_path_factory):
    """The beginning of the sample letter, down to "behind the kitchen"."""
    path = tmp_path_factory.mktemp("page") / "letter.jpg"
    with Image.open(SAMPLES / "page" / "letter.jpg") as whole:
        whole.crop((0, 0, whole.width, 760)).save(path)
    text, end, _ = (SAMPLES / "page" / "transcription.txt").read_text("utf-8").partition("The ferry left at")
    path.with_suffix(".txt").write_text(text + end, "utf-8")
    return path


READ = ("transcribe", SAMPLES / "000000.png")


def test_lines_are_read_with_every_decoder_and_in_int8(tmp_path):
    decoders = ("ctc", "joint", "careful", "greedy", "verified", "beam:2")
    commands = (*((*READ, "--decoder", decoder) for decoder in decoders), (*READ, "--precision", "int8"))
    said = drethtr_each(commands, tmp_path)
    assert said.splitlines() == ["until there were none left to"] * len(commands)


def test_a_misspelled_device_needs_no_torch_to_be_told():
    assert "unknown device 'gpu'; known: auto, cpu" in drethtr(
        "transcribe", SAMPLES / "000000.png", "--device", "gpu", code=2
    )


def test_a_page_is_written_in_every_format(letter, tmp_path):
    drethtr("transcribe", letter, "--format", "txt,page,alto,hocr,json,csv,html,pdf", "--output", tmp_path)
    assert len(list(tmp_path.glob("letter.*"))) == 8
    assert "My dear Eleanor," in (tmp_path / "letter.txt").read_text(encoding="utf-8")
    drethtr("transcribe", tmp_path / "letter.pdf", "--format", "json", "--output", tmp_path / "again")
    again = json.loads((tmp_path / "again" / "letter.json").read_text(encoding="utf-8"))
    texts = [line["text"] for region in again["regions"] for line in region["lines"]]
    expected = (tmp_path / "letter.txt").read_text(encoding="utf-8").split("\n")
    assert Levenshtein.distance("\n".join(texts), "\n".join(filter(None, expected))) < 5


def test_lines_are_measured_explained_and_compared(tmp_path):
    assert "CER" in drethtr("evaluate", SAMPLES, "--json", tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["overall"]["lines"] == 6
    drethtr("explain", SAMPLES / "000003.png", "--output", tmp_path / "why.svg")
    assert "characters back" in (tmp_path / "why.svg").read_text(encoding="utf-8")
    assert "no difference shown" in drethtr("compare", ":ctc", ":joint", SAMPLES)
    assert "alphabet" in drethtr("info")


def test_a_model_learns_language_and_is_calibrated(tmp_path):
    """On copies of the same few lines, to have enough of them."""
    lines = tmp_path / "lines"
    lines.mkdir()
    for number in range(30):
        for ending in (".png", ".gt.txt"):
            name = f"{number % 6:06}{ending}"
            (lines / f"{number:06}{ending}").write_bytes((SAMPLES / name).read_bytes())
    (lines / "000001.gt.txt").write_text("some words are misread", encoding="utf-8")
    from drethtr.recognition.model.file import SHIPPED

    model = tmp_path / "model.safetensors"
    drethtr("language", SHIPPED, lines, "--output", model)
    assert "calibrated on 30 lines" in drethtr("calibrate", model, lines, "--decoder", "ctc", "--force")
    assert "until there were none left to" in drethtr(
        "transcribe", SAMPLES / "000000.png", "--model", model, "--precision", "int8"
    )


COMMANDS = (
    ("segment", "letter.jpg", "--output", "segmented"),
    ("align", "letter.jpg", "letter.txt", "--lines", "projection", "--output", "laid"),
    ("index", "letter.jpg", "--decoder", "ctc", "--output", "a.sqlite"),
    ("search", "a.sqlite", "the"),
    ("check", SAMPLES, "--min", "0"),
    ("model", "predict-cer", SAMPLES / "000000.png"),
    ("data", "check", SAMPLES),
)
WITH_PARQUET = (
    ("data", "gaps", SAMPLES, "--output", "gaps.parquet"),
    ("data", "import", SAMPLES, "imported.parquet"),
    ("batch", "imported.parquet", "--output", "rows", "--workers", "1", "--decoder", "ctc"),
)


def test_pages_texts_and_data_need_none(letter, tmp_path):
    """Those that write Parquet where its extra is installed."""
    for path in (letter, letter.with_suffix(".txt")):
        shutil.copy(path, tmp_path)
    drethtr_each((*COMMANDS, *(WITH_PARQUET if find_spec("pyarrow") else ())), tmp_path)


@pytest.mark.parametrize("command", [("serve",), ("edit", ".", "--no-browser", "--no-token")], ids=["serve", "edit"])
def test_servers_read_lines(command, tmp_path):
    shutil.copy(SAMPLES / "page" / "letter.jpg", tmp_path)
    program = [sys.executable, "-u", "-c", MISSING, *command, "--port", "0"]
    with subprocess.Popen(program, cwd=tmp_path, stderr=subprocess.PIPE, encoding="utf-8") as server:
        try:
            address = next(found[0] for row in server.stderr if (found := re.search(r"http://\S+", row)))
            with urlopen(f"{address}/line", (SAMPLES / "000000.png").read_bytes(), timeout=60) as answer:
                assert json.loads(answer.read())["text"] == "until there were none left to"
        finally:
            server.terminate()
            server.stderr.read()


def test_bfloat16_says_what_to_install():
    said = drethtr("transcribe", SAMPLES / "000000.png", "--precision", "bfloat16", code=2)
    assert "pip install 'drethtr[train]'" in said
