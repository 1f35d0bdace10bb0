import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

import drethtr

SAMPLE = Path(__file__).parents[2] / "samples" / "page" / "letter.jpg"


@pytest.mark.parametrize("name", ["edit", "demo"])
def test_without_a_folder_a_letter_is_opened(name):
    command = [sys.executable, "-m", "drethtr.cli", name, "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        said = next(row for row in process.stderr if " is open at " in row)
        address = said.split(" is open at ")[1].split()[0]
        with urlopen(f"{address}/api/pages") as answer:
            assert [row["name"] for row in json.loads(answer.read())] == ["letter.jpg"]
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait() == 0


def test_the_letter_is_the_sample():
    assert (Path(drethtr.__file__).parent / "editing" / "demo" / "letter.jpg").read_bytes() == SAMPLE.read_bytes()


def test_a_folder_that_cannot_be_opened_is_explained(drethtr, tmp_path):
    outcome = drethtr("edit", tmp_path / "gone", "--port", 0, "--no-browser")
    assert outcome.code == 2 and outcome.err == f"drethtr: {tmp_path / 'gone'}: no such folder\n"
