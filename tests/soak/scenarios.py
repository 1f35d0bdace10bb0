"""Scenarios for kills and power losses: commands with their inputs, and the results to expect."""

from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import NamedTuple

import numpy as np
from bulk_runs import write_shard
from conftest import varied_model, written
from edited_folders import put_page
from PIL import Image
from training_runs import RUN, write_lines

from drethtr.recognition.model.file import save_model
from drethtr.recognition.recognizer import Recognizer
from soak.client import Promises, correct

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
 <Page imageFilename="{}.png" imageWidth="125" imageHeight="40">
  <TextRegion id="r"><Coords points="0,0 124,0 124,39 0,39"/>
   <TextLine id="l"><Coords points="2,2 122,2 122,38 2,38"/><Baseline points="8,25 120,25"/></TextLine>
  </TextRegion>
 </Page>
</PcGts>
"""

ON_CPU = ("--device", "cpu")


class Scenario(NamedTuple):
    """A command in a folder with its inputs.

    again     options to add when it is repeated after a kill
    results   patterns of files that must be as after an uninterrupted run; others must at least be readable
    whole     whether results appear at once, not step by step
    client    makes requests while it runs, and stops it; returns what its files must contain from then on
    """

    prepare: Callable[[Path], None]
    command: tuple[str, ...]
    again: tuple[str, ...]
    results: tuple[str, ...]
    whole: bool = True
    client: Callable[[Path, "Popen[bytes]"], Promises] | None = None


def model(folder: Path) -> None:
    """Write a small model with random weights."""
    save_model(varied_model(), folder / "tiny.safetensors")


def scans(folder: Path) -> None:
    """Write an image of a line, and a book of two."""
    model(folder)
    (folder / "scans").mkdir()
    images = [Image.fromarray(np.asarray(written(text))) for text in ("abc def", "a cabbage", "fed")]
    images[0].save(folder / "scans" / "a.png")
    images[1].save(folder / "scans" / "book.tif", save_all=True, append_images=images[2:])


def pages(folder: Path) -> None:
    """Write two scans with PAGE files."""
    model(folder)
    (folder / "scans").mkdir()
    for name in "ab":
        Image.fromarray(np.asarray(written(f"{name} line of words"))).save(folder / "scans" / f"{name}.png")
        (folder / "scans" / f"{name}.xml").write_text(PAGE.format(name), encoding="utf-8")


def rows(folder: Path) -> None:
    """Write lines to a Parquet file."""
    model(folder)
    write_shard(folder / "lines.parquet", range(8))


def lines(folder: Path) -> None:
    """Write training and validation lines."""
    model(folder)
    write_lines(folder / "train.parquet", 0, 60)
    write_lines(folder / "val.parquet", 100, 26)
    (folder / "run.toml").write_text(RUN.replace("samples = 96", "samples = 24").replace("every = 32", "every = 12"))


def readings(folder: Path) -> None:
    """Write lines of which the model reads every other one correctly."""
    model(folder)
    (folder / "few").mkdir()
    images = [folder / "few" / f"{number:02}.png" for number in range(26)]
    for number, image in enumerate(images):
        Image.fromarray(np.asarray(written("abc " * (1 + number % 3)))).save(image)
    reader = Recognizer.load(folder / "tiny.safetensors", device="cpu", threads=1)
    for number, (image, reading) in enumerate(zip(images, reader.read(images), strict=True)):
        text = reading.text if number % 2 else reading.text[: len(reading.text) // 2] + "x"
        image.with_suffix(".gt.txt").write_text(text, encoding="utf-8")


def read_pages(folder: Path) -> None:
    """Write two scans whose lines have been read."""
    model(folder)
    for name, format in (("a", "page"), ("b", "alto")):
        put_page(folder / "scans", name, format, lines=2)


BRIEF = ("--samples", "240", "--workers", "0")
MODEL = ("--model", "tiny.safetensors", *ON_CPU)
SCENARIOS = {
    "transcribe": Scenario(
        scans,
        ("transcribe", "scans", "--lines", "whole", "--format", "txt,alto,json,pdf", "--output", "out", *MODEL),
        (),
        ("out/*",),
    ),
    "update": Scenario(pages, ("transcribe", "scans/a.xml", "scans/b.xml", "--update", *MODEL), (), ("scans/*.xml",)),
    "edit": Scenario(
        read_pages,
        ("edit", "scans", "--port", "0", "--no-browser", "--no-token", *MODEL),
        (),
        ("scans/*.xml",),
        whole=False,
        client=correct,
    ),
    "index": Scenario(
        scans, ("index", "scans", "--lines", "whole", "--output", "a.sqlite", *MODEL), (), ("a.sqlite",), whole=False
    ),
    "batch": Scenario(
        rows,
        ("batch", "lines.parquet", "--output", "out", "--workers", "1", "--rows-per-part", "4", *MODEL),
        (),
        ("out/*.parquet",),
    ),
    "train": Scenario(
        lines,
        ("train", "run.toml", "--output", "out", "--workers", "0", *ON_CPU),
        ("--resume",),
        ("out/best.safetensors", "out/latest.safetensors"),
        whole=False,  # further training changes the weights
    ),
    "finetune": Scenario(
        lines,
        ("finetune", "train.parquet", "--validation", "val.parquet", "--output", "mine.safetensors", *BRIEF, *MODEL),
        ("--resume",),
        ("mine.safetensors",),
    ),
    "calibrate": Scenario(
        readings,
        ("calibrate", "tiny.safetensors", "few", "--decoder", "ctc", "--force", *ON_CPU),
        (),
        ("tiny.safetensors",),
    ),
}
