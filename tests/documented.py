"""The pages of the documentation and their code blocks, for tests that parse and run them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "samples").rglob("*.md")]
FENCE = re.compile(
    r"^( *)```(\w*)\n(.*?)^ *```\n?(\s*```(text|xml|json|markdown)\n(.*?)^ *```)?", re.DOTALL | re.MULTILINE
)


class Block(NamedTuple):
    """A block of code, and its output, if the next block of text or data shows it."""

    language: str
    code: str
    printed: str

    @property
    def commands(self) -> list[str]:
        """The commands to type."""
        lines = self.code.replace("\\\n", " ").splitlines()
        if self.language == "console":
            return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [line.strip() for line in lines] if self.language == "sh" else []


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    found = []
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        _, language, code, _, shown, printed = match.groups()
        if language == "console":
            printed = "".join(line for line in code.splitlines(keepends=True) if not line.startswith("$ "))
        found.append(Block(language, code, printed or ""))
        if shown and (shown != "text" or language == "text"):
            found.append(Block(shown, printed, ""))
    return found


def name_of(page: Path) -> str:
    """The path of a page, as the name of a test case."""
    return page.relative_to(ROOT).as_posix()
