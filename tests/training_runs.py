"""A short training run, here or in processes of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, ImageDraw

from drethtr.base import config
from drethtr.training.loop import train
from drethtr.training.run import RunConfig

RUN = """
samples = 96
minimum_count = 1
save_every = 8
bfloat16 = false
augmentation = []
train = [{ kind = "Real", paths = ["train.parquet"] }]
validation = { paths = ["val.parquet"], lines = 4, every = 32 }
preparation = { height = 48, stretch = 1.0 }
network.layers = 2
network.width = 16
network.heads = 2
network.hidden = 32
network.backbone = { kind = "Light", height = 48 }
network.ctc = { steps = 1 }
network.positions = { kind = "Sinusoidal" }
network.prior = { kind = "Added" }
batches = { pixels = 49152, lines = 4, max_columns = 900, chunk = 16 }
optimizer = { warm_up = 8 }
"""


def write_lines(path: Path, start: int, number: int) -> None:
    """Write printed words to a Parquet file in Hugging Face's image format."""
    rows = []
    for i in range(start, start + number):
        text = f"line {i * 37 % 101}"
        image = Image.new("L", (90 + i % 5 * 8, 24), 255)
        ImageDraw.Draw(image).text((4, 4), text, fill=0)
        file = path.with_suffix(".png")
        image.save(file)
        rows.append({"image": {"bytes": file.read_bytes(), "path": f"{i}.png"}, "text": text, "set": "words"})
        file.unlink()
    pq.write_table(pa.Table.from_pylist(rows), path)


def break_line(path: Path) -> None:
    """Cut the image of the second line of a file short."""
    rows = pq.read_table(path).to_pylist()
    rows[1]["image"]["bytes"] = rows[1]["image"]["bytes"][:90]
    pq.write_table(pa.Table.from_pylist(rows), path)


def write_data(folder: Path) -> Path:
    """Write the files for a short run."""
    write_lines(folder / "train.parquet", 0, 40)
    write_lines(folder / "val.parquet", 100, 4)
    (folder / "run.toml").write_text(RUN)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path)


def train_here(folder: Path, output: str, *settings: str, resume: bool = False) -> None:
    """Train in this process: starting another one takes longer than a short run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        train(config.load(RunConfig, Path("run.toml"), settings), Path(output), resume=resume, workers=0)


def start(folder: Path, output: str, *settings: str, processes: int = 1, **variables: str) -> subprocess.Popen[bytes]:
    """Start `drethtr model train` on the CPU, with these environment variables."""
    wanted = (option for setting in settings for option in ("--set", setting))
    program = ["-m", "drethtr", "model", "train", "run.toml", "--output", output, "--device", "cpu", *wanted]
    return launch(folder, program, processes=processes, **variables)


def launch(data: Path, program: list[str], *, processes: int, **variables: str) -> subprocess.Popen[bytes]:
    """Start a Python program in its own process group; torchrun starts several processes."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [sys.executable, *(torchrun if processes > 1 else []), *program]
    # A command that ran in this process may have set PYTHONSAFEPATH, and programs of tests import their neighbors.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": ""} | variables
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, cwd=data, env=environment, start_new_session=True, **pipes)


def finish(process: subprocess.Popen[bytes]) -> str:
    """What a process said, which must have succeeded."""
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0 and b"FutureWarning" not in said, said.decode()
    return said.decode()
