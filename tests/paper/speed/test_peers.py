from importlib.util import find_spec

import numpy as np
import pytest
import torch
from conftest import written

from drethtr.base.errors import MissingExtraError
from drethtr.images.line import load_line
from drethtr.paper.speed import peers
from drethtr.paper.speed.peers import KnownLine, command_contenders, save, trocr_image

CPU = torch.device("cpu")
LINES = [KnownLine(written("abc"), "abc"), KnownLine(written("a longer line"), "a longer line")]


@pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed")
def test_trocr_has_the_published_sizes():
    with torch.device("meta"):
        sizes = [
            sum(weight.numel() for weight in build().parameters())
            for build in (peers.trocr_small, peers.trocr_base, peers.trocr_large)
        ]
    assert [round(size / 1e6) for size in sizes] == [62, 334, 558]


def test_trocr_sees_the_whole_line_as_a_square():
    image = trocr_image(LINES[1].line)
    assert image.shape == (3, 384, 384) and -1 <= image.min() < 0 < image.max() <= 1
    assert torch.equal(image[0], image[2])


def test_says_what_to_install(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'drethtr\[bench\]'"):
        peers.trocr_contenders(LINES, 1, CPU)
    assert peers.rapidocr_contenders([known.line for known in LINES], 1) == []


def test_commands_read_the_lines_from_files(tmp_path, monkeypatch):
    """With stand-ins for the commands: what they are given is all that can be checked everywhere."""
    files = save([known.line for known in LINES], tmp_path)
    assert all(np.array_equal(load_line(file), known.line) for file, known in zip(files, LINES, strict=True))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command_contenders(files, None, tesseract=True) == []
    for name in ("tesseract", "kraken"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/{name}.asked\n')
        (tmp_path / name).chmod(0o755)
    assert [contender.name for contender in command_contenders(files, None, tesseract=True)] == ["tesseract"]
    for contender in command_contenders(files, tmp_path / "a.mlmodel", tesseract=True):
        contender.prepare()()
    assert (tmp_path / "files.txt").read_text().split() == list(map(str, files))
    assert (tmp_path / "tesseract.asked").read_text().split() == [
        str(tmp_path / "files.txt"), str(tmp_path / "tesseract"), "--psm", "7"
    ]  # fmt: skip
    before, _, after = (tmp_path / "kraken.asked").read_text().partition(" ocr ")
    assert before.startswith(f"-r --threads {torch.get_num_threads()} -I {tmp_path}")
    assert after.split() == ["-m", str(tmp_path / "a.mlmodel"), "--no-segmentation"]
