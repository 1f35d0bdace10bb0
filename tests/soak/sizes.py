"""Measure peak memory on large inputs: python tests/soak/sizes.py page|pdf|folder [NUMBER].

page    a page with NUMBER given lines (10,000)
pdf     a PDF of NUMBER pages (1,000)
folder  a folder of NUMBER line images (100,000), of which all but a hundred have results
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]

import numpy as np  # noqa: E402
from conftest import varied_model, written  # noqa: E402
from PIL import Image  # noqa: E402
from programs import source_first  # noqa: E402

from drethtr.recognition.model.file import save_model  # noqa: E402

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
LEFT = 100
"""Scans of a large folder that have no results yet."""


def page(folder: Path, number: int) -> list[str]:
    """Write a page with many lines, a hundred per row; returns arguments to read it."""
    width, height = 6000, 20 * -(-number // 100)
    Image.fromarray(np.tile(np.asarray(written("ab", 20)), (height // 20, width // 34 + 1))[:, :width]).save(
        folder / "a.png"
    )
    lines = []
    for line in range(number):
        x, y = line % 100 * 60, line // 100 * 20
        box = f"{x},{y} {x + 59},{y} {x + 59},{y + 19} {x},{y + 19}"
        lines.append(f'<TextLine id="l{line}"><Coords points="{box}"/></TextLine>')
    size = f'imageFilename="a.png" imageWidth="{width}" imageHeight="{height}"'
    region = f'<TextRegion id="r"><Coords points="0,0 9,0 9,9"/>{"".join(lines)}</TextRegion>'
    (folder / "a.xml").write_text(f'<PcGts xmlns="{NAMESPACE}"><Page {size}>{region}</Page></PcGts>')
    return ["a.xml", "--format", "page,alto,json,pdf", "--output", "out"]


def pdf(folder: Path, number: int) -> list[str]:
    """Write a book of many small pages; returns arguments to read it."""
    scan = Image.fromarray(np.asarray(written("abc def", 60)))
    scan.save(folder / "a.pdf", save_all=True, append_images=[scan] * (number - 1), resolution=300)
    return ["a.pdf", "--lines", "whole", "--format", "pdf,txt", "--output", "out"]


def folder(folder: Path, number: int) -> list[str]:
    """Write a large folder of line images, most with results; returns arguments to read it."""
    for name in ("scans", "out"):
        (folder / name).mkdir()
    Image.fromarray(np.asarray(written("abc"))).save(folder / "a.png")
    content = (folder / "a.png").read_bytes()
    for line in range(number):
        (folder / "scans" / f"{line:06}.png").write_bytes(content)
        if line >= LEFT:
            (folder / "out" / f"{line:06}.txt").write_text("abc\n")
    return ["scans", "--output", "out"]


MAKERS: dict[str, tuple[Callable[[Path, int], list[str]], int]] = {
    "page": (page, 10_000),
    "pdf": (pdf, 1_000),
    "folder": (folder, 100_000),
}


def main() -> None:
    """Generate an input, read it with a small model, and print the peak memory."""
    make, usual = MAKERS[sys.argv[1]]
    number = int(sys.argv[2]) if len(sys.argv) > 2 else usual
    with tempfile.TemporaryDirectory() as place:
        save_model(varied_model(), Path(place) / "tiny.safetensors")
        arguments = make(Path(place), number)
        command = [sys.executable, "-m", "drethtr", "transcribe", *arguments, "--model", "tiny.safetensors"]
        with (Path(place) / "said").open("wb") as said:
            options = ["--device", "cpu", "--threads", "1"]
            code = subprocess.run(
                [*command, *options], cwd=place, env=source_first(), stdout=said, stderr=said
            ).returncode
        told = (Path(place) / "said").read_text().splitlines()[-1:]
        files = len(list((Path(place) / "out").iterdir()))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{sys.argv[1]} {number:,}: exit code {code}, {files:,} files, peak {peak:,.0f} MB; {told}")  # noqa: T201


if __name__ == "__main__":
    main()
