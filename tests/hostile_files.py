"""Files made to exhaust memory or time, or to crash a program."""

import pikepdf
from pikepdf import Array, Dictionary, Name
from PIL import Image


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
