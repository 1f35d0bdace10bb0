"""Write plain text: a row per line, an empty row between pages, and nothing else."""

from drethtr.documents.document import Document


def write_text(document: Document) -> bytes:
    """Write all pages of a document."""
    return "\n".join(page.text for page in document.pages).encode("utf-8", "replace")
