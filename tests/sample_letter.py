"""The beginning of the sample letter, which shows the same as all of it, in half the time."""

from pathlib import Path

from PIL import Image

PAGE = Path(__file__).parents[1] / "samples" / "page"
LAST = "The ferry left at"
TEXT = (PAGE / "transcription.txt").read_text(encoding="utf-8").partition(LAST)[0] + LAST


def put_letter(path):
    """Write an image of its first seven lines, those with `TEXT`."""
    with Image.open(PAGE / "letter.jpg") as whole:
        whole.crop((0, 0, whole.width, 760)).save(path)
