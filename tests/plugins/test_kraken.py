"""kraken with a model of ours, where kraken is installed."""

from pathlib import Path

import pytest
from PIL import Image

pytest.importorskip("kraken")
from kraken.containers import BaselineLine, BBoxLine, Segmentation
from kraken.models import load_models

from drethtr.base.errors import DataError
from drethtr.plugins.kraken import DrethtrModel, load
from drethtr.recognition.recognizer import SHIPPED

SAMPLE = Path(__file__).parents[2] / "samples" / "000003.png"


def segmented(*lines, type="baselines"):
    return Segmentation(type, "page.png", "horizontal-lr", False, lines=list(lines))


@pytest.fixture(scope="module")
def model():
    """Found as kraken finds models, through the entry point."""
    [found] = load_models(SHIPPED, tasks=["recognition"])
    assert isinstance(found, DrethtrModel)
    return found


def test_training_by_kraken_is_refused_with_advice(model):
    for call in (model.state_dict, lambda: model.load_state_dict({}), lambda: model.load_state_dict({}, strict=True)):
        with pytest.raises(NotImplementedError, match="drethtr model finetune"):
            call()


def test_lines_are_read_with_the_places_and_confidences_of_their_characters(model):
    line = Image.open(SAMPLE).convert("L")
    page = Image.new("L", (line.width + 200, 3 * line.height), 255)
    page.paste(line, (100, line.height))
    top, bottom, right = line.height, 2 * line.height, 100 + line.width
    foot = top + round(0.75 * line.height)
    boundary = [(100, top), (right, top), (right, bottom), (100, bottom)]
    written = BaselineLine("a", baseline=[(100, foot), (right, foot)], boundary=boundary)
    away = [(5000, 4990), (5001, 4990), (5001, 5001)]
    nowhere = BaselineLine("b", baseline=[(5000, 5000), (5001, 5000)], boundary=away)
    bare = BaselineLine("c")
    read, *unread = model.predict(page, segmented(written, nowhere, bare))
    assert read.prediction == model.recognizer.read([SAMPLE])[0].text
    starts, ends = zip(*read._cuts, strict=True)
    assert len(read.prediction) == len(starts) == len(read.confidences)
    assert list(starts) == sorted(starts) and 0 <= starts[0] < ends[-1] <= line.width
    assert starts[len(starts) // 2] == pytest.approx(line.width / 2, rel=0.3)
    assert all(0 <= confidence <= 1 for confidence in read.confidences)
    assert [(record.id, record.prediction) for record in unread] == [("b", ""), ("c", "")]


def test_boxes_are_refused_with_the_remedy(model):
    box = segmented(BBoxLine("a", bbox=(0, 0, 50, 20)), type="bbox")
    with pytest.raises(DataError, match="segment -bl"):
        list(model.predict(Image.new("L", (60, 30)), box))


def test_files_of_others_are_left_to_other_loaders(tmp_path):
    (tmp_path / "other.mlmodel").write_bytes(b"something else")
    with pytest.raises(ValueError, match="not a complete safetensors file"):
        load(tmp_path / "other.mlmodel")
    with pytest.raises(ValueError, match="only recognizes lines"):
        load(SHIPPED, tasks=["segmentation"])
