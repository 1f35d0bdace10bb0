"""Measure another recognizer, as it is distributed, on the test lines of the shipped model.

python recipes/rivals.py rapidocr lines     # pip install 'drethtr[bench]'
python recipes/rivals.py tesseract lines    # Debian: tesseract-ocr-eng tesseract-ocr-fra tesseract-ocr-deu

LINES contains SET.test.parquet; the ending of SET is the language that tesseract is told. The table is printed.
"""

import argparse
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from drethtr.datasets.layouts.folder import store_folder
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample, clean_lines, page_of
from drethtr.evaluation.metrics import bootstrap, score

Reader = Callable[[str, Sequence[Sample]], Sequence[str]]
"""Reads the lines of a set, given its name."""

LANGUAGES = {"en": "eng", "fr": "fra", "de": "deu", "mul": "eng+fra+deu"}


def rapidocr() -> Reader:
    """The recognizer of rapidocr, without line detection and without a threshold."""
    from rapidocr import RapidOCR
    from rapidocr.ch_ppocr_rec.typings import TextRecInput

    engine: Any = RapidOCR(params={"Rec.rec_batch_num": 1, "Global.log_level": "error"})
    engine(np.zeros((48, 320, 3), np.uint8), use_det=False, use_cls=False, use_rec=True)  # loads the model

    def read(name: str, lines: Sequence[Sample]) -> list[str]:
        colored = [np.repeat(line.line()[:, :, None], 3, axis=2) for line in lines]
        return [engine.text_rec(TextRecInput(img=[image])).txts[0] for image in colored]

    return read


def tesseract() -> Reader:
    """Tesseract in the language of the set, one call for all its lines."""

    def read(name: str, lines: Sequence[Sample]) -> list[str]:
        with TemporaryDirectory() as work:
            folder = Path(work)
            store_folder(lines, folder / "lines")
            files = sorted((folder / "lines").glob("*.png"))
            (folder / "files.txt").write_text("\n".join(map(str, files)))
            language = LANGUAGES[name.rpartition("_")[2]]
            command = ["tesseract", "files.txt", "read", "--psm", "7", "-l", language]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            pages = (folder / "read.txt").read_text(encoding="utf-8").split("\f")
        return [" ".join(page.split()) for page in pages[: len(lines)]]

    return read


READERS = {"rapidocr": rapidocr, "tesseract": tesseract}


def table(folder: Path, read: Reader) -> str:
    """Error rates of every set of test lines in a folder, and of all together, with 95 % intervals over pages."""
    rows = ["| set | lines | CER % | WER % |", "|---|---:|---:|---:|"]
    every: tuple[list[Sample], list[str]] = [], []
    for file in sorted(folder.glob("*.test.parquet")):
        name = file.name.split(".")[0]
        lines = list(clean_lines(open_all([str(file)])))
        found = read(name, lines)
        rows.append(row(name, lines, found))
        every[0].extend(lines)
        every[1].extend(found)
    return "\n".join([*rows, row("all", *every), ""])


def row(name: str, lines: Sequence[Sample], found: Sequence[str]) -> str:
    """The error rates of some lines."""
    rates = bootstrap(score([sample.text for sample in lines], found), list(map(page_of, lines)))
    cer, low, high, wer = (100 * rate for rate in (rates.cer, rates.cer_low, rates.cer_high, rates.wer))
    interval = f" [{low:.1f}, {high:.1f}]" if rates.sure else ""
    return f"| {name} | {len(lines)} | {cer:.1f}{interval} | {wer:.1f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("lines", type=Path, help="folder of SET.test.parquet")
    wanted = parser.parse_args()
    print(table(wanted.lines, READERS[wanted.reader]()))  # noqa: T201


if __name__ == "__main__":
    main()
