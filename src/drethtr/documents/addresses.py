"""Where the images of pages are, relative to a file that describes them."""

from urllib.parse import quote

from drethtr.documents.markup import clean
from drethtr.documents.page import Page


def address(page: Page, number: int) -> str:
    """The relative URL of the image of a page, in a PDF with the number of the page; "" if it has no name."""
    url = quote(clean(page.image))
    return f"{url}#page={number}" if url.lower().endswith(".pdf") else url
