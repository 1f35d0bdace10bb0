"""METS files like those of libraries and OCR-D."""

from collections.abc import Mapping, Sequence

SPACES = 'xmlns:mets="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"'
PAGE_TYPE, ALTO_TYPE = "application/vnd.prima.page+xml", "application/alto+xml"


def mets_of(groups: Mapping[str, Sequence[tuple[str, str, str]]], pages: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A METS file from groups of files (id, type, location) and pages (value of ORDER, ids of files)."""
    sections = "".join(
        f'<mets:fileGrp USE="{use}">'
        + "".join(
            f'<mets:file ID="{id}" MIMETYPE="{type}"><mets:FLocat LOCTYPE="URL" xlink:href="{place}"/></mets:file>'
            for id, type, place in files
        )
        + "</mets:fileGrp>"
        for use, files in groups.items()
    )
    parts = "".join(
        f'<mets:div TYPE="page" ID="P{number}" ORDER="{order}">'
        + "".join(f'<mets:fptr FILEID="{id}"/>' for id in ids)
        + "</mets:div>"
        for number, (order, ids) in enumerate(pages)
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><mets:mets {SPACES}>'
        f'<mets:fileSec>{sections}</mets:fileSec><mets:structMap TYPE="LOGICAL"><mets:div TYPE="monograph"/>'
        f'</mets:structMap><mets:structMap TYPE="PHYSICAL"><mets:div TYPE="physSequence">{parts}</mets:div>'
        "</mets:structMap></mets:mets>"
    )
