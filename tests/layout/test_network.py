"""The file of a line detector."""

import json

import numpy as np
import pytest
from made_pages import letter

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.layout.finder import Role
from drethtr.layout.finders import finder_named
from drethtr.layout.network import MAPS, SHIPPED, TEXT, LineModel, load_lines, save_lines
from drethtr.layout.rapid import RapidDetector
from drethtr.recognition.model.file import LINES, load_model
from drethtr.recognition.model.file import SHIPPED as READER
from drethtr.recognition.model.weights import read_file, write_tensors


def test_what_is_saved_is_loaded(tmp_path):
    model = LineModel(load_lines(SHIPPED).weights, {"name": "mine"})
    save_lines(model, tmp_path / "a.safetensors")
    again = load_lines(tmp_path / "a.safetensors")
    assert again.hash == model.hash and again.card == {"name": "mine"}
    save_lines(again, tmp_path / "b.safetensors", small=True)
    small = load_lines(tmp_path / "b.safetensors")
    assert (tmp_path / "b.safetensors").stat().st_size < 2.6e6
    save_lines(small, tmp_path / "c.safetensors", small=True)
    assert load_lines(tmp_path / "c.safetensors").hash == small.hash, "8 bits of 8 bits are the same"


def test_a_file_is_chosen_by_its_name(tmp_path):
    path = tmp_path / "mine.safetensors"
    path.write_bytes(SHIPPED.read_bytes())
    page = letter()
    found, included = finder_named(str(path)).find(page.gray), RapidDetector().find(page.gray)
    assert len(found) == len(page.lines) == len(included)
    assert all(np.array_equal(a.polygon, b.polygon) for a, b in zip(found, included, strict=True))


def test_a_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "mine.safetensors"
    path.write_bytes(SHIPPED.read_bytes())
    page = letter().gray
    assert len(finder_named(str(path)).find(page)) > 1
    weights = load_lines(SHIPPED).weights
    blind = {**weights, "head.largest.bias": np.full(1, -50, np.float32)}
    save_lines(LineModel(blind), path)
    assert len(finder_named(str(path)).find(page)) == 0


def test_other_files_are_refused(tmp_path):
    with pytest.raises(CheckpointError, match="but a drethtr model"):
        finder_named(str(READER))
    with pytest.raises(CheckpointError, match="but a drethtr model that finds lines"):
        load_model(SHIPPED)
    with pytest.raises(CheckpointError, match="no such model file"):
        finder_named(str(tmp_path / "none.safetensors"))
    with pytest.raises(ConfigError, match="unknown line segmentation"):
        finder_named("mine")


def test_weights_that_do_not_fit_are_named(tmp_path):
    path = tmp_path / "bad.safetensors"
    weights = dict(load_lines(SHIPPED).weights)
    del weights["backbone.stem.enter.bias"]
    save_lines(LineModel(weights), path)
    with pytest.raises(CheckpointError, match=r"bad\.safetensors.*lack backbone\.stem\.enter\.bias"):
        finder_named(str(path)).find(letter().gray)


def test_more_maps_than_needed_are_left_out_and_fewer_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    model = load_lines(SHIPPED)
    tensors, metadata = read_file(SHIPPED)
    more = {name: np.concatenate((tensors[name][:1], tensors[name])) for name in tensors if "leave" in name}
    header = json.loads(metadata[LINES])
    write_tensors(tensors | more, path, {LINES: json.dumps(header | {"maps": ["smell", *MAPS]})})
    assert load_lines(path).hash == model.hash
    for maps in (["text", "smell"], ["smell", *MAPS], "text", None):
        write_tensors(tensors, path, {LINES: json.dumps(header | {"maps": maps})})
        with pytest.raises(CheckpointError, match=r"lacks maps|other weights"):
            load_lines(path)


def test_lines_that_are_no_text_of_the_page_are_left_out(tmp_path):
    page, weights = letter(), dict(load_lines(SHIPPED).weights)
    weights["maps.leave.weight"] = np.zeros_like(weights["maps.leave.weight"])
    for chance, expected in ((0.9, len(page.lines)), (0.65, len(page.lines)), (0.5, 0)):
        bias = np.full(len(MAPS), -5, np.float32)
        bias[TEXT] = np.log(chance / (1 - chance))
        bias[MAPS.index("margin")] = 1
        path = tmp_path / f"{chance}.safetensors"
        save_lines(LineModel(weights | {"maps.leave.bias": bias}), path)
        found = finder_named(str(path)).find(page.gray)
        assert len(found) == expected and all(line.role is Role.MARGIN for line in found)
