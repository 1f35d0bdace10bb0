"""A generated font whose letters are boxes, so that tests know what to expect."""

from pathlib import Path

import pytest

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:;!?'-()/%éàüßŒœ"
TALL, DEEP, LOW_MARKS = "bdfhkltß", "gjpqy", ".,-"
ADVANCE, X_HEIGHT, ASCENT, DESCENT = 500, 400, 700, 200  # thousandths of an em


def boxes(character):
    """(left, bottom, right, top) of each box: a stem, a foot, and bars that spell the character's code."""
    if not character.strip():
        return []
    top = ASCENT if character.isupper() or character.isdigit() or character in TALL else X_HEIGHT
    top = 120 if character in LOW_MARKS else top
    bottom = -DESCENT if character in DEEP else 0
    bars = [(150 + 40 * bit, 30, 175 + 40 * bit, top) for bit in range(8) if ord(character) >> bit & 1]
    accent = [(200, 500, 300, 560)] if character in "éàü" else []
    return [(50, bottom, 110, top), (50, 0, 450, 60), *bars, *accent]


def draw(pen, characters):
    for place, character in enumerate(characters):
        for left, bottom, right, top in boxes(character):
            left, right = left + place * ADVANCE, right + place * ADVANCE
            pen.moveTo((left, bottom))
            for point in ((left, top), (right, top), (right, bottom)):
                pen.lineTo(point)
            pen.closePath()


@pytest.fixture
def make_font(tmp_path):
    """Write a font file that maps `letters`; `drawn_as` gives other characters to draw in place of some."""
    builder = pytest.importorskip("fontTools.fontBuilder")
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    def make(name="boxes", letters=LETTERS, drawn_as=None):
        drawn = {character: character for character in letters + " "} | (drawn_as or {})
        names = {character: f"glyph{ord(character)}" for character in drawn}
        pens = {".notdef": TTGlyphPen(None)} | {glyph: TTGlyphPen(None) for glyph in names.values()}
        draw(pens[".notdef"], "\x7f")
        for character, shown in drawn.items():
            draw(pens[names[character]], shown)
        font = builder.FontBuilder(1000, isTTF=True)
        font.setupGlyphOrder(list(pens))
        font.setupCharacterMap({ord(character): glyph for character, glyph in names.items()})
        font.setupGlyf({glyph: pen.glyph() for glyph, pen in pens.items()})
        widths = {names[character]: ADVANCE * max(1, len(shown)) for character, shown in drawn.items()}
        font.setupHorizontalMetrics({".notdef": (ADVANCE, 0)} | {glyph: (wide, 0) for glyph, wide in widths.items()})
        font.setupHorizontalHeader(ascent=800, descent=-200)
        font.setupOS2()
        font.setupPost()
        path = Path(tmp_path) / "fonts" / f"{name}.ttf"
        path.parent.mkdir(exist_ok=True)
        font.save(path)
        return path

    return make
