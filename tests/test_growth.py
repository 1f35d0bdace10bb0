"""No regular expression takes time that grows faster than its text: times at two sizes are compared."""

import ast
import importlib
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from growth import grows_evenly

SOURCE = Path(__file__).parents[1] / "src" / "drethtr"
SEARCHING, MATCHING = ("search", "finditer", "findall", "sub", "split"), ("match", "fullmatch")
CODE = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
SEARCHED = {name for code in CODE.values() for name in re.findall(rf"\b(\w+)\.(?:{'|'.join(SEARCHING)})\b", code)}
"""Names of patterns that may match anywhere."""


class Used(NamedTuple):
    """A regular expression, and whether it is searched anywhere; otherwise it is only tried at the beginning."""

    pattern: re.Pattern[str]
    anywhere: bool


def used() -> Iterator[Used]:
    """All regular expressions: compiled in modules, in tables of these as well, or written in calls."""
    for path, code in CODE.items():
        if "import re\n" not in code:
            continue  # to parse them all takes seconds
        tree = ast.parse(code)
        if not any(isinstance(node, ast.Import) and node.names[0].name == "re" for node in ast.walk(tree)):
            continue
        module = importlib.import_module(".".join(path.relative_to(SOURCE.parent).with_suffix("").parts))
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                yield Used(as_text(value), name in SEARCHED)
            else:
                yield from within(value)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                module_name, _, called = ast.unparse(node.func).rpartition(".")
                if module_name == "re" and called in SEARCHING + MATCHING:
                    yield Used(as_text(re.compile(node.args[0].value)), called in SEARCHING)


def within(table: object) -> Iterator[Used]:
    """The patterns in a table, which may be searched."""
    if isinstance(table, tuple | list | dict):
        for member in table.values() if isinstance(table, dict) else table:
            if isinstance(member, re.Pattern):
                yield Used(as_text(member), True)
            else:
                yield from within(member)


def as_text(pattern: re.Pattern[str] | re.Pattern[bytes]) -> re.Pattern[str]:
    text = pattern.pattern
    return re.compile(text if isinstance(text, str) else text.decode("latin-1"), pattern.flags)


def attacks(pattern: str) -> Iterator[str]:
    """Strings to repeat: literals of a pattern, members of its classes, and pairs of these."""
    words = re.findall(r"[A-Za-z]{2,}", pattern)
    signs = [sign for sign in "{}<>:=\"'?!-_./;,[]" if sign in pattern]
    pieces = dict.fromkeys([*words[:4], *signs[:4], " ", "\n", "a", "1"])
    yield from pieces
    yield from (first + second for first, second in product(pieces, pieces) if first != second)


@pytest.mark.parametrize("used", sorted(set(used()), key=str), ids=lambda used: used.pattern.pattern)
def test_no_regular_expression_is_quadratic(used):
    """Wherever it may match, and at the beginning of a text that as a whole does not."""
    pattern, anywhere = used
    for piece in attacks(pattern.pattern):
        for head in ("", *re.findall(r"[A-Za-z]{4,}", pattern.pattern)[:1]):

            def attack(size, head=head, piece=piece):
                text = (head + piece * size)[:size]
                return sum(1 for _ in pattern.finditer(text)) if anywhere else pattern.fullmatch(f"{text}\0")

            assert grows_evenly(attack), (head, piece)
