import pytest

from drethtr.base.cache import as_address, is_address


@pytest.mark.parametrize("name", ["https://a.example/B c", " https://a.example/B c", "HTTPS://a.example/B c\n"])
def test_addresses_as_people_copy_them(name):
    assert is_address(name) and as_address(name) == "https://a.example/B c"


@pytest.mark.parametrize("name", ["scan.png", "ftp://a.example", "https:/a", "a https://a.example", ""])
def test_other_names_are_no_addresses(name):
    assert not is_address(name)
