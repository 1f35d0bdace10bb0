"""No command uses the network unless the user gives a URL: here, all connections fail and are recorded."""

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.request import urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from edited_folders import put_page
from mets_examples import mets_of
from programs import source_first
from sample_letter import TEXT, put_letter
from soak.client import address_of
from training_runs import RUN, write_lines

from drethtr.base.plugins import plugged
from drethtr.cli.commands import ENTRY_POINTS, walk
from drethtr.cli.main import app
from drethtr.recognition.model.file import SHIPPED

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samples"
FONTS = ROOT / "tests" / "fonts"

FORBIDDING = """
import os, sys

def forbid(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        with open(os.environ["NOTED"], "a") as file:
            file.write(f"{event} {arguments[1:]}\\n")
        raise OSError("there is no network")

sys.addaudithook(forbid)
"""
"""A module that every Python process imports at startup, including workers."""

ALL = """
import sys
from drethtr.cli.main import main
for line in open("commands", encoding="utf-8"):
    sys.argv = ["drethtr", *line.rstrip("\\n").split("\\t")]
    print(line, flush=True)
    try:
        main()
    except SystemExit as end:
        if end.code and not (end.code == 1 and "mets.xml" in line):  # an image of it lies elsewhere
            raise
"""

COMMANDS = (
    ("transcribe", SAMPLES / "000000.png"),
    ("transcribe", "letter.jpg", "--format", "pdf,alto", "--output", "out"),
    ("transcribe", "export.zip"),
    ("transcribe", "mets.xml", "--output", "out"),
    ("segment", "letter.jpg", "--output", "segmented"),
    ("batch", "train.parquet", "--output", "rows", "--workers", "1", "--model", "tiny.safetensors"),
    ("evaluate", SAMPLES, "--decoder", "ctc"),
    ("model", "explain", SAMPLES / "000003.png", "--output", "why.svg"),
    ("model", "compare", ":ctc", ":joint", SAMPLES),
    ("model", "predict-cer", SAMPLES / "000000.png"),
    ("model", "info"),
    ("model", "language", "tiny.safetensors", "train.parquet", "--output", "new.safetensors"),
    ("model", "calibrate", SHIPPED, "mixed.parquet", "--decoder", "ctc", "--output", "calibrated.safetensors"),
    ("data", "check", "train.parquet"),
    ("data", "import", SAMPLES, "imported.parquet"),
    ("data", "gaps", SAMPLES, "--output", "gaps.parquet"),
    ("align", "letter.jpg", "letter.txt", "--lines", "projection", "--output", "laid"),
    ("check", SAMPLES, "--min", "0"),
    ("index", "letter.jpg", "--decoder", "ctc", "--output", "a.sqlite"),
    ("search", "a.sqlite", "the"),
    ("data", "synth", "lines.parquet", "--fonts", FONTS, "--text", "letter.txt", "--count", "2"),
    ("model", "train", "run.toml", "--output", "run", "--workers", "1"),
    ("model", "train-layout", "layout.toml", "--output", "found", "--workers", "1"),
    (
        "model",
        "rescorer",
        "tiny.safetensors",
        "train.parquet",
        "--characters",
        "6000",
        "--output",
        "ranked.safetensors",
    ),
    (
        "model",
        "finetune",
        "train.parquet",
        "--model",
        "tiny.safetensors",
        "--output",
        "mine.safetensors",
        "--samples",
        "16",
    ),
)

LAYOUT = """
samples = 4
train = [{ kind = "Marked", paths = ["described"] }]
validation = { paths = ["held"], every = 4 }
crops = { side = 64, batch = 2, per_page = 2 }
"""


@pytest.fixture
def offline(tmp_path):
    """Environment variables that make connections fail; in the end, none may have been tried."""
    (tmp_path / "forbidding").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "forbidding" / "sitecustomize.py").write_text(FORBIDDING, encoding="utf-8")
    folders = [str(tmp_path / "forbidding"), source_first()["PYTHONPATH"]]
    variables = {"PYTHONPATH": os.pathsep.join(folders), "NOTED": str(tmp_path / "noted"), "OMP_NUM_THREADS": "1"}
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    yield {**os.environ, **variables, **home}
    assert not (tmp_path / "noted").exists(), (tmp_path / "noted").read_text()
    reports = [*(tmp_path / "home").rglob("*onnxruntime*")]
    assert not reports, "onnxruntime reports to its maker, by compiled code that is not noted here"


def test_commands_work_without_a_network_and_do_not_try(offline, tmp_path, tiny_path):
    write_lines(tmp_path / "train.parquet", 0, 40)
    write_lines(tmp_path / "val.parquet", 100, 8)
    rows = pq.read_table(tmp_path / "train.parquet").to_pylist()
    mixed = [{**row, "text": row["text"].replace("i", "ei"[number % 2])} for number, row in enumerate(rows)]
    pq.write_table(pa.Table.from_pylist(mixed), tmp_path / "mixed.parquet")
    images = [
        ("I1", "image/jpeg", "letter.jpg"),
        ("I2", "image/jpeg", "https://a.example"),
    ]
    (tmp_path / "mets.xml").write_text(mets_of({"MAX": images}, [("1", ["I1", "I2"])]), encoding="utf-8")
    put_letter(tmp_path / "letter.jpg")
    (tmp_path / "letter.txt").write_text(TEXT, encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(tmp_path / "letter.jpg", "letter.jpg")
    (tmp_path / "run.toml").write_text(RUN.replace("samples = 96", "samples = 16").replace("every = 32", "every = 16"))
    for folder in ("described", "held"):
        put_page(tmp_path / folder, folder)
    (tmp_path / "layout.toml").write_text(LAYOUT)
    (tmp_path / "commands").write_text("".join("\t".join(map(str, command)) + "\n" for command in COMMANDS))
    command = [sys.executable, "-c", ALL]
    done = subprocess.run(command, cwd=tmp_path, env=offline, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]


@pytest.mark.skipif(sys.platform == "win32", reason="servers are ended otherwise")
@pytest.mark.parametrize(
    "command", [("serve",), ("edit", "scans", "--no-browser", "--no-token")], ids=["serve", "edit"]
)
def test_servers_answer_and_ask_nobody(command, offline, tmp_path, tiny_path):
    put_page(tmp_path / "scans", "a", lines=2)
    options = ("--port", "0", "--model", tiny_path, "--device", "cpu")
    with (tmp_path / "said").open("wb") as said:
        program = [sys.executable, "-m", "drethtr", *command, *options]
        with subprocess.Popen(program, cwd=tmp_path, env=offline, stdout=said, stderr=said) as server:
            address = address_of(tmp_path / "said", server)
            with urlopen(f"{address}/line", (SAMPLES / "000000.png").read_bytes()) as answer:
                assert "text" in json.loads(answer.read())
            server.send_signal(signal.SIGINT)
    assert server.returncode == 0, (tmp_path / "said").read_text()


def test_all_commands_of_the_base_are_tried():
    """Others, such as `bench`, come by entry points."""
    tried = {words[:length] for words in (*COMMANDS, ("serve",), ("edit",)) for length in (1, 2)}
    assert {words for words, _ in walk(typer.main.get_command(app)) if words[0] not in plugged(ENTRY_POINTS)} <= tried


@pytest.mark.parametrize(("chosen", "then"), [({}, "1"), ({"ORT_DISABLE_TELEMETRY": "0"}, "0")])
def test_onnxruntime_reports_nothing_unless_the_user_lets_it(chosen, then):
    kept = {name: value for name, value in source_first().items() if name != "ORT_DISABLE_TELEMETRY"}
    code = "import drethtr, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    said = subprocess.run([sys.executable, "-c", code], env=kept | chosen, capture_output=True, text=True).stdout
    assert said.strip() == then
