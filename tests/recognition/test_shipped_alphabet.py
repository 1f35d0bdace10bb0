"""The shipped model can write the languages it promises: their letters in both cases, and their punctuation."""

import pytest

from drethtr.recognition.model.file import SHIPPED, load_model

LETTERS = {
    "English": "",
    "French": "àâæçéèêëîïôœùûüÿ",
    "German": "äöüßẞ",
    "Italian": "àèéìíîòóùú",
    "Spanish": "áéíñóúü",
    "Portuguese": "áâãàçéêíóôõúü",
    "Dutch": "áäéèëíïóöúü",
    "Danish and Norwegian": "æøå",
    "Swedish": "åäö",
    "Icelandic": "áðéíóúýþæö",
    "old prints and hands": "ſ",
}
"""Beside a to z; the other case of each is expected, too."""

SIGNS = {
    "English": "'\"-.,;:!?()&’‘“”–—£$",
    "French": "«»…°§",
    "German": "„“‚‘§†",
    "Spanish": "¿¡ªº",
    "abbreviations": "āēīōūãẽĩõũñ",
    "accounts and catalogs": "0123456789+-=×/%€½¼¾№#*[]",
}


@pytest.fixture(scope="module")
def alphabet():
    return set(load_model(SHIPPED).tokenizer.characters)


@pytest.mark.parametrize("language", LETTERS)
def test_letters_of_both_cases(language, alphabet):
    letters = "abcdefghijklmnopqrstuvwxyz" + LETTERS[language]
    both = {*letters, *(c.upper() for c in letters if len(c.upper()) == 1)}
    assert not both - alphabet


@pytest.mark.parametrize("use", SIGNS)
def test_signs(use, alphabet):
    assert not set(SIGNS[use]) - alphabet
