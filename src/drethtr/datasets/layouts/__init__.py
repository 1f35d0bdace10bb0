"""Layouts of line data, published or exported by other programs, each read as samples.

Every command that takes lines takes every layout: `drethtr data import`, training, fine-tuning and evaluation.
"""

from pathlib import Path

from drethtr.base.archive import is_archive
from drethtr.base.config import named
from drethtr.base.errors import DataError
from drethtr.datasets.layouts.bentham import Bentham
from drethtr.datasets.layouts.folder import Kraken
from drethtr.datasets.layouts.hugging_face import HuggingFace
from drethtr.datasets.layouts.iam import IAM, IAMAsWritten
from drethtr.datasets.layouts.layout import Layout
from drethtr.datasets.layouts.pages import Pages, Read2016, descriptions
from drethtr.datasets.layouts.pylaia import PyLaia
from drethtr.datasets.layouts.rimes import Rimes
from drethtr.datasets.layouts.table import Table
from drethtr.documents.beside import IMAGES
from drethtr.documents.read import read_page

LAYOUTS: tuple[Layout, ...] = (
    IAM(),
    IAMAsWritten(),
    Rimes(),
    Bentham(),
    Read2016(),
    PyLaia(),
    Pages(),
    Table(),
    Kraken(),
    HuggingFace(),
)
"""Most specific first: the first layout that recognizes a source reads it.

Pages come before tables, which may be a result of `drethtr transcribe` for their scans. Parquet comes last: beside
texts, it usually comes from an earlier import, and the texts may have been corrected since.
"""


def layout_named(name: str) -> Layout:
    """The layout with the name given to `--layout`.

    Raises:
        ConfigError: if there is no layout of that name.
    """
    return named("layout", name, {layout.name: layout for layout in LAYOUTS})


def layout_for(source: Path, name: str | None = None) -> Layout:
    """The layout called `name`, or the first that recognizes `source`.

    Raises:
        ConfigError: if there is no layout of that name.
        DataError: if there is nothing at `source`, or no layout is recognized.
    """
    if not source.exists():
        raise DataError("no such file or folder", source)
    if name is not None:
        return layout_named(name)
    for layout in LAYOUTS:
        if layout.recognizes(source):
            return layout
    if is_archive(source):
        raise DataError("is a ZIP file; import it first (drethtr data import), or unpack it", source)
    if source.is_dir() and not any(source.iterdir()):
        raise DataError("the folder is empty", source)
    if source.suffix.lower() in IMAGES:
        raise DataError("is an image; give the folder of line images with their texts, or a table of them", source)
    layouts = "\n".join(f"  {layout.name:13} {layout.description}" for layout in LAYOUTS)
    raise DataError(
        f"no known layout recognized:\n{layouts}\n`drethtr data import --layout NAME` says what is missing for one"
        f"{damage_in(source)}",
        source,
    )


def damage_in(source: Path) -> str:
    """Why the first XML file of a folder in which none is a page is no page, for an error; "" if there is none."""
    try:
        for path in descriptions(source)[:1] if source.is_dir() else ():
            read_page(path)
    except DataError as error:
        return f"\n{error}"
    return ""
