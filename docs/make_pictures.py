"""Draw the pictures for README and docs with the shipped model: `make pictures`."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image, ImageDraw
from reliability_chart import reliability_chart

from drethtr import Recognizer, open_index, open_originals
from drethtr.documents.points import Box
from drethtr.images.line import Line, load_line
from drethtr.pages.segmentation import segmentation_named
from drethtr.pictures.canvas import Canvas
from drethtr.pictures.contact_sheet import contact_sheet
from drethtr.pictures.explanation import HEIGHT, MARGIN, draw, explain, show_line, show_text
from drethtr.pictures.hits import draw_hits
from drethtr.proofreading.inputs import open_proof_inputs
from drethtr.proofreading.proof import ProofWord
from drethtr.proofreading.report import page_strips, ranked
from drethtr.proofreading.text import prove_text
from drethtr.search.build import open_builder
from drethtr.synthesis.degrade import DropInk

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "samples" / "000005.png"
PAGE = ROOT / "samples" / "page" / "letter.jpg"
IMAGES = ROOT / "docs" / "images"
QUALITY = 48


def doubt(strip: tuple[Line, Box], word: ProofWord) -> tuple[Line, str]:
    """A strip with a frame around a doubtful word, and its caption."""
    image, place = Image.fromarray(strip[0]), strip[1]
    if (box := word.box) is not None:
        corners = box.left - place.left, box.top - place.top, box.right - place.left, box.bottom - place.top
        ImageDraw.Draw(image).rectangle(corners, outline=0, width=4)
    checked = word.checked
    caption = f"{checked.probability:.3f} {checked.kind}: {checked.text or '…'} – {checked.reason}"
    return np.asarray(image), caption


IMAGES.mkdir(exist_ok=True)
worn = DropInk(most=24, share=0.5)  # spots without ink, which make characters doubtful
line, recognizer = worn(load_line(SAMPLE), np.random.default_rng(1)), Recognizer.load()
[reading] = recognizer.read([line])
characters, scale = tuple(reading.characters), HEIGHT / line.shape[0]
shapes = [*show_line(line, characters, MARGIN, MARGIN), *show_text(characters, scale, MARGIN, MARGIN + HEIGHT + 49)]
shown = Canvas(round(line.shape[1] * scale) + 2 * MARGIN, MARGIN + HEIGHT + 74, tuple(shapes))
shown.to_image().convert("RGB").save(IMAGES / "reading.webp", quality=QUALITY, method=6)
draw(explain(recognizer, line)).to_image().convert("RGB").save(IMAGES / "explanation.webp", quality=QUALITY, method=6)
if trust := recognizer.model.card["evaluation"].get("trust"):
    reliability_chart(trust).save(IMAGES / "reliability.svg")
with TemporaryDirectory() as folder:
    path = Path(folder) / "index.sqlite"
    with open_builder(path, Recognizer.load(posteriors=True), segmentation_named("auto")) as builder:
        [letter] = open_originals(PAGE)
        builder.read(letter)
    with open_index(path) as index:
        hits = draw_hits(index.search("the", least=0.5)[:4]).to_image()
        hits.convert("RGB").save(IMAGES / "hits.webp", quality=QUALITY, method=6)
[given] = open_proof_inputs([str(PAGE), str(PAGE.with_name("transcription.txt"))], texts_needed=True)
proof = prove_text(given, recognizer, segmentation_named("auto"))
strips = page_strips(proof.lines, proof.pages)
sheet = contact_sheet([doubt(strips[number], word) for number, word in ranked(proof.lines)]).convert("L")
sheet.thumbnail((1400, 1400))
sheet.save(IMAGES / "check.webp", quality=QUALITY, method=6)
