"""Draw the pictures of the README: `make pictures`."""

from pathlib import Path

from drethtr import Recognizer
from drethtr.images.line import load_line
from drethtr.pictures.explained_line import explained_line

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "samples" / "000003.png"

line = load_line(SAMPLE)
[reading] = Recognizer.load().read([line])
target = ROOT / "docs" / "images" / "reading.png"
target.parent.mkdir(exist_ok=True)
explained_line(line, reading).save(target, optimize=True)
