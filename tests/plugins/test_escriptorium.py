"""The engine of eScriptorium against a stub of its interface, which is only part of the application.

The stub has the names and fields that published engines use (adibender/escriptorium-engine-tesseract and -trocr).
"""

import sys
from dataclasses import make_dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from PIL import Image, ImageOps

from drethtr.recognition.recognizer import SHIPPED, Recognizer

SAMPLE = Path(__file__).parents[2] / "samples" / "000003.png"
OPTIONS = SimpleNamespace(steps="both")

FIELDS = {
    "EngineSpec": "name label can_segment can_recognize can_train model_sources file_extensions has_default_segmenter",
    "Line": "baseline boundary typology",
    "LineInput": "id baseline boundary",
    "ModelInfo": "job architecture seg_type",
    "RecognitionResult": "line_id text graphemes",
    "SegmentationResult": "lines regions",
}


@pytest.fixture
def engine(monkeypatch):
    """Found as eScriptorium finds engines, by the entry point."""
    base = ModuleType("engines.base")
    for name, fields in FIELDS.items():
        setattr(base, name, make_dataclass(name, fields.split(), frozen=True))
    base.BaseEngine = type("BaseEngine", (), {})
    base.EngineError = type("EngineError", (Exception,), {})
    base.ModelValidationError = type("ModelValidationError", (Exception,), {})
    base.SOURCE_FILE = "file"
    monkeypatch.setitem(sys.modules, "engines", ModuleType("engines"))
    monkeypatch.setitem(sys.modules, "engines.base", base)
    monkeypatch.delitem(sys.modules, "drethtr.plugins.escriptorium", raising=False)
    entry = EntryPoint("drethtr", "drethtr.plugins.escriptorium:DrethtrEngine", "escriptorium.engines")
    yield entry.load()()
    del sys.modules["drethtr.plugins.escriptorium"]


def line_input(id, baseline, boundary):
    return sys.modules["engines.base"].LineInput(id, baseline, boundary)


def whole(image):
    """The line that an image shows."""
    right, bottom = image.size
    foot = round(0.75 * bottom)
    return line_input("7", [[0, foot], [right, foot]], [[0, 0], [right, 0], [right, bottom], [0, bottom]])


def test_lines_are_found_and_read(engine):
    line = Image.open(SAMPLE).convert("RGB")
    page = Image.new("RGB", (line.width + 200, 6 * line.height), "white")
    page.paste(line, (100, 2 * line.height))
    found = engine.segment(page, options=OPTIONS)
    assert found.lines and found.regions == ()
    top, bottom, right = 2 * line.height, 3 * line.height, 100 + line.width
    foot = top + round(0.75 * line.height)
    given = line_input("7", [[100, foot], [right, foot]], [[100, top], [right, top], [right, bottom], [100, bottom]])
    bare = line_input("8", None, None)
    [result] = engine.recognize(page, [given, bare], model=None, options=None)
    [reading] = Recognizer.load().read([SAMPLE])
    assert (result.line_id, result.text) == ("7", reading.text)
    assert "".join(grapheme["c"] for grapheme in result.graphemes) == reading.text
    assert [grapheme["confidence"] for grapheme in result.graphemes] == pytest.approx(
        [character.confidence for character in reading.characters], abs=0.05
    )
    for grapheme, character in zip(result.graphemes, reading.characters, strict=True):
        columns, rows = zip(*grapheme["poly"], strict=True)
        assert min(columns) == pytest.approx(100 + character.left, abs=8) and top <= min(rows) < max(rows) <= bottom


def test_scans_with_more_bits_or_transparent_paper_are_read_like_others(engine):
    line = Image.open(SAMPLE).convert("L")
    deep = Image.fromarray(np.asarray(line).astype(np.uint16) * 257)
    clear = Image.merge("LA", (Image.new("L", line.size), ImageOps.invert(line)))
    texts = [next(engine.recognize(page, [whole(line)], model=None, options=None)).text for page in (line, deep, clear)]
    assert texts[0] and texts == texts[:1] * 3


def test_places_are_those_of_stored_pixels(engine):
    line = Image.open(SAMPLE).convert("L")
    line.getexif()[0x112] = 6  # to be turned by a quarter
    [result] = engine.recognize(line, [whole(line)], model=None, options=None)
    assert len(result.text) > 20


def test_models_are_told_from_other_files(engine, tmp_path):
    base = sys.modules["engines.base"]
    info = engine.validate_model(str(SHIPPED))
    assert info.job == "recognition" and info.architecture.startswith("drethtr ")
    other = tmp_path / "other.safetensors"
    other.write_bytes(b"something else")
    with pytest.raises(base.ModelValidationError, match="not a complete safetensors file"):
        engine.validate_model(str(other))
    model = SimpleNamespace(file=SimpleNamespace(path=str(other)))
    with pytest.raises(base.EngineError, match="not a complete safetensors file"):
        list(engine.recognize(Image.new("L", (90, 90)), [], model=model, options=None))


def test_an_image_that_cannot_be_used_is_an_error_of_the_engine(engine):
    image = Image.fromarray(np.full((40, 400), 1e9, np.float32))
    for work in (
        lambda: engine.segment(image, options=OPTIONS),
        lambda: list(engine.recognize(image, [], model=None, options=None)),
    ):
        with pytest.raises(sys.modules["engines.base"].EngineError, match="expected floats from 0 to 1"):
            work()


def test_it_declares_what_it_does(engine):
    assert engine.spec.can_segment and engine.spec.can_recognize and not engine.spec.can_train
    assert engine.spec.file_extensions == ("safetensors",)
    assert engine.segment(Image.new("L", (90, 90)), options=SimpleNamespace(steps="regions")).lines == ()
