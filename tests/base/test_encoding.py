import pytest

from drethtr.base.encoding import decoded, json_in
from drethtr.base.errors import DataError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_text_is_read_without_its_byte_order_mark(encoding):
    assert decoded("é ſ\n".encode(encoding), "a.txt") == "é ſ\n"


@pytest.mark.parametrize(("content", "name"), [(b"caf\xe9", "UTF-8"), (b"\xff\xfe\x00", "UTF-16")])
def test_another_encoding_is_named_with_the_cure(content, name):
    with pytest.raises(DataError, match=f"a.txt: is not {name}; save it as UTF-8"):
        decoded(content, "a.txt")


def test_what_json_says_can_be_written():
    found = json_in(rb'{"a\ud800": ["\udc00\ud83d\ude00", NaN, 12345678901234567890, "\\ud800"]}')
    assert found.keys() == {"a\ufffd"} and found["a\ufffd"][::2] == ["\ufffd😀", 12345678901234567890]
    assert found["a\ufffd"][3] == r"\ud800"
