"""What other packages bring is found by its name, without anybody importing it."""

import subprocess
import sys

import pytest

PLUGIN = """
from dataclasses import dataclass

from drethtr.recognition.decoding.strategies import DECODERS
from drethtr.recognition.decoding.strategies import Greedy


@dataclass(frozen=True)
class Careless(Greedy):
    pass


DECODERS["careless"] = Careless()
"""

BY_KIND = """
from drethtr.base.config import from_dict
from drethtr.recognition.decoding.strategies import Strategy
print(from_dict(Strategy, {"kind": "Careless"}))
"""

BY_NAME = """
from drethtr.recognition.decoding.strategies import strategy_named
print(strategy_named("careless"))
"""


def run(code, folder):
    start = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    return subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True)


@pytest.fixture
def installed(tmp_path):
    """A folder with an installed package that has a plugin."""
    (tmp_path / "other_package.py").write_text(PLUGIN)
    metadata = tmp_path / "other_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: other-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[drethtr.plugins]\ncareless = other_package\n")
    return tmp_path


@pytest.mark.parametrize("code", [BY_KIND, BY_NAME], ids=["kind", "name"])
def test_a_plugin_is_found(installed, code):
    assert run(code, installed).stdout == "Careless()\n"


@pytest.mark.parametrize("code", [BY_KIND, BY_NAME], ids=["kind", "name"])
def test_without_it_the_word_is_unknown(tmp_path, code):
    found = run(code, tmp_path)
    assert found.returncode and "ConfigError" in found.stderr and "areless'" in found.stderr


def test_a_plugin_that_cannot_be_imported_is_named(installed):
    (installed / "other_package.py").write_text("import nowhere_to_be_found")
    found = run(BY_NAME, installed)
    assert "(other_package) of the package other-package cannot be imported: No module named 'nowhere" in found.stderr


def test_known_words_need_no_plugin(installed):
    code = "from drethtr.recognition.decoding.strategies import strategy_named as named; import sys; named('greedy'); "
    assert run(code + "print('other_package' in sys.modules)", installed).stdout == "False\n"
