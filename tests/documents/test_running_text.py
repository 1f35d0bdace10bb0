import json
from contextlib import suppress
from io import BytesIO
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile

import pytest
from growth import megabytes_of, needs_status

from drethtr.base import sandbox
from drethtr.base.errors import DataError
from drethtr.documents.running_text import read_running_text


@pytest.fixture
def text_of(tmp_path):
    """The words of a file with some content."""

    def read(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_running_text(path).split()

    return read


@pytest.mark.parametrize(
    "content", ["Müller geht", "Müller geht".encode("utf-8-sig"), b"\xff\xfe" + "Müller\ngeht".encode("utf-16-le")]
)
def test_plain_text_in_any_unicode(text_of, content):
    assert text_of("a.txt", content) == ["Müller", "geht"]


def test_signs_of_markdown_are_not_text(text_of):
    content = "# Page 3\n\n> **Dear** *sir*, see [the note](http://x.org) `now`\n\n---\n```\n2 * 3\n```\n"
    assert text_of("a.md", content) == ["Page", "3", "Dear", "sir,", "see", "the", "note", "now", "2", "*", "3"]


def test_tei_gives_what_stands_on_the_page(text_of):
    content = (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><title>no</title></teiHeader><text><body>'
        "<p>Mon<choice><abbr>sr</abbr><expan>sieur</expan></choice> &amp; <hi>m</hi>oi<lb/>nous com"
        "<lb break='no'/>mençons"
        "<note>an editor's</note></p><p>Fin<!-- no --></p></body></text></TEI>"
    )
    assert text_of("a.xml", content) == ["Monsr", "&", "moi", "nous", "commençons", "Fin"]


@pytest.mark.parametrize(
    "content",
    [
        "one two",
        ["one", "two"],
        {"text": "one two", "lines": [{"text": "no"}]},
        {"pages": [{"lines": [{"text": "one", "confidence": 0.5}, {"text": "two"}]}]},
        {"result": {"page": {"content": [{"text": "one"}, {"text": "two"}]}}},
    ],
)
def test_json_of_many_shapes(text_of, content):
    assert text_of("a.json", json.dumps(content)) == ["one", "two"]


def test_half_a_character_in_json_can_be_written(text_of):
    assert text_of("a.json", r'["half\ud800", "\ud83d\ude00"]') == ["half\ufffd", "😀"]


def test_a_struck_word_and_the_one_written_for_it_are_two(text_of):
    body = "<p>my <del>dera</del><add>dear</add> <subst><add>Mary</add><del>Ann</del></subst> th<del>e</del>"
    content = f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>{body}</p></body></text></TEI>'
    assert text_of("a.xml", content) == ["my", "dera", "dear", "Mary", "Ann", "the"]


def word_document(body, method=ZIP_STORED):
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    file = BytesIO()
    with ZipFile(file, "w", method) as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>')
    return file.getvalue()


def test_word_documents_need_no_extra(text_of):
    first = "<w:p><w:r><w:t>one t</w:t></w:r><w:r><w:t>wo</w:t><w:br/><w:t>three</w:t></w:r></w:p>"
    body = f"{first}<w:p><w:r><w:t>four</w:t><w:noBreakHyphen/><w:t>fold</w:t></w:r></w:p>"
    assert text_of("a.docx", word_document(body)) == ["one", "two", "three", "four-fold"]


@pytest.mark.parametrize("method", [ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_a_word_document_with_a_byte_less_or_another_one_is_read_or_refused(text_of, method):
    """`zipfile` has another error for each place."""
    content = word_document("<w:p><w:r><w:t>one two</w:t></w:r></w:p>", method)
    for place in range(len(content)):
        for part in (b"", bytes([content[place] ^ 0xFF])):
            with suppress(DataError):
                text_of("a.docx", content[:place] + part + content[place + 1 :])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.rtf", b"x", "unsupported text format"),
        ("a.txt", b"\xe9t\xe9", "save it as UTF-8"),
        ("a.json", b"{", "not valid JSON"),
        ("a.docx", b"PK", "not a Word document"),
        ("a.xml", b"<mets/>", "neither TEI, PAGE nor ALTO"),
        ("a.xml", b"<!DOCTYPE a [<!ENTITY b 'c'>]><TEI>&b;</TEI>", "document type"),
    ],
)
def test_other_files_are_refused(text_of, name, content, said):
    with pytest.raises(DataError, match=said):
        text_of(name, content)


def test_text_boxes_of_word_are_read_once(text_of):
    """They are paragraphs within a paragraph."""
    box = "<w:p><w:r><w:t>one</w:t></w:r><w:txbx><w:p><w:t>box</w:t></w:p></w:txbx><w:r><w:t> two</w:t></w:r></w:p>"
    assert text_of("a.docx", word_document(box)) == ["one", "two", "box"]
    shape = "<w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent>"
    both = f"<w:AlternateContent><w:Choice>{shape}</w:Choice><w:Fallback>{shape}</w:Fallback></w:AlternateContent>"
    run = "<w:r><w:AlternateContent><w:Choice><w:t>two</w:t></w:Choice><w:Fallback><w:t>2</w:t></w:Fallback>"
    body = f"<w:p><w:r><w:t>one </w:t>{both}</w:r>{run}</w:AlternateContent></w:r></w:p>"
    assert text_of("a.docx", word_document(body)) == ["one", "two", "box"]


BOMBS = {
    "nested.docx": lambda: word_document("<w:p>" * 95 + f"<w:t>{'a' * 5_000_000}</w:t>" + "</w:p>" * 95, ZIP_DEFLATED),
    "chains.docx": lambda: word_document(("<w:p>" * 95 + "<w:t>a</w:t>" + "</w:p>" * 95) * 3_000, ZIP_DEFLATED),
    "flat.docx": lambda: word_document("<w:p/>" * 300_000, ZIP_DEFLATED),
    "deep.json": lambda: b"[" * 900 + b'"a",' * 200_000 + b'"a"' + b"]" * 900,
    "rules.md": lambda: b"-|" * 450_000 + b"x",
    "quoted.md": lambda: b">" * 900_000,
    "deep.xml": lambda: b"<TEI>" + b"<div>" * 95 + b"<lb/>" * 170_000 + b"</div>" * 95 + b"</TEI>",
}


@needs_status
@pytest.mark.parametrize("name", BOMBS)
def test_no_text_of_a_megabyte_takes_much_memory_here(text_of, name):
    """It is read or refused, and what it costs is a process with limits of memory and time."""
    content = BOMBS[name]()
    assert len(content) < 1 << 20

    def read():
        with suppress(DataError):
            text_of(name, content)

    assert megabytes_of(read) < 100


def test_a_text_without_end_is_refused(text_of, monkeypatch):
    monkeypatch.setattr(sandbox, "SECONDS", 1.0)
    with pytest.raises(DataError, match=r"a\.docx: (takes more than|exceeds the limit|refused because it exceeds)"):
        text_of("a.docx", word_document("<w:p/>" * 2_000_000, ZIP_DEFLATED))


def test_hidden_and_moved_text_of_word_is_not_read(text_of):
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r>"
    shown = '<w:r><w:rPr><w:vanish w:val="false"/></w:rPr><w:t> two</w:t></w:r>'
    moved = "<w:moveFrom><w:r><w:t>no</w:t></w:r></w:moveFrom>"
    body = f"<w:p><w:r><w:t>one</w:t></w:r>{hidden}{shown}{moved}</w:p>"
    assert text_of("a.docx", word_document(body)) == ["one", "two"]
