"""Old hands are drawn in their spelling, and labeled in today's."""

from pathlib import Path

import numpy as np
import pytest

from drethtr.base.errors import ConfigError
from drethtr.synthesis.fonts import Face
from drethtr.synthesis.spelling import Spelling

OLD = Spelling(long_s=1, double_hyphens=1)


@pytest.fixture
def draw(make_font):
    """The characters that a font with the given letters draws for a text."""

    def drawn(text: str, letters: str = "abcdefghijklmnopqrstuvwxyzſ=-", spelling: Spelling = OLD) -> str:
        face = Face(Path(make_font("old", letters=letters)))
        return spelling.drawn(text, face, np.random.default_rng(0))

    return drawn


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("das ist so", "das iſt ſo"),
        ("wasser", "waſſer"),
        ("dass", "daſs"),
        ("bis-", "bis="),
        ("les, s'est", "les, s'eſt"),
        ("a-b", "a-b"),
        ("s1", "s1"),
    ],
)
def test_s_is_long_before_a_letter_and_a_final_hyphen_double(draw, text, drawn):
    assert draw(text) == drawn
    assert len(drawn) == len(text)


def test_a_font_without_the_old_forms_draws_todays(draw):
    assert draw("wasser-", letters="abcdefghijklmnopqrstuvwxyz-") == "wasser-"


def test_without_shares_nothing_changes(draw):
    assert draw("ſee wasser-", spelling=Spelling()) == "ſee wasser-"


def test_texts_are_labeled_in_todays_spelling():
    assert OLD.edited("waſſer") == "wasser"
    assert Spelling().edited("waſſer") == "waſſer"


def test_a_share_outside_0_to_1_is_refused():
    with pytest.raises(ConfigError, match=r"spelling\.long_s is a share of lines, from 0 to 1, not 1\.5"):
        Spelling(long_s=1.5)
