"""No command reaches for the network unless the user names an address: here, all connections fail and are noted."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from mets_examples import mets_of
from programs import source_first
from training_runs import RUN, write_lines

from drethtr.recognition.model_file import SHIPPED

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samples"

FORBIDDING = """
import os, sys

def forbid(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        with open(os.environ["NOTED"], "a") as file:
            file.write(f"{event} {arguments[1:]}\\n")
        raise OSError("there is no network")

sys.addaudithook(forbid)
"""
"""A module that every Python process imports first, workers included."""

ALL = """
import sys
from drethtr.cli.main import main
for line in open("commands", encoding="utf-8"):
    sys.argv = ["drethtr", *line.rstrip("\\n").split("\\t")]
    print(line, flush=True)
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
"""

COMMANDS = (
    ("transcribe", SAMPLES / "000000.png"),
    ("transcribe", SAMPLES / "page" / "letter.jpg", "--format", "pdf,alto", "--output", "out"),
    ("transcribe", "export.zip"),
    ("transcribe", "mets.xml", "--output", "out"),
    ("batch", "train.parquet", "--output", "rows", "--workers", "1", "--model", "tiny.safetensors"),
    ("evaluate", SAMPLES, "--decoder", "ctc"),
    ("explain", SAMPLES / "000003.png", "--output", "why.svg"),
    ("compare", ":ctc", ":joint", SAMPLES),
    ("predict-cer", "train.parquet"),
    ("info",),
    ("language", "tiny.safetensors", "train.parquet", "--output", "new.safetensors"),
    ("calibrate", SHIPPED, "mixed.parquet", "--decoder", "ctc", "--output", "calibrated.safetensors"),
    ("data", "check", "train.parquet"),
    ("train", "run.toml", "--output", "run", "--workers", "1"),
    ("finetune", "train.parquet", "--model", "tiny.safetensors", "--output", "mine.safetensors", "--samples", "16"),
)


def test_commands_work_without_a_network_and_do_not_try(tmp_path, tiny_path):
    (tmp_path / "forbidding").mkdir()
    (tmp_path / "forbidding" / "sitecustomize.py").write_text(FORBIDDING, encoding="utf-8")
    write_lines(tmp_path / "train.parquet", 0, 40)
    write_lines(tmp_path / "val.parquet", 100, 8)
    rows = pq.read_table(tmp_path / "train.parquet").to_pylist()
    mixed = [{**row, "text": row["text"].replace("i", "ei"[number % 2])} for number, row in enumerate(rows)]
    pq.write_table(pa.Table.from_pylist(mixed), tmp_path / "mixed.parquet")
    images = [
        ("I1", "image/jpeg", (SAMPLES / "page" / "letter.jpg").as_uri()),
        ("I2", "image/jpeg", "https://a.example"),
    ]
    (tmp_path / "mets.xml").write_text(mets_of({"MAX": images}, [("1", ["I1", "I2"])]), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(SAMPLES / "page" / "letter.jpg", "letter.jpg")
    (tmp_path / "run.toml").write_text(RUN.replace("samples = 96", "samples = 16").replace("every = 32", "every = 16"))
    (tmp_path / "commands").write_text("".join("\t".join(map(str, command)) + "\n" for command in COMMANDS))
    folders = [str(tmp_path / "forbidding"), source_first()["PYTHONPATH"]]
    variables = {"PYTHONPATH": os.pathsep.join(folders), "NOTED": str(tmp_path / "noted"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", ALL],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    assert not (tmp_path / "noted").exists(), (tmp_path / "noted").read_text()
