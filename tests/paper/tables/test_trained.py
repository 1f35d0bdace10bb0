from dataclasses import replace
from io import BytesIO

import pytest
from conftest import written
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample
from drethtr.paper.tables.material import DataFiles
from drethtr.paper.tables.result import LINES
from drethtr.paper.tables.trained import Trained


def store(path, text, page):
    file = BytesIO()
    Image.fromarray(written(text)).save(file, "PNG")
    store_parquet([Sample(file.getvalue(), text, set="hand", page=page)], path)


@pytest.mark.parametrize("shared", [("train", "val"), ("train", "test"), ("val", "test")], ids="-".join)
def test_a_page_in_two_splits_is_refused_before_anything_is_trained(shared, conditions, tmp_path):
    for split in ("train", "val", "test"):
        store(tmp_path / f"hand.{split}.parquet", split, "page 7" if split in shared else f"of {split}")
    own = replace(conditions.material, sets={"iam": DataFiles.of([str(tmp_path / "hand")])})
    with pytest.raises(DataError, match="page 'page 7' of 'hand' is in"):
        Trained().prepare(replace(conditions, material=own), seed=0)


def test_characters_outside_the_alphabet_are_reported(conditions, tmp_path):
    store(tmp_path / "hand.test.parquet", "a € e", "page 7")
    lines, said = replace(conditions.material.lines("iam"), test=(str(tmp_path / "hand.test.parquet"),)), []
    own = replace(conditions, material=replace(conditions.material, sets={"iam": lines}), say=said.append)
    outcome = Trained().measure(own, seed=0)
    assert outcome.figures[LINES] == 1 and outcome.lines[0].text == "a € e"
    assert "reading 1 test lines (1 characters are not in the model's alphabet)" in said[-1]
