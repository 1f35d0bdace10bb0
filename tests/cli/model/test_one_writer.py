"""Whoever comes second names the program that is writing, and writes nothing."""

import numpy as np
import pytest
from conftest import written
from PIL import Image

from drethtr.base.locks import claimed
from drethtr.training.loop import SNAPSHOT

RUN = 'samples = 8\ntrain = [{ kind = "Real", paths = ["few"] }]\nvalidation = { paths = ["few"] }\n'


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with 26 lines, two run files and additions to a card."""
    (tmp_path / "few").mkdir()
    for number in range(26):
        Image.fromarray(np.asarray(written("abc"))).save(tmp_path / "few" / f"{number}.png")
        (tmp_path / "few" / f"{number}.gt.txt").write_text("abc")
    (tmp_path / "run.toml").write_text(RUN)
    (tmp_path / "layout.toml").write_text(RUN.replace("Real", "Marked"))
    (tmp_path / "card.toml").write_text('license = "CC0"')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "written"),
    [
        (("info", "MODEL", "--add", "card.toml"), "MODEL"),
        (("calibrate", "MODEL", "few", "--force"), "MODEL"),
        (("language", "MODEL", "few", "--force"), "MODEL"),
        (("predict-cer", "few", "--model", "MODEL", "--learn", "MODEL", "--force"), "MODEL"),
        (("rescorer", "MODEL", "few", "--characters", 12_000, "--force"), "MODEL"),
        (("train", "run.toml", "--output", "out"), f"out/{SNAPSHOT}"),
        (("train-layout", "layout.toml", "--output", "out"), f"out/{SNAPSHOT}"),
        (("finetune", "--layout", "few", "--output", "out/a.safetensors", "--force"), "out/a.safetensors"),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_what_another_program_is_writing_is_left_alone(drethtr, place, tiny_path, command, written):
    before = tiny_path.read_bytes()
    with claimed(place / (tiny_path if written == "MODEL" else written)):
        refused = drethtr(*(tiny_path if word == "MODEL" else word for word in command))
    assert refused.code == 2 and "being written by process" in refused.err, refused.err
    assert tiny_path.read_bytes() == before and not list(place.glob("out/*"))
