"""Locate the networks of the installed package rapidocr, without importing it, which would load far more."""

from importlib.util import find_spec
from pathlib import Path

from drethtr.base.errors import CheckpointError, MissingExtraError

REMEDY = "run: pip install rapidocr==3.10.0"


def network_in_rapidocr(name: str, extra: str) -> Path:
    """The file of the network `name`; rapidocr belongs to our extra `extra`.

    Raises:
        MissingExtraError: if rapidocr is not installed.
        CheckpointError: if the installed version has no such network.
    """
    package = find_spec("rapidocr")
    if package is None or package.submodule_search_locations is None:
        raise MissingExtraError("rapidocr", extra)
    path = Path(package.submodule_search_locations[0], "models", name)
    if not path.is_file():
        raise CheckpointError(f"{path} does not exist; {REMEDY}")
    return path
