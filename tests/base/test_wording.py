import pytest

from drethtr.base.wording import in_words


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
