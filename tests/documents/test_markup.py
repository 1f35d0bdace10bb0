import codecs
import sys
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drethtr.base.errors import DataError
from drethtr.documents import markup
from drethtr.documents.markup import Edit, Identifiers, apply, clean, ids_of, parse

TRICKY = (
    '<?xml version="1.0" encoding="{}"?>\r\n<!-- <no> -->\r\n<p:a xmlns:p="u:v" q="a>b\' é" p:z="1"><b/>\r\n'
    "<?pi <x>?><c x='\"/>'>é&lt;<![CDATA[<z>]]>\t</c ></p:a>\r\n<!-- - -->"
)


@pytest.mark.parametrize(
    ("encoding", "codec", "mark"),
    [
        ("utf-8", "utf-8", b""),
        ("UTF-8", "utf-8", codecs.BOM_UTF8),
        ("UTF-16", "utf-16-le", codecs.BOM_UTF16_LE),
        ("UTF-16", "utf-16-be", codecs.BOM_UTF16_BE),
        ("UTF-16", "utf-16-le", b""),
        ("ISO-8859-1", "latin-1", b""),
        ("windows-1252", "cp1252", b""),
        ("utf-16", "utf-8", b""),  # as some programs claim of UTF-8
    ],
)
def test_elements_know_their_place_in_every_encoding(encoding, codec, mark):
    data = mark + TRICKY.format(encoding).encode(codec)
    read = parse(data, "x")
    assert read.encode(read.utf8) == data
    a, b, c = read.root.walk()
    assert (a.name, a.namespace, a.prefix, a.attributes) == ("a", "u:v", "p", {"q": "a>b' é"})
    assert (c.attributes, c.text) == ({"x": '"/>'}, "é<<z>\t")
    slices = [read.utf8[e.start : e.inside].decode() + read.utf8[e.inside_end : e.end].decode() for e in (a, b, c)]
    assert slices == ['<p:a xmlns:p="u:v" q="a>b\' é" p:z="1"></p:a>', "<b/>", "<c x='\"/>'></c >"]


def test_letters_that_an_encoding_lacks_become_references():
    read = parse('<?xml version="1.0" encoding="iso-8859-1"?><a/>'.encode("latin-1"), "x")
    assert read.encode("é ſ".encode()) == "é &#383;".encode("latin-1")


BILLION_LAUGHS = (
    '<!DOCTYPE a [<!ENTITY l0 "lol">'
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    + "]><a>&l9;</a>"
)


NOTED = []


def note(event, _):
    """Note what opens files or connections while a test asks for it; a hook stays for the rest of the process."""
    if NOTED and event in ("open", "socket.__new__", "socket.connect", "subprocess.Popen"):
        NOTED[-1].append(event)


sys.addaudithook(note)


@pytest.fixture
def noted():
    NOTED.append([])
    yield NOTED[-1]
    NOTED.pop()


@pytest.mark.parametrize(
    "text",
    [
        BILLION_LAUGHS,
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><a/>',
    ],
)
def test_document_types_are_refused_and_nothing_is_fetched(text, noted):
    with pytest.raises(DataError, match=r"^x\.xml: refused because it declares a document type"):
        parse(text.encode(), "x.xml")
    assert not noted


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<a><b></a>", "not well-formed XML: mismatched tag"),
        (b"", "not well-formed XML: no element found"),
        (b"<a>&x;</a>", "not well-formed XML: undefined entity"),
        ("<a/>".encode("utf-32"), "contains NUL characters, as UTF-32 does; save it as UTF-8"),
        ("\n<a/>".encode("utf-16-be"), "contains NUL characters"),
        (b"<a>\0</a>", "contains NUL characters"),
        (b"<a>\xff</a>", "declared as utf-8 but encoded otherwise"),
        (b'<?xml version="1.0" encoding="utf-7"?><a/>', "unknown encoding 'utf-7'; save it as UTF-8"),
        (b'<?xml version="1.0" encoding="iso-8859-12"?><a/>', "unknown encoding 'iso-8859-12'; save it as UTF-8"),
        (b"<a>" * 101 + b"</a>" * 101, "refused because it exceeds"),
    ],
)
def test_what_is_no_xml_is_refused(data, message):
    with pytest.raises(DataError, match=message):
        parse(data, "x")


def test_sizes_are_bounded(monkeypatch):
    monkeypatch.setattr(markup, "MAX_ELEMENTS", 3)
    assert parse(b"<a><b/><b/></a>", "x")
    with pytest.raises(DataError, match="exceeds 3 elements"):
        parse(b"<a><b/><b/><b/></a>", "x")
    monkeypatch.setattr(markup, "MAX_BYTES", 10)
    with pytest.raises(DataError, match="exceeds the limit of 10 bytes for page files"):
        parse(b"<a><b/><b/></a>", "x")


def test_text_in_a_million_pieces_is_put_together_at_once():
    """Each piece added to what is there would take hours."""
    text = parse(b"<a>" + b"0123456789<b/>" * 500_000 + b"</a>", "x").root.text
    assert len(text) == 5_000_000


def test_edits_leave_all_else_alone():
    assert apply(b"0123456789", [Edit(8, 10, b""), Edit(2, 2, b"ab"), Edit(2, 4, b"c")]) == b"01abc4567"


@given(st.text())
@example("a\tb\nc\rd\x85e\u2028f\u2029g\fh\x1ci")
def test_clean_text_goes_through_xml_on_one_line(text):
    assert len(clean(text).splitlines()) <= 1
    assert parse(f"<a>{escape(clean(text))}</a>".encode(), "x").root.text == clean(text)
    assert [c for c, kept in zip(text, clean(text), strict=True) if c != kept and c.isprintable()] == []


def test_ids_are_made_up_where_they_lack_or_repeat():
    elements = parse(b'<a><l id="x"/><l/><l id="x"/><l id="line_2"/></a>', "x").root.children
    assert ids_of(elements, "id", "line") == ["x", "line_2_2", "line_3", "line_2"]


def test_claimed_ids_are_new_and_valid():
    ids = Identifiers(["a"])
    assert [ids.claim(wanted) for wanted in ("a", "a", "1 b", "", "línea", "-")] == [
        "a_2",
        "a_3",
        "_1_b",
        "_",
        "línea",
        "_-",
    ]
