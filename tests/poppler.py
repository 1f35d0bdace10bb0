"""Extract text from PDFs with poppler, the library of Evince and Okular; CI installs Debian's poppler-utils."""

import shutil
import subprocess
from xml.etree import ElementTree as ET

import pytest

needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext of poppler is not installed")


def pdftotext(data, *options):
    """The text of a PDF."""
    done = subprocess.run(["pdftotext", *options, "-", "-"], input=data, capture_output=True, check=True)
    return done.stdout.decode()


def word_boxes(data):
    """The words of the first page of a PDF, with left, top, right and bottom relative to the page."""
    page = next(element for element in ET.fromstring(pdftotext(data, "-bbox")).iter() if element.tag.endswith("}page"))
    width, height = float(page.get("width")), float(page.get("height"))
    sides = (("xMin", width), ("yMin", height), ("xMax", width), ("yMax", height))
    return [(word.text, tuple(float(word.get(name)) / size for name, size in sides)) for word in page]
