"""Record what the shipped model says about the samples: `make golden` writes `samples.json`, whose diff is read.

Texts, flags and verdicts are strings, confidences and other probabilities are floats, places are whole pixels. Each
word, flag or hit stands on a line of its own.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from drethtr import Recognizer, check_text, open_index, open_originals, transcribe_page
from drethtr.documents.page import TextLine
from drethtr.images.line import Line, load_line
from drethtr.pages.segmentation import segmentation_named
from drethtr.recognition.confidence.error_rate import doubt_of
from drethtr.recognition.reading import Reading
from drethtr.search.build import open_builder

SAMPLES = Path(__file__).parents[2] / "samples"
LETTER = SAMPLES / "page" / "letter.jpg"
GOLDEN = Path(__file__).with_name("samples.json")

QUERIES = (
    "Tuesday", "parcel", '"left at"', "the", "kitch*", "?uay", "Elenor~", "sweet OR sown", "ferry -fog", "war~", "1906",
)  # fmt: skip
"""Among them words that were misread, and some that are not there."""

Record = dict[str, Any]


def sample_lines() -> dict[str, Line]:
    """The sample lines by name."""
    return {path.stem: load_line(path) for path in sorted(SAMPLES.glob("*.png"))}


def odd_lines() -> dict[str, Line]:
    """Two sample lines that are damaged, which the model flags."""
    mirrored, faded = load_line(SAMPLES / "000003.png"), load_line(SAMPLES / "000005.png").copy()
    faded[len(faded) // 2 :] = 255
    return {"000003 mirrored": mirrored[:, ::-1].copy(), "000005 without its lower half": faded}


def read(decoder: str, precision: str) -> Record:
    """The readings of the lines and, in float32, of the page; and the error rate that is expected of the lines."""
    recognizer = Recognizer.load(decoder=decoder, precision=precision, device="cpu", threads=1)
    images = sample_lines() | odd_lines()
    readings = recognizer.read_lines(list(images.values()))
    found = dict(zip(images, map(of_reading, readings), strict=True))
    if precision == "float32":
        for number, line in enumerate(transcribe_page(LETTER, recognizer).lines, start=1):
            found[f"letter, line {number}"] = of_page_line(line)
    predict = recognizer.model.record.error_rate(recognizer.strategy)
    assert predict is not None
    return found | {"expected error rate and its interval": rounded(predict(doubt_of(readings)))}


def of_reading(reading: Reading) -> Record:
    """The record of a line image; edges from its left."""
    return {
        "text": reading.text,
        "confidence": round(reading.confidence, 4),
        "words": [[word.text, round(word.confidence, 4), *pixels(word.left, word.right)] for word in reading.words()],
        "flags": [[flag.kind, *pixels(flag.left, flag.right)] for flag in reading.flags],
    }


def of_page_line(line: TextLine) -> Record:
    """The record of a line of a page; boxes on the page."""
    text = line.transcription
    assert text is not None and text.confidence is not None
    return {
        "text": text.text,
        "confidence": round(text.confidence, 4),
        "words": [[word.text, round(word.confidence or 0.0, 4), *(word.box or ())] for word in text.words],
        "flags": [[flag.kind] for flag in text.flags],
    }


def checked() -> Record:
    """The check of each sample line against its text without the second word, and with a wrong and an extra one."""
    recognizer = Recognizer.load(decoder="ctc", device="cpu", threads=1)
    found = {}
    for name, line in sample_lines().items():
        first, _, *others, last = (SAMPLES / f"{name}.gt.txt").read_text(encoding="utf-8").split()
        check = check_text(recognizer, line, " ".join([first, *others, last[::-1], "forever"]))
        words = [
            [word.text, round(word.probability, 4), *pixels(word.left, word.right), word.kind.value, word.instead]
            for word in check.words
        ]
        found[name] = {"probability": round(check.probability, 4), "words": words}
    return found


def searched() -> Record:
    """The hits of some queries on the sample page."""
    recognizer = Recognizer.load(decoder="ctc", device="cpu", threads=1, posteriors=True)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.sqlite"
        with open_builder(path, recognizer, segmentation_named("auto")) as builder:
            builder.read(*open_originals(LETTER))
        with open_index(path) as index:
            return {
                query: [
                    [hit.line, round(hit.probability, 4), *hit.box, hit.snippet]
                    for hit in index.search(query, least=0.001)
                ]
                for query in QUERIES
            }


def pixels(*edges: float) -> list[int]:
    """Edges as whole pixels."""
    return [round(edge) for edge in edges]


def rounded(probabilities: Iterable[float]) -> list[float]:
    """Probabilities with four digits."""
    return [round(float(value), 4) for value in probabilities]


PARTS: dict[str, Callable[[], Record]] = {
    "read by ctc": lambda: read("ctc", "float32"),
    "read by joint": lambda: read("joint", "float32"),
    "read by careful": lambda: read("careful", "float32"),
    "read by ctc in int8": lambda: read("ctc", "int8"),
    "read by joint in int8": lambda: read("joint", "int8"),
    "read by careful in int8": lambda: read("careful", "int8"),
    "checked": checked,
    "searched": searched,
}


def recorded() -> dict[str, Record]:
    """The record on file."""
    found: dict[str, Record] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def written(value: Any, lead: str = "") -> str:
    """A value as JSON, with each entry of an object and each list of a list on a line of its own."""
    if isinstance(value, dict) and value:
        rows = [f"{json.dumps(key, ensure_ascii=False)}: {written(part, lead + ' ')}" for key, part in value.items()]
        ends = "{}"
    elif isinstance(value, list) and value and isinstance(value[0], list):
        rows, ends = [written(row) for row in value], "[]"
    else:
        return json.dumps(value, ensure_ascii=False)
    return f"{ends[0]}\n" + ",\n".join(f"{lead} {row}" for row in rows) + f"\n{lead}{ends[1]}"


if __name__ == "__main__":
    GOLDEN.write_text(written({name: part() for name, part in PARTS.items()}) + "\n", encoding="utf-8")
