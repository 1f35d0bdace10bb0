"""Names of elements that are unique in their file."""

import re
from collections.abc import Iterable, Iterator, Sequence

from drethtr.documents.markup import Element

STARTS = "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff"
NO_PART = re.compile(f"[^{STARTS}0-9.-]")
NO_START = re.compile(f"^(?=[^{STARTS}])|^$")


class Identifiers:
    """Hands out ids that XML allows, each once; `taken` are in use already."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self.tried: dict[str, Iterator[str]] = {}

    def claim(self, wanted: str) -> str:
        """The id, if it is free and XML allows it, else one much like it."""
        valid = NO_START.sub("_", NO_PART.sub("_", wanted))
        names = self.tried.setdefault(valid, numbered(valid))  # goes on behind those that were taken before
        free = next(name for name in names if name not in self.taken)
        self.taken.add(free)
        return free


def ids_of(elements: Sequence[Element], attribute: str, kind: str) -> list[str]:
    """The id of each element; one that has none, or one that was used before, is numbered, the same way every time."""
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
