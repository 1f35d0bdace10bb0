"""The libraries of the page are those that web/vendor.js copied, with their licences."""

import json
from hashlib import sha256
from pathlib import Path

from drethtr import editing

PAGE = Path(editing.__file__).parent / "static" / "vendor"


def test_hashes_and_licences():
    listed = set()
    for package in json.loads((PAGE / "vendored.json").read_text(encoding="utf-8")):
        assert (PAGE / f"LICENSE.{package['name']}.txt").stat().st_size
        for name, expected in package["sha256"].items():
            assert sha256((PAGE / name).read_bytes()).hexdigest() == expected, name
            listed.add(name)
    assert listed == {file.name for file in PAGE.glob("*.js")}
