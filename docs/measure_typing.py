"""Count the keystrokes for correcting readings in `drethtr edit`, in a text editor, and for retyping the page.

A simulated typist who knows the text works through the real page in Chromium, line by line, with the keyboard alone.
She goes to a wrong word with F2 or F3, whichever is shorter, takes an alternative of it with Alt and its number where
the right one is offered, else types over it, retypes a line where that is shorter, and confirms the line. In the end,
the PAGE file must contain the true text. Keystrokes in the text editor and for retyping are computed.

Keystrokes are counted as pressed: a held modifier counts once, a capital as one key. Seconds follow the keystroke-level
model of Card, Moran and Newell (1980): K, 0.28 per key; M, 1.35 per decision, one per line and per place where she
stops. Reading and finding errors are not counted.

    drethtr transcribe PAGES/*.alto.xml --lines given --format page --output READ
    python docs/measure_typing.py PAGES READ
"""

import shutil
import sys
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any

from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright
from served import CHROMIUM, served

from drethtr.documents.page import TextLine
from drethtr.documents.read import read_page

KEY, DECISION = 0.28, 1.35
"""Seconds."""

STOP = 4
"""Estimated keys per correction beside those typed, to choose between ways."""

SEEN = """async ([truth, threshold]) => {
    const { differencesOf, doubtsOf, wordsOf } = await import("/static/page/words.js");
    const text = document.activeElement.closest(".text");
    const line = text.closest(".line");
    const [, id] = location.pathname.match(/p[/](.+)/);
    const { lines } = await (await fetch(`/api/pages/${id}`)).json();
    const { words } = lines.find(({ id }) => id === line.dataset.line);
    const range = getSelection().getRangeAt(0);
    const offset = (node, place) => {
        const before = document.createRange();
        before.selectNodeContents(text);
        before.setEnd(node, place);
        return before.toString().length;
    };
    return {
        id: line.dataset.line,
        text: text.textContent,
        first: offset(range.startContainer, range.startOffset),
        last: offset(range.endContainer, range.endOffset),
        differences: differencesOf(text.textContent, truth),
        doubts: doubtsOf(text.textContent, words, threshold),
        others: [...line.querySelectorAll(".other-words:not([hidden]) .word")].map((other) => other.textContent),
        waits: line.querySelector(".other-words:not([hidden]) .skeleton") !== null,
        words: wordsOf(text.textContent),
    };
}"""
"""What the typist sees of the line at the caret, and its differences from the truth."""


THRESHOLD = """async () => {
    const { marking } = await import("/static/page/words.js");
    const [, id] = location.pathname.match(/p[/](.+)/);
    return marking((await (await fetch(`/api/pages/${id}`)).json()).lines, 0.7).threshold;
}"""
"""The confidence below which words of the page are marked."""


@dataclass(frozen=True)
class Effort:
    """The cost of a way of working."""

    keys: int = 0
    decisions: int = 0

    @property
    def seconds(self) -> float:
        """Seconds by the keystroke-level model."""
        return self.keys * KEY + self.decisions * DECISION

    def __add__(self, other: "Effort") -> "Effort":
        return Effort(self.keys + other.keys, self.decisions + other.decisions)


class Typist:
    """Corrects pages in a browser tab, and counts the effort."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.threshold: float = tab.evaluate(THRESHOLD)
        self.effort = Effort()
        self.held = ""

    def press(self, key: str, times: int = 1) -> None:
        """Press a key, possibly with modifiers, which stay held between presses."""
        held, _, _ = key.rpartition("+")
        for _ in range(times):
            new = [name for name in held.split("+") if name and name not in self.held.split("+")]
            self.effort += Effort(1 + len(new))
            self.held = held
            self.tab.keyboard.press(key)

    def type(self, text: str) -> None:
        """Type a text."""
        self.held = ""
        self.effort += Effort(len(text))
        self.tab.keyboard.type(text)

    def see(self, truth: str) -> dict[str, Any]:
        """The line at the caret."""
        seen: dict[str, Any] = self.tab.evaluate(SEEN, [truth, self.threshold])
        return seen

    def correct(self, truth: str) -> None:
        """Correct the line at the caret, confirm it, and go on."""
        self.effort += Effort(0, 1)
        self.retype(truth)
        while found := (seen := self.see(truth))["differences"]:
            self.effort += Effort(0, 1)
            self.change(seen, found[0])
        self.press("Control+Enter")

    def retype(self, truth: str) -> None:
        """Retype the line, if that is shorter than correcting it."""
        if 2 + len(truth) < cost_of(self.see(truth)["text"], truth):
            self.effort += Effort(0, 1)
            self.press("Alt+0")
            self.type(truth)

    def change(self, seen: dict[str, Any], difference: dict[str, Any]) -> None:
        """Take an alternative of a word where it is offered, or type over a difference."""
        self.go(seen, difference)
        theirs = difference["theirs"]
        while (there := self.see(theirs))["waits"]:
            sleep(0.05)
        if difference["text"] and " " not in difference["text"] and theirs in there["others"]:
            self.press(f"Alt+{there['others'].index(theirs) + 1}")
            return
        if not theirs:
            self.press("Delete")
        elif difference["start"] < difference["end"]:
            self.type(theirs)
        else:
            self.type(f"{theirs} " if difference["start"] < len(seen["text"]) else f" {theirs}")

    def go(self, seen: dict[str, Any], difference: dict[str, Any]) -> None:
        """Select a difference, or put the caret where words are missing, with the fewest keys."""
        start, end = difference["start"], difference["end"]
        if start == end == len(seen["text"]):
            self.press("Control+End")
            return
        here = seen["last"]
        if start < here:
            self.press("Control+Home")  # Home alone stays on the same row of a wrapped line
            here = 0
        doubts, words = (
            [word for word in seen[kind] if here < word["end"] and word["start"] <= start]
            for kind in ("doubts", "words")
        )
        if doubts and doubts[-1]["start"] == start and len(doubts) < len(words):
            self.press("F2", len(doubts))
        else:
            self.press("F3", len(words))
        if start == end:
            self.press("ArrowLeft")  # before the selected word
        else:
            self.extend(end + (not difference["theirs"] and end < len(seen["text"])))

    def extend(self, end: int) -> None:
        """Extend the selection to an offset."""
        while (last := self.see("")["last"]) != end:
            by_word = "Control+Shift+ArrowRight" if last < end - 1 else "Shift+ArrowRight"
            self.press(by_word if last < end else "Shift+ArrowLeft")


def cost_of(text: str, truth: str) -> int:
    """Estimate the keystrokes to change a text into the truth."""
    words, right = text.split(), truth.split()
    blocks = SequenceMatcher(None, words, right, autojunk=False).get_opcodes()
    return sum(STOP + len(" ".join(right[a:b])) for kind, _, _, a, b in blocks if kind != "equal")


def typed(truth: str) -> Effort:
    """The effort of typing a line and pressing Enter."""
    return Effort(len(truth) + 1, 1)


def in_editor(line: TextLine, truth: str) -> Effort:
    """The least effort of correcting a line in a text editor, and going to the next one."""
    words, right = line.text.split(), truth.split()
    effort, place = Effort(2, 1), 0
    for kind, start, end, first, last in SequenceMatcher(None, words, right, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        walk = 1 + start - place + (2 + end - start if end > start else 0)  # by words, then to the end of the error
        effort += Effort(walk + len(" ".join(right[first:last])) + (start == end), 1)
        place = end
    return min(effort, Effort(2 + len(truth) + 2, 2), key=lambda way: way.seconds)


def truths_of(path: Path) -> dict[str, str]:
    """The true texts of the lines of a page, by id."""
    return {line.id: " ".join(line.text.split()) for line in read_page(path).lines if line.transcription is not None}


def work(tab: Tab, name: str, truths: dict[str, str], file: Path) -> Effort:
    """Correct a page, and check that the file has the true text."""
    tab.get_by_role("link", name=f"{name}.jpg").click()
    tab.locator(".text:focus").wait_for()
    typist = Typist(tab)
    lines = [line.id for line in read_page(file).lines]
    for line in lines:
        if line in truths:
            typist.correct(truths[line])
        else:
            typist.press("Enter")
    tab.locator(".saved[data-state=saved]").wait_for()
    saved = truths_of(file)
    wrong = [line for line in truths if saved.get(line) != truths[line]]
    if wrong:
        raise SystemExit(f"{name}: not saved as typed: {wrong}")
    tab.locator("a.home").click()
    return typist.effort


def main() -> None:
    """Print the table."""
    known, read = map(Path, sys.argv[1:3])
    print("page                        lines   typed  editor    edit   seconds: typed  editor    edit")  # noqa: T201
    totals, lines = [Effort()] * 3, 0
    with TemporaryDirectory() as place, sync_playwright() as driver:
        folder = Path(place)
        pages = {path.name.removesuffix(".page.xml"): path for path in sorted(read.glob("*.page.xml"))}
        for name, path in pages.items():
            shutil.copy(path, folder)
            shutil.copy(known / f"{name}.jpg", folder)
        with served(folder) as site:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            tab = browser.new_page(viewport={"width": 1300, "height": 850})
            tab.set_default_timeout(60_000)
            tab.goto(site.address)
            for name, path in pages.items():
                truths = truths_of(known / f"{name}.alto.xml")
                rows = [line for line in read_page(path).lines if line.id in truths]
                sums = [
                    sum((typed(truths[line.id]) for line in rows), Effort()),
                    sum((in_editor(line, truths[line.id]) for line in rows), Effort()),
                    work(tab, name, truths, folder / path.name),
                ]
                totals = [total + way for total, way in zip(totals, sums, strict=True)]
                lines += len(rows)
                show(name, len(rows), sums)
            browser.close()
    show("all", lines, totals)


def show(name: str, lines: int, ways: list[Effort]) -> None:
    """Print a row."""
    keys, seconds = "".join(f"{way.keys:8d}" for way in ways), "".join(f"{way.seconds:8.0f}" for way in ways)
    print(f"{name:<26}{lines:7d}{keys}         {seconds}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
