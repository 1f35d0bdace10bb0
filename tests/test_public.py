"""The public names of the package."""

import ast
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import get_args

import pytest

import drethtr
from drethtr import api
from drethtr.recognition.recognizer import LoadOptions, Recognizer


def test_promised_names_are_there():
    """They are in `__all__`, in `import *`, and in `dir` before any is loaded."""
    listed = {alias.asname for node in ast.parse(Path(api.__file__).read_text()).body[1:] for alias in node.names}
    assert {"Recognizer", "Page", "transcribe_page"} < listed and {*listed, "__version__"} == set(drethtr.__all__)
    assert all(getattr(drethtr, promise) is not None for promise in listed)
    code = "import drethtr; print(*dir(drethtr)); from drethtr import *; Recognizer, read_page"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert set(drethtr.__all__) <= set(shown.split())


@pytest.mark.parametrize("package", ["documents", "layout", "pages", "search"])
def test_promised_names_of_packages_are_there(package):
    module = import_module(f"drethtr.{package}")
    assert all(getattr(module, name) is not None for name in module.__all__)
    # An attribute that is missing once and there the next time would puzzle who tries it in a notebook.
    subprocess.run([sys.executable, "-c", f"import drethtr; drethtr.{package}"], check=True)


def test_what_a_program_compares_and_annotates_is_public():
    """The state of a line, its tags, and what a job reports."""
    from drethtr.documents import Review, Tag, Transcription
    from drethtr.pages import PageEvent, Skipped

    text = Transcription("Bath", review=Review.CONFIRMED, tags=(Tag("place", 0, 4),))
    assert text.review is not Review.CORRECTED and Skipped in get_args(PageEvent)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="Recogniser"):
        drethtr.Recogniser  # noqa: B018


def test_options_are_those_of_load():
    """`from_pretrained` and the commands pass them on."""
    parameters = signature(Recognizer.load).parameters.values()
    assert LoadOptions.__annotations__.keys() == {one.name for one in parameters if one.kind is one.KEYWORD_ONLY}


@pytest.mark.parametrize(
    "statement", ["import drethtr", "from drethtr import *", "import drethtr.cli.main", "import drethtr.base.errors"]
)
def test_import_is_light(statement):
    code = f"{statement}; import sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
