"""What the shipped model reads in the samples, decoder by decoder: `make golden` records it, `test_golden.py` compares.

A record is one JSON object; each word stands on a line of its own, so that a diff shows what a change of the code does
to texts, confidences, flags and places.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drethtr import Recognizer, transcribe_page
from drethtr.documents.page import TextLine
from drethtr.images.line import Line, load_line
from drethtr.recognition.reading import Reading

SAMPLES = Path(__file__).parents[2] / "samples"
RECORD = Path(__file__).with_name("samples.json")

DECODERS = ("ctc", "joint", "careful")

Record = dict[str, Any]
"""The text of a line, its confidence, its words with confidence and edges, and its flags with edges."""


def lines() -> dict[str, Line]:
    """The sample lines by name, and two that are damaged, which the model flags."""
    whole = {path.stem: load_line(path) for path in sorted(SAMPLES.glob("*.png"))}
    faded = whole["000005"].copy()
    faded[len(faded) // 2 :] = 255
    return whole | {"000003 mirrored": whole["000003"][:, ::-1].copy(), "000005 without its lower half": faded}


def record_of(reading: Reading) -> Record:
    """The record of a line image; edges in pixels from its left."""
    return {
        "text": reading.text,
        "confidence": round(reading.confidence, 4),
        "words": [
            [word.text, round(word.confidence, 4), round(word.left, 1), round(word.right, 1)]
            for word in reading.words()
        ],
        "flags": [[flag.kind, round(flag.left, 1), round(flag.right, 1)] for flag in reading.flags],
    }


def record_of_page_line(line: TextLine) -> Record:
    """The record of a line of a page; places are left, top, right and bottom in pixels of the page."""
    text = line.transcription
    assert text is not None and text.confidence is not None
    return {
        "text": text.text,
        "confidence": round(text.confidence, 4),
        "words": [[word.text, round(word.confidence or 0, 4), *(word.box or ())] for word in text.words],
        "flags": [[flag.kind] for flag in text.flags],
    }


def read_samples(decoder: str, precision: str) -> Iterator[tuple[str, Record]]:
    """The record of each sample line and, in float32, of each line of the sample page."""
    recognizer = Recognizer.load(decoder=decoder, precision=precision, device="cpu", threads=1)
    images = lines()
    yield from zip(images, map(record_of, recognizer.read_lines(list(images.values()))), strict=True)
    if precision == "float32":
        for number, line in enumerate(transcribe_page(SAMPLES / "page" / "letter.jpg", recognizer).lines, start=1):
            yield f"letter, line {number}", record_of_page_line(line)


def recorded() -> dict[str, dict[str, Record]]:
    """The records on file, by decoder and precision ("ctc float32"), then by line."""
    found: dict[str, dict[str, Record]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    found = {f"{name} {kind}": dict(read_samples(name, kind)) for kind in ("float32", "int8") for name in DECODERS}
    indented = json.dumps(found, ensure_ascii=False, indent=1)
    rows = re.compile(r"\[\s+([^\[\]{}]+?)\s+\]")  # of a word or a flag
    flat = rows.sub(lambda row: "[" + " ".join(row[1].split()) + "]", indented)
    RECORD.write_text(flat + "\n", encoding="utf-8")
