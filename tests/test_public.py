"""The names that the package promises."""

import importlib
import subprocess
import sys

import pytest

import drethtr
import drethtr.decoding
from drethtr.errors import ConfigError

PROMISES = {
    "drethtr": [
        "CTC",
        "Beam",
        "Character",
        "Greedy",
        "Joint",
        "Page",
        "Precision",
        "Reading",
        "Recognizer",
        "VerifiedDrafts",
        "__version__",
        "read_page",
        "transcribe_page",
    ],
    "drethtr.decoding": [
        "CTC",
        "Beam",
        "Decoder",
        "Greedy",
        "Joint",
        "PublishedBeam",
        "PublishedGreedy",
        "VerifiedDrafts",
    ],
}


@pytest.mark.parametrize("name", PROMISES)
def test_promised_names_are_there(name):
    module = importlib.import_module(name)
    assert sorted(module.__all__) == sorted(PROMISES[name])
    assert all(getattr(module, promise) is not None for promise in PROMISES[name])


@pytest.mark.parametrize("module", [drethtr, drethtr.decoding], ids=lambda module: module.__name__)
def test_other_names_are_not(module):
    with pytest.raises(AttributeError, match="Recogniser"):
        module.Recogniser  # noqa: B018


@pytest.mark.parametrize(
    ("given", "remedy"),
    [({"decoder": "ctc"}, r"CTC\(\)"), ({"precision": "bfloat16"}, "Precision.BFLOAT16"), ({"device": "auto"}, "cuda")],
)
def test_a_name_in_place_of_a_value_is_refused(tiny_path, given, remedy):
    with pytest.raises(ConfigError, match=remedy):
        drethtr.Recognizer.load(tiny_path, **given)


@pytest.mark.parametrize("statement", ["import drethtr", "import drethtr.decoding", "import drethtr.errors"])
def test_import_is_light(statement):
    code = f"{statement}; import sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_search_stands_alone():
    """Who brings a step function needs no network."""
    code = "import drethtr.decoding.search, sys; assert not [m for m in sys.modules if m.startswith('drethtr.model')]"
    subprocess.run([sys.executable, "-c", code], check=True)
