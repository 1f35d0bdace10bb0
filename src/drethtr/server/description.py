"""The OpenAPI description of the routes for reading and searching; those of the editor are in docs/edit.md."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from drethtr import documents
from drethtr.documents.formats import FORMATS

ROUTES = Path(__file__).with_name("openapi.json")
"""The description, without the schema of pages and the names of formats."""

PAGE = Path(documents.__file__).with_name("page.schema.json")


@cache
def description() -> dict[str, Any]:
    """The description as JSON values."""
    whole: dict[str, Any] = json.loads(ROUTES.read_text(encoding="utf-8"))
    page = json.loads(PAGE.read_text(encoding="utf-8").replace("#/$defs/", "#/components/schemas/PageFile_"))
    parts = {f"PageFile_{name}": part for name, part in page.pop("$defs").items()}
    formats = {"type": "string", "enum": list(FORMATS), "description": "A format of pages."}
    whole["components"]["schemas"] |= {"PageFile": page, **parts, "Format": formats}
    return whole
