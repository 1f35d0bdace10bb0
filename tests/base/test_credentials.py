"""Test addresses without what opens them."""

import json

import pytest

from drethtr.base.credentials import without_credentials


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:secret@host:5432/archive", "postgresql://host:5432/archive"),
        ("postgresql://me:se@cret?#@host/archive", "postgresql://host/archive"),  # as libpq reads it
        ("postgresql://me:se/c@ret@host/archive", "postgresql://host/archive"),
        (
            "https://host:8080/a@b https://[::1]:80/a@b https://c",
            "https://host:8080/a@b https://[::1]:80/a@b https://c",
        ),
        ("https://b.org/ark:/12/a@2.jpg", "https://b.org/ark:/12/a@2.jpg"),
        ("postgresql:///a?password=secret&host=b", "postgresql:///a?password=…&host=b"),
        ("https://secret@host/a.parquet#train", "https://host/a.parquet#train"),
        ("zip://a.png::sftp://me:secret@host/a.zip", "zip://a.png::sftp://host/a.zip"),
        ("https://b.s3.net/a?X-Amz-Date=1&X-Amz-Signature=secret", "https://b.s3.net/a?X-Amz-Date=1&X-Amz-Signature=…"),
        (
            "https://b.net/a?auth=secret&page_pwd=secret&access_key=secret",
            "https://b.net/a?auth=…&page_pwd=…&access_key=…",
        ),
        ("https://b.net/a?key=12&monkey=1", "https://b.net/a?key=12&monkey=1"),
        ("https://b.blob.net/a?sv=1&sig=secret#train", "https://b.blob.net/a?sv=1&sig=…#train"),
        ("hf://datasets/me/lines@main/a.parquet", "hf://datasets/me/lines@main/a.parquet"),
        ("me@example.org about https://example.org/a", "me@example.org about https://example.org/a"),
    ],
)
def test_addresses_are_kept_without_what_opens_them(address, shown):
    assert without_credentials(address) == shown
    assert json.loads(without_credentials(json.dumps([address, "a@b"]))) == [shown, "a@b"]
