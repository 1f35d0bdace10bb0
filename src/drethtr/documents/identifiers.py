"""Unique ids of elements in a file."""

import re
from collections.abc import Iterable, Iterator, Sequence

from drethtr.documents.markup import Element

STARTS = "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff"
NO_PART = re.compile(f"[^{STARTS}0-9.-]")
NO_START = re.compile(f"^(?=[^{STARTS}])|^$")


class Identifiers:
    """Assigns unique, valid XML ids; those in `taken` are already in use."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self.tried: dict[str, Iterator[str]] = {}

    def claim(self, wanted: str) -> str:
        """The wanted id, or a similar one if it is taken or invalid."""
        valid = NO_START.sub("_", NO_PART.sub("_", wanted))
        names = self.tried.setdefault(valid, numbered(valid))  # continues after the last number assigned
        free = next(name for name in names if name not in self.taken)
        self.taken.add(free)
        return free


def ids_of(elements: Sequence[Element], attribute: str, kind: str) -> list[str]:
    """The id of each element; missing and duplicate ids are numbered, reproducibly."""
    taken = {element.attributes.get(attribute, "") for element in elements} | {""}
    seen, ids = set(), []
    for number, element in enumerate(elements, 1):
        own = element.attributes.get(attribute, "")
        if not own or own in seen:
            own = next(new for new in numbered(f"{kind}_{number}") if new not in taken)
            taken.add(own)
        seen.add(own)
        ids.append(own)
    return ids


def numbered(name: str) -> Iterator[str]:
    """`name`, then `name_2`, `name_3` and so on."""
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1
