"""Plain text: a row for each line, an empty row between pages; nothing but what is on the pages."""

from drethtr.documents.document import Document


def write_text(document: Document) -> bytes:
    """All pages of a document."""
    return "\n".join(page.text for page in document.pages).encode("utf-8", "replace")
