"""The libraries of the page are those that web/vendor.js copied, with their licences."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from drethtr import editing

PAGE = Path(editing.__file__).parent / "static" / "vendor"


@pytest.mark.parametrize("folder", [PAGE, Path(__file__).parent / "vendor"], ids=["page", "tests"])
def test_hashes_and_licences(folder):
    listed = set()
    for package in json.loads((folder / "vendored.json").read_text(encoding="utf-8")):
        assert (folder / f"LICENSE.{package['name']}.txt").stat().st_size
        for name, expected in package["sha256"].items():
            assert sha256((folder / name).read_bytes()).hexdigest() == expected, name
            listed.add(name)
    assert listed == {file.name for file in folder.glob("*.js")}
