import pickle

import pytest
from real_data import FONTS, needs_fonts

from drethtr.base.errors import DataError
from drethtr.synthesis.fonts import Face, FontFolder, mask_of, open_font


def test_an_honest_font_draws_what_it_maps(make_font):
    face = Face(make_font())
    assert face.draws("aZ9.éß%œ ") and face.draws("Fée, 9 %")


@pytest.mark.parametrize(
    ("character", "shown"),
    [("é", "e"), ("ß", "SS"), ("ß", "ss"), ("ß", "B"), ("%", ""), ("œ", "o")],
    ids=["no accent", "SS", "ss", "B", "blank", "half a ligature"],
)
def test_a_mapped_character_must_be_drawn_as_itself(make_font, character, shown):
    face = Face(make_font(drawn_as={character: shown}))
    assert not face.draws(f"a{character}") and face.draws("aeosSBü")


def test_an_unmapped_character_is_not_drawn(make_font):
    face = Face(make_font())
    assert not face.draws("Ж") and not face.draws("a—")


def test_small_capitals_are_allowed(make_font):
    letters = "abcdefghijklmnopqrstuvwxyz"
    face = Face(make_font(letters=letters + letters.upper(), drawn_as={c: c.upper() for c in letters}))
    assert face.draws("abc")


def test_sizes_are_heights_of_ink(make_font):
    face = Face(make_font())
    assert face.x_height == pytest.approx(0.4, abs=0.03)
    assert face.ascent == pytest.approx(0.7, abs=0.03)
    assert face.descent == pytest.approx(0.2, abs=0.03)


def test_strokes_are_as_wide_as_drawn(make_font):
    """Stems and feet are 60 thousandths of an em, bars 25."""
    face = Face(make_font())
    assert 0.02 < face.hairline < 0.035
    assert face.hairline <= face.stroke < 0.07


def test_a_folder_has_its_fonts_in_order_and_travels_light(make_font):
    folder = FontFolder(make_font("second").parent)
    make_font("first")
    folder = FontFolder(folder.path)
    assert [folder[number].name for number in range(len(folder))] == ["first", "second"]
    assert len(pickle.dumps(folder)) < 2000


def test_what_is_no_font_is_named(tmp_path):
    with pytest.raises(DataError, match="not a folder"):
        FontFolder(tmp_path / "nowhere")
    with pytest.raises(DataError, match="no fonts"):
        FontFolder(tmp_path)
    (tmp_path / "broken.ttf").write_bytes(b"not a font")
    with pytest.raises(DataError, match=r"broken\.ttf"):
        FontFolder(tmp_path)[0]


def test_a_font_without_letters_is_refused(make_font):
    with pytest.raises(DataError, match="draws no ink"):
        _ = Face(make_font(drawn_as={"x": ""})).x_height


def test_a_font_without_tall_letters_is_refused(make_font):
    with pytest.raises(DataError, match=r"boxes\.ttf draws no ink above the baseline in 'bdhkl'; remove it"):
        _ = Face(make_font(drawn_as=dict.fromkeys("bdhkl", ""))).ascent


def test_a_font_of_huge_letters_is_refused(make_font):
    ttlib = pytest.importorskip("fontTools.ttLib")
    path = make_font()
    font = ttlib.TTFont(path)
    font["head"].unitsPerEm = 16
    font.save(path)
    with pytest.raises(DataError, match=r"boxes\.ttf' cannot draw 'b' .*; remove it from the folder"):
        Face(path).draws("b")


def test_a_drawing_without_measure_is_refused(make_font):
    with pytest.raises(DataError, match=r"boxes\.ttf' cannot draw 'bbb.* exceeds limit .*; remove it"):
        mask_of(open_font(make_font(), 4000), "b" * 100)


@needs_fonts
@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("rock-salt", "ß"),
        ("walter-turncoat", "ß"),
        ("edu-sa-beginner", "éäß"),
        ("nanum-pen-script", "éäß"),
        ("league-script", "ß–—"),
        ("covered-by-your-grace", "%"),
    ],
)
def test_known_liars_are_caught(name, missing):
    face = Face(FONTS / f"{name}.ttf")
    assert face.draws("aeZ") and not any(map(face.draws, missing))


@needs_fonts
@pytest.mark.parametrize("name", ["caramel", "explora", "charmonman", "windsong", "great-vibes"])
def test_unusual_letters_are_not_taken_for_lies(name):
    assert Face(FONTS / f"{name}.ttf").draws("ßéàüöäÜÉçñïí")
