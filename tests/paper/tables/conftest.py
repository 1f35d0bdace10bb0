"""The smallest scale, on generated lines; models trained by one test are reused by others."""

import shutil
from collections.abc import Iterator

import pytest
import torch

from drethtr.paper.tables.material import PaperData
from drethtr.paper.tables.scale import Smoke
from drethtr.paper.tables.stage import Conditions
from drethtr.paper.tables.table import with_material


@pytest.fixture(scope="session")
def conditions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conditions]:
    folder = tmp_path_factory.mktemp("experiments")
    given = Conditions(Smoke(), PaperData(), folder, torch.device("cpu"), workers=0, say=lambda words: None)
    yield with_material(given)
    shutil.rmtree(folder)  # published backbones take much space
