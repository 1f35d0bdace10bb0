"""The names that the package promises."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import drethtr
from drethtr import api
from drethtr.base.errors import ConfigError


def test_promised_names_are_there():
    """On their list, for `import *`, and before any is loaded."""
    listed = {alias.asname for node in ast.parse(Path(api.__file__).read_text()).body[1:] for alias in node.names}
    assert {"Recognizer", "Page", "transcribe_page"} < listed and {*listed, "__version__"} == set(drethtr.__all__)
    assert all(getattr(drethtr, promise) is not None for promise in listed)
    code = "import drethtr; print(*dir(drethtr)); from drethtr import *; Recognizer, read_page"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert set(drethtr.__all__) <= set(shown.split())


def test_the_version_is_that_of_the_distribution():
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert pyproject["project"]["version"] == drethtr.__version__


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="Recogniser"):
        drethtr.Recogniser  # noqa: B018


@pytest.mark.parametrize(
    ("given", "remedy"),
    [({"decoder": "ctc"}, r"CTC\(\)"), ({"precision": "bfloat16"}, "Precision.BFLOAT16"), ({"device": "auto"}, "cuda")],
)
def test_a_name_in_place_of_a_value_is_refused(tiny_path, given, remedy):
    with pytest.raises(ConfigError, match=remedy):
        drethtr.Recognizer.load(tiny_path, **given)


@pytest.mark.parametrize("device", ["meta", "cuda:77"])
def test_a_device_that_cannot_compute_here_is_refused(tiny_path, device):
    with pytest.raises(ConfigError, match=f"device '{device}'"):
        drethtr.Recognizer.load(tiny_path, device=device)


def test_a_process_that_is_made_ready_rounds_denormal_numbers_to_zero():
    code = "import torch; from drethtr.network.device import prepare_process; prepare_process()"
    subprocess.run([sys.executable, "-c", f"{code}; assert (torch.tensor([1e-38]) / 100).item() == 0"], check=True)


@pytest.mark.parametrize(
    "statement", ["import drethtr", "import drethtr.recognition.search", "import drethtr.base.errors"]
)
def test_import_is_light(statement):
    code = f"{statement}; import sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_search_stands_alone():
    """Who brings a step function needs no network."""
    code = "import drethtr.recognition.search.search, sys; assert not any('drethtr.network' in m for m in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
