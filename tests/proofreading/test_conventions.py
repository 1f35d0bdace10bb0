import pytest

from drethtr.base.errors import ConfigError
from drethtr.proofreading.conventions import abbreviations, alike, conventions_named, explained, punctuation, spelling


@pytest.mark.parametrize(
    ("convention", "text", "read"),
    [
        (punctuation, "maison,", "maison"),
        (punctuation, "«oui»", '"oui"'),
        (punctuation, "Regie-", "Regie="),
        (spelling, "avait", "avoit"),
        (spelling, "etait", "étoit"),
        (spelling, "daß", "dass"),
        (spelling, "Jahr", "iahr"),
        (spelling, "hat", "hath"),
        (spelling, "uns", "vnſ"),
        (abbreviations, "Monsieur", "M^r"),
        (abbreviations, "Monsieur", "Mr"),
        (abbreviations, "und", "&"),
        (abbreviations, "dicto", "do."),
    ],
)
def test_differences_of_a_convention_are_explained(convention, text, read):
    assert convention(text, read)


@pytest.mark.parametrize(
    ("text", "read"), [("Martin", "Durand"), ("1842", "1843"), ("not", "now"), ("1842", "12."), ("maison", "raison")]
)
def test_errors_are_not(text, read):
    assert not explained(text, read, conventions_named("spelling,abbreviations,punctuation"))


def test_conventions_work_together():
    assert explained("«avait»", "avoit.", conventions_named("spelling, punctuation"))
    assert not explained("«avait»", "avoit.", conventions_named("spelling"))


def test_pairs_of_words_that_are_alike_in_two_texts():
    allowed = conventions_named("spelling,punctuation")
    assert alike("il avait – dit un mot", "il avoit dict vn mot,", allowed) == [
        ("avait", "avoit"),
        ("un", "vn"),
        ("mot", "mot,"),
        ("–", ""),
    ]
    assert alike("il avait", "il avoit", ()) == []


def test_an_unknown_convention_is_refused():
    with pytest.raises(ConfigError, match="did you mean 'spelling'"):
        conventions_named("speling")
