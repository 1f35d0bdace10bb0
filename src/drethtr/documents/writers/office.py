"""The file of a Word or Excel document: its parts, with their types, relationships and properties.

Source: Office Open XML, ISO 29500.
"""

from collections.abc import Mapping
from io import BytesIO
from xml.etree import ElementTree as ET
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from drethtr.documents.document import Document
from drethtr.documents.markup import as_file, clean

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def packed(document: Document, kinds: Mapping[str, str], parts: Mapping[str, bytes]) -> bytes:
    """The file of an Office document with these parts, of which the first is the main one, and their content types."""
    core = "docProps/core.xml"
    main = {next(iter(parts)): f"{OFFICE}/officeDocument", core: f"{PACKAGE}/relationships/metadata/core-properties"}
    parts = {
        "[Content_Types].xml": content_types(
            {f"/{core}": "application/vnd.openxmlformats-package.core-properties+xml", **kinds}
        ),
        "_rels/.rels": relations(main),
        core: properties(document),
        **parts,
    }
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)  # without timestamps, to be reproducible
    return file.getvalue()


def content_types(parts: Mapping[str, str]) -> bytes:
    """The list of parts and their content types."""
    root = ET.Element("Types", xmlns=f"{PACKAGE}/content-types")
    relation = "application/vnd.openxmlformats-package.relationships+xml"
    ET.SubElement(root, "Default", Extension="rels", ContentType=relation)
    for part, kind in parts.items():
        ET.SubElement(root, "Override", PartName=part, ContentType=kind)
    return as_file(root)


def relations(roles: Mapping[str, str]) -> bytes:
    """The relationships of a part, numbered from r1: roles by target file."""
    root = ET.Element("Relationships", xmlns=f"{PACKAGE}/relationships")
    for number, (target, role) in enumerate(roles.items(), 1):
        ET.SubElement(root, "Relationship", Id=f"r{number}", Type=role, Target=target)
    return as_file(root)


def properties(document: Document) -> bytes:
    """The title and provenance of the document."""
    made_by = document.provenance
    spaces = {
        "xmlns:cp": f"{PACKAGE}/metadata/core-properties",
        "xmlns:dc": "http://purl.org/dc/elements/1.1/",
        "xmlns:dcterms": "http://purl.org/dc/terms/",
        "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
    }
    root = ET.Element("cp:coreProperties", spaces)
    about = document.about
    ET.SubElement(root, "dc:title").text = clean(about.title or document.titles[0])
    ET.SubElement(root, "dc:creator").text = clean(about.author or about.editors) or "drethtr"
    ET.SubElement(root, "dc:description").text = clean(str(made_by))
    ET.SubElement(root, "dcterms:created", {"xsi:type": "dcterms:W3CDTF"}).text = made_by.timestamp
    return as_file(root)
