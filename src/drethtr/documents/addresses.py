"""Relative URLs of the images of pages."""

from urllib.parse import quote

from drethtr.documents.markup import clean
from drethtr.documents.page import Page


def address(page: Page, number: int) -> str:
    """The relative URL of the image of a page, for a PDF with the page number; "" if the image has no name."""
    url = quote(clean(page.image))
    return f"{url}#page={number}" if url.lower().endswith(".pdf") else url
