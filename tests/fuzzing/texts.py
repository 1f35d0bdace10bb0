"""Texts to check pages against: Word documents, TEI and Markdown."""

from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from hypothesis import strategies as st

from drethtr.documents.running_text import read_running_text
from drethtr.proofreading.text import fitting, refuse_empty
from fuzzing.files import TEXTS, Bytes, Target, elements, encoded, mutated

READ = ("My dear Sir,", "I have received your letter", "of the 4th")
"""The readings of the lines of the page that a text is aligned with."""

RUNNING = st.lists(st.sampled_from(READ) | TEXTS, max_size=6)

WORD = RUNNING.map(lambda texts: "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts)) | elements(
    "p r t br tab tbl ins del", "val space id"
)
BODIES = mutated(encoded(WORD.map(lambda text: f'<w:document xmlns:w="w"><w:body>{text}</w:body></w:document>')))


@st.composite
def word_documents(draw: Any) -> bytes:
    """Almost valid Word documents."""
    file = BytesIO()
    with ZipFile(file, "w", draw(st.sampled_from([ZIP_STORED, ZIP_DEFLATED]))) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(draw(st.sampled_from(["word/document.xml"] * 4 + ["word/other.xml"])), draw(BODIES))
    return file.getvalue()


TEI_PARTS = elements(
    "text body p lb pb choice abbr expan hi note teiHeader teiCorpus",
    "break n facs xml:id",
)
HIDDEN = st.sampled_from(["", "<!-- no -->", "<![CDATA[<p>]]>", "<?pb n='1'?>", "<!--", "<![CDATA["])


@st.composite
def tei(draw: Any) -> str:
    """Almost valid TEI."""
    root = draw(st.sampled_from(["TEI"] * 3 + ["TEI.2", "teiCorpus", "tei"]))
    rows = "<lb/>".join(draw(RUNNING))
    inside = f"<text><p>{rows}{draw(HIDDEN)}</p>{draw(TEI_PARTS)}</text>"
    return f'<{root} xmlns="http://www.tei-c.org/ns/1.0">{inside}</{root}>'


def markdown() -> Bytes:
    """Texts full of Markdown markup."""
    signs = [
        "*",
        "**",
        "***",
        "__",
        "`",
        "```",
        "~~~",
        "#",
        ">",
        "---",
        "[a](b)",
        "![",
        "](",
        "\\",
        "<!--",
        "-->",
        "<?",
    ]
    pieces = st.sampled_from([*signs, " ", "\n", *READ]) | TEXTS
    repeated = st.tuples(pieces, st.sampled_from([1, 1, 1, 2, 500])).map(lambda pair: pair[0] * pair[1])
    texts = st.lists(repeated, max_size=12).map("".join)
    encodings = st.sampled_from(["utf-8"] * 4 + ["utf-8-sig", "utf-16", "latin-1"])
    return st.builds(lambda text, encoding: text.encode(encoding, "replace"), texts, encodings)


def use_text(path: Path) -> None:
    """Read a text, and align it with the lines of a page, as `drethtr align` and `drethtr check` do."""
    text = read_running_text(path)
    refuse_empty(path.name, text)
    aligned = fitting(path.name, text, "a page", READ)
    assert len(aligned.texts) == len(READ)


TARGETS = {
    "docx": Target(".docx", mutated(word_documents()), use_text),
    "tei": Target(".xml", mutated(encoded(tei())), use_text),
    "markdown": Target(".md", mutated(markdown()), use_text),
}
