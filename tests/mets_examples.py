"""METS files like those of libraries and OCR-D."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from lxml import etree

SPACES = 'xmlns:mets="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"'
PAGE_TYPE, ALTO_TYPE = "application/vnd.prima.page+xml", "application/alto+xml"

METS, XLINK = "http://www.loc.gov/METS/", "http://www.w3.org/1999/xlink"
GOOD = ("DEFAULT", "OCR-D-IMG", "reference image", "Images", "", "high resolution")
SMALL = ("THUMBS", "Thumbnail", "thumbnail image", "OCR-D-THUMBS", "preview", "MIN")
WAYS = ("one", "one", "two", "untyped", "pdf", "nothing", "dangling", "missing", "elsewhere", "small", "parts")


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


def tag(name: str) -> etree.QName:
    return etree.QName(METS, name)


def any_volume(random: Random) -> bytes:
    """A METS file of up to 8 pages, each of one of `WAYS`, in an encoding and with names of groups of any library."""
    root = etree.Element(tag("mets"), nsmap={random.choice(["mets", "m", None]): METS, "xlink": XLINK})
    section = etree.SubElement(root, tag("fileSec"))
    structure = etree.Element(tag("structMap"), TYPE=random.choice(["PHYSICAL", "physical", "Physical"]))
    volume = etree.SubElement(structure, tag("div"), TYPE="physSequence")
    good, small, on_file = random.choice(GOOD), random.choice(SMALL), random.random() < 0.3
    groups = {use: etree.SubElement(section, tag("fileGrp"), {} if on_file else {"USE": use}) for use in (small, good)}

    def listed(use: str, id: str, place: str, type: str | None) -> None:
        attributes = {"ID": id} | ({"MIMETYPE": type} if type else {}) | ({"USE": use} if on_file else {})
        file = etree.SubElement(groups[use], tag("file"), attributes)
        etree.SubElement(file, tag("FLocat"), {etree.QName(XLINK, "href"): place, "LOCTYPE": "URL"})

    for number in range(random.randint(1, 8)):
        way = "one" if number == 0 else random.choice(WAYS)
        kind = random.choice(["page", "Page", "SINGLE_PAGE"])
        page = etree.SubElement(volume, tag("div"), TYPE=kind, ORDER=str(number + 1), ID=way)
        files = []
        if way in ("one", "two", "parts", "small"):
            listed(small, f"T{number}", f"t{number}.png", "image/png")
            files.append(f"T{number}")
        if way in ("one", "two", "parts"):
            listed(good, f"I{number}", f"p{number}.png", random.choice(["image/png", "IMAGE/PNG", None]))
            files.append(f"I{number}")
        if way == "two":
            listed(good, f"J{number}", f"right{number}.png", "image/png")
            files.append(f"J{number}")
        place = {
            "untyped": f"https://library.example/iiif/p{number}/full/full/0/default",
            "pdf": f"book{number}.pdf",
            "missing": f"gone{number}.png",
            "elsewhere": f"https://library.example/p{number}.jpg",
        }.get(way)
        if place:
            listed(good, f"I{number}", place, {"untyped": None, "pdf": "application/pdf"}.get(way, "image/jpeg"))
            files.append(f"I{number}")
        if way == "dangling":
            files.append(f"NOWHERE{number}")
        for id in files:
            pointer = etree.SubElement(page, tag("fptr"))
            etree.SubElement(pointer, tag("area"), FILEID=id) if random.random() < 0.3 else pointer.set("FILEID", id)
        if way == "parts":
            etree.SubElement(page, tag("div"), TYPE=random.choice(["column", "region"]))
    logical = etree.Element(tag("structMap"), TYPE="LOGICAL")
    etree.SubElement(logical, tag("div"), TYPE="monograph")
    for structure_ in random.sample([structure, logical], 2):
        root.append(structure_)
    encoding = random.choice(["utf-8", "utf-16", "iso-8859-1"])
    return etree.tostring(root, encoding=encoding, xml_declaration=True)


def counted_by_lxml(content: bytes) -> Iterator[tuple[str, list[str]]]:
    """What lxml counts: of each page, the way it is made and the places that must be read or named."""
    root = etree.fromstring(content)
    files = {
        file.get("ID"): (file.get("USE") or file.getparent().get("USE") or "", file[0].get(etree.QName(XLINK, "href")))
        for file in root.iter(tag("file"))
    }
    for page in root.xpath("//*[local-name()='div'][@ORDER]"):
        ids = [part.get("FILEID") for part in page.iter(tag("fptr"), tag("area")) if part.get("FILEID")]
        found = [files.get(id, ("", id)) for id in ids]
        large = [place for use, place in found if use not in SMALL]
        yield page.get("ID"), large or [place for _, place in found]
