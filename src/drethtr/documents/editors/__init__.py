"""Editors for lines in PAGE and ALTO files."""

from collections.abc import Mapping

from drethtr.documents.editors.alto import ALTOEditor
from drethtr.documents.editors.editor import Editor
from drethtr.documents.editors.page_xml import PageXMLEditor
from drethtr.documents.read import ALTO, PAGE_XML

EDITORS: Mapping[str, type[Editor]] = {PAGE_XML.root: PageXMLEditor, ALTO.root: ALTOEditor}
"""Editors by the root element of the file."""

__all__ = ["EDITORS", "Editor"]
