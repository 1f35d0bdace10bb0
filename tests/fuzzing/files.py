"""Building blocks for almost valid files of any format, and the type of targets."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

Bytes = st.SearchStrategy[bytes]


class Target(NamedTuple):
    """Files with an extension, and a use of such a file that may raise nothing but `DrethtrError`."""

    ending: str
    files: Bytes
    use: Callable[[Path], object]


# Values that readers must expect anywhere.
NUMBERS = st.sampled_from(
    ["0", "-1", "1", "40", "99999", "1e9", "1e999", "nan", "1" * 5000, "٣", "0x1", " 7 ", "1,2", "", "-0.0", "1/2"]
)
TEXTS = st.text(max_size=12) | st.sampled_from(
    [
        "\ud800",
        "\0",
        "]]>",
        "&amp;",
        "--",
        "../../etc/passwd",
        "=1+1",
        "a" * 3000,
        "{",
        "readingOrder {index:1;}",
        "\u202e",
    ]
)
PLACES = st.lists(st.integers(-50, 999).map(str), max_size=12).map(" ".join) | NUMBERS
VALUES = NUMBERS | TEXTS | PLACES

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def mutated(draw: Any, files: Bytes) -> bytes:
    """A file with a few parts flipped, replaced, repeated, cut off or overwritten."""
    data = bytearray(draw(files))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, max(len(data) - 1, 0)))
        length = draw(st.integers(1, 40))
        piece = bytes(data[start : start + length])
        kind = draw(st.integers(0, 4))
        if kind == 0:
            data[start : start + length] = draw(st.binary(max_size=8))
        elif kind == 1:
            data[start : start + length] = piece * draw(st.integers(2, 5))
        elif kind == 2 and data:
            data[start] ^= 1 << draw(st.integers(0, 7))
        elif kind == 3:
            del data[start:]
        else:
            data[start : start + length] = draw(
                st.sampled_from([b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff", b"9" * 12])
            )
    return bytes(data)


def escaped(text: str) -> str:
    """Escape a text for an attribute; characters forbidden in XML stay."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def elements(names: str, attributes: str, depth: int = 4) -> st.SearchStrategy[str]:
    """Trees of elements with these names and attributes (separated by spaces), in any order."""
    known = st.dictionaries(st.sampled_from(attributes.split()), VALUES, max_size=3)

    def element(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        def made(name: str, given: dict[str, str], children: list[str]) -> str:
            start = name + "".join(f' {key}="{escaped(value)}"' for key, value in given.items())
            return f"<{start}>{''.join(children)}</{name}>" if children else f"<{start}/>"

        return st.builds(made, st.sampled_from(names.split()), known, st.lists(inside, max_size=4))

    return st.recursive(TEXTS.map(escaped), element, max_leaves=4 * depth)


@st.composite
def encoded(draw: Any, texts: st.SearchStrategy[str]) -> bytes:
    """A text in some encoding, possibly other than declared."""
    text, encoding = (
        draw(texts),
        draw(st.sampled_from(["utf-8"] * 4 + ["utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252"])),
    )
    declared = draw(st.sampled_from(["", f'<?xml version="1.0" encoding="{encoding}"?>', "\n"]))
    return (declared + text).encode(encoding, "replace")


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects with these fields, some of which may be missing."""
    return st.fixed_dictionaries({}, optional=fields) | st.fixed_dictionaries(fields)


def as_json(value: Any) -> bytes:
    """Encode as JSON, which may contain lone surrogates."""
    return json.dumps(value).encode()
