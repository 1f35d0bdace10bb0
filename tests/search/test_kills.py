"""Indexing is killed at random moments; resumed, it ends in the same index."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from archives import contents
from made_pages import TEXTS

KILLS = int(os.environ.get("DRETHTR_KILLS", "3"))
"""How often; 50 take some minutes."""

SOURCE = Path(__file__).parents[2] / "src"
PAGES = 12

CHILD = """
import sys
from pathlib import Path
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.source import open_originals
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.build import open_builder
folder, model, output = sys.argv[1:]
recognizer = Recognizer.load(model, decoder="ctc", device="cpu", threads=1, posteriors=True)
originals = [o for path in sorted(Path(folder).glob("*.xml")) for o in open_originals(path)]
print("starts", flush=True)
with open_builder(output, recognizer, segmentation_named("auto")) as builder:
    for original in builder.waiting(originals):
        builder.read(original)
"""


def indexing(archive, model, output):
    """A process that is about to open an index."""
    variables = os.environ | {"PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, archive, model, output], env=variables, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"starts\n"
    return process


def ended(process):
    """How a process ends."""
    with process.stdout:
        return process.wait()


@pytest.fixture
def many(archive):
    """An archive of many pages, each with a word of its own."""
    for number in range(3, PAGES + 1):
        for ending in ("png", "xml"):
            shutil.copy(archive / f"one.{ending}", archive / f"p{number:02}.{ending}")
        described = (archive / f"p{number:02}.xml").read_text(encoding="utf-8")
        described = described.replace("one.png", f"p{number:02}.png").replace(TEXTS[0], f"{TEXTS[0]} {number}")
        (archive / f"p{number:02}.xml").write_text(described, encoding="utf-8")
    return archive


@pytest.mark.skipif(sys.platform == "win32", reason="kills processes")
def test_a_killed_run_resumes_to_the_same_index(many, tiny_path, tmp_path):
    whole, killed = tmp_path / "whole.sqlite", tmp_path / "killed.sqlite"
    run = indexing(many, tiny_path, whole)
    start = time.monotonic()
    assert ended(run) == 0
    longest, chance, kills = (time.monotonic() - start) / 2, random.Random(0), 0
    while kills < KILLS:
        run = indexing(many, tiny_path, killed)
        try:
            assert run.wait(chance.uniform(0, longest)) == 0
            assert contents(killed) == contents(whole)
            killed.unlink()  # and from the beginning
        except subprocess.TimeoutExpired:
            run.kill()
            kills += 1
        ended(run)
    assert ended(indexing(many, tiny_path, killed)) == 0
    assert contents(killed) == contents(whole) and len(contents(whole)[0]) == PAGES
