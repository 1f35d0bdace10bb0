import pytest

from drethtr.base.wording import first_of, in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "0 seconds"),
        (1, "1 second"),
        (89, "89 seconds"),
        (91, "2 minutes"),
        (80 * 60, "80 minutes"),
        (9000, "2.5 hours"),
    ],
)
def test_a_duration_is_as_exact_as_its_length_deserves(seconds, words):
    assert in_words(seconds) == words


def test_of_many_names_the_first_are_shown():
    assert first_of(["a", "b"]) == "a, b"
    assert first_of([*"abcde"]) == "a, b, c and 2 more"
    assert first_of([*"ab"] * 1000, 1, separator="; ") == "a and 1,999 more"
