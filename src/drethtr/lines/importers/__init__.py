"""Importers: published and exported layouts of line data, read as samples."""

from pathlib import Path

from drethtr.base.config import named
from drethtr.base.errors import DataError
from drethtr.lines.importers.bentham import Bentham
from drethtr.lines.importers.hugging_face import HuggingFace
from drethtr.lines.importers.iam import IAM, IAMAsWritten
from drethtr.lines.importers.importer import Importer
from drethtr.lines.importers.kraken import Kraken
from drethtr.lines.importers.pages import Pages, Read2016
from drethtr.lines.importers.pylaia import PyLaia
from drethtr.lines.importers.rimes import Rimes
from drethtr.lines.importers.table import Table

IMPORTERS: tuple[Importer, ...] = (
    IAM(),
    IAMAsWritten(),
    Rimes(),
    Bentham(),
    Read2016(),
    PyLaia(),
    Kraken(),
    Pages(),
    Table(),
    HuggingFace(),
)
"""Most specific first: the first importer that recognizes a source reads it.

Parquet comes last: beside texts, it usually comes from an earlier import, and the texts may have been corrected since.
"""


def importer_named(name: str) -> Importer:
    """The importer with the name given to `--layout`.

    Raises:
        ConfigError: if there is no importer of that name.
    """
    known = {importer.name: importer for importer in IMPORTERS}
    return named("layout", name, known)


def importer_for(source: Path, layout: str | None = None) -> Importer:
    """The importer for `layout`, or the first that recognizes `source`.

    Raises:
        ConfigError: if there is no such layout.
        DataError: if there is nothing at `source`, or no layout is recognized.
    """
    if not source.exists():
        raise DataError("no such file or folder", source)
    if layout is not None:
        return importer_named(layout)
    for importer in IMPORTERS:
        if importer.recognizes(source):
            return importer
    layouts = "\n".join(f"  {importer.name:13} {importer.layout}" for importer in IMPORTERS)
    raise DataError(
        f"no known layout recognized:\n{layouts}\nuse --layout to see what is missing for one of them", source
    )
