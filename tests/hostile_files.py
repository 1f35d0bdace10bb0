"""Files made to exhaust memory or time, or to crash a program."""

import os
import struct

import pikepdf
from pikepdf import Array, Dictionary, Name
from PIL import Image

from drethtr.base.database import OF_SEVERAL


def nested_forms(path):
    """A PDF of 3 kB whose page draws a form that draws ten forms, nine times over."""
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(600, 800))
    kind = {"Type": Name.XObject, "Subtype": Name.Form, "BBox": [0, 0, 600, 800]}
    form = pdf.make_indirect(pdf.make_stream(b"0 0 10 10 re f", **kind))
    for _ in range(9):
        resources = Dictionary(XObject=Dictionary(F=form))
        form = pdf.make_indirect(pdf.make_stream(b"/F Do " * 10, **kind, Resources=resources))
    page.contents_add(f"{page.add_resource(form, Name.XObject)} Do".encode())
    pdf.save(path)
    return path


def many_strokes(path, number=1_000_000):
    """A PDF of some 100 kB with a million strokes across its page."""
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(600, 800))
    page.contents_add(b"[3 2] 0 d 0.5 w " + b"0 0 m 600 800 l S " * number)
    pdf.save(path, compress_streams=True)
    return path


def inflated_contents(path, gigabytes=4):
    """A PDF of a few MB whose last content stream inflates to gigabytes."""
    import zlib

    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = b"\x78\xda" + block * (64 * gigabytes) + packer.flush()
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(600, 800))
    stream = pikepdf.Stream(pdf, packed, Filter=Name.FlateDecode)
    page.obj.Contents = Array([pdf.make_stream(b""), pdf.make_indirect(stream)])
    pdf.save(path)
    return path


def null_in_contents(path):
    """A PDF whose list of contents ends in null."""
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(600, 800))
    page.obj.Contents = Array([pdf.make_stream(b""), pikepdf.Object.parse(b"null")])
    pdf.save(path)
    return path


def many_scans(path, side=3000, repeats=400):
    """A small JPEG that refines its pixels hundreds of times."""
    Image.new("L", (side, side), 128).save(path, "JPEG", progressive=True, quality=50)
    data = path.read_bytes()
    last = data.rindex(b"\xff\xda")
    scan = data[last:-2]
    path.write_bytes(data[:last] + scan * repeats + data[-2:])
    return path


SQLITE_PAGE = 4096


def journal_of_several(path, other):
    """The journal of a transaction of several databases whose names are in a file `other`."""
    name, size = os.fsencode(other), path.stat().st_size // SQLITE_PAGE
    head = (OF_SEVERAL + struct.pack(">5I", 0, 1, size, 512, SQLITE_PAGE)).ljust(512, b"\0")
    end = struct.pack(">II", len(name), sum(name)) + OF_SEVERAL
    return head + struct.pack(">I", (1 << 30) // SQLITE_PAGE + 1) + name + end


def in_circles(path, number, levels=9, ways=60):
    """Let each page of a tree have many ways to the same next page; the last one is the page `number` as it was."""
    content = bytearray(path.read_bytes())
    start = (number - 1) * SQLITE_PAGE
    kind, offset = content[start + 100 * (number == 1)], 100 * (number == 1)
    pages = len(content) // SQLITE_PAGE
    leaf = bytearray(content[start : start + SQLITE_PAGE])
    if offset:  # the head of the file stands only in its first page
        leaf[:12], leaf[100:112] = leaf[100:112], leaf[:12]
        count = struct.unpack(">H", leaf[3:5])[0]
        leaf[8 : 8 + 2 * count] = leaf[108 : 108 + 2 * count]
    assert kind == 13  # a leaf of a table
    for level in range(levels):
        child = pages + level + 1
        page, place = bytearray(SQLITE_PAGE), SQLITE_PAGE
        at = offset if level == 0 else 0
        for way in range(ways):
            place -= 5
            page[place : place + 5] = struct.pack(">IB", child, way + 1)
            struct.pack_into(">H", page, at + 12 + 2 * way, place)
        struct.pack_into(">BHHHBI", page, at, 5, 0, ways, place, 0, child)
        if level == 0:
            content[start + at : start + SQLITE_PAGE] = page[at:]
        else:
            content += page
    content += leaf
    struct.pack_into(">I", content, 28, len(content) // SQLITE_PAGE)
    path.write_bytes(content)
