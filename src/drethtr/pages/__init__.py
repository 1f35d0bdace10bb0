"""From the image of a page to a page with text."""

from drethtr.pages.transcribe import transcribe_page

__all__ = ["transcribe_page"]
