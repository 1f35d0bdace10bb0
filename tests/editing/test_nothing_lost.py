"""No correction is lost: the editor, `--update`, other programs, full disks and kills on one page file, at random.

`DRETHTR_SCHEDULES=10000 pytest tests/editing/test_nothing_lost.py` runs as many schedules as the docs count.
"""

import errno
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from random import Random
from shutil import rmtree

import pytest
from edited_folders import put_page

from drethtr.base import files, locks
from drethtr.base.errors import DataError
from drethtr.documents.document import Provenance
from drethtr.documents.read import read_page
from drethtr.documents.transcription import Review, Transcription
from drethtr.editing.changes import LineEdit
from drethtr.editing.page_files import Stale
from drethtr.editing.workspace import Workspace
from drethtr.pages.results import write_update
from drethtr.pages.task import FileTask

SCHEDULES = int(os.environ.get("DRETHTR_SCHEDULES", "50"))
ACTIONS = 8
MACHINE = Provenance.now("machine")


class Killed(BaseException):
    """The program ends here."""


def texts(file):
    return {line.id: line.text for line in read_page(file).lines}


def put(file, line, text):
    """Write a text as another program does: at one moment, without locks."""
    data = file.read_text(encoding="utf-8")
    other = file.with_name(".other")
    pattern = rf'(<TextLine id="{line}".*?<TextEquiv[^>]*>\s*<Unicode>)[^<]*(</Unicode>\s*</TextEquiv>\s*</TextLine>)'
    other.write_text(re.sub(pattern, rf"\g<1>{text}\g<2>", data, flags=re.DOTALL), encoding="utf-8")
    other.replace(file)


class Schedule:
    """Random actions on a file.

    kept      the texts that their writers believe to be saved, by line
    reviewed  lines whose text a person has confirmed in the editor
    """

    def __init__(self, seed, folder, monkeypatch):
        self.random = Random(seed)
        self.file = put_page(folder, "a")
        self.workspace = Workspace.open(folder)
        [self.page] = self.workspace.folder_pages
        self.kept = {}
        self.reviewed = set()
        self.numbers = 0
        self.trouble = None
        self.flush = files.flush
        monkeypatch.setattr(files, "flush", self.flush_with_trouble)

    def text(self, who):
        self.numbers += 1
        return f"{who} {self.numbers}"

    def line(self):
        return f"l{self.random.randrange(4)}"

    def flush_with_trouble(self, path):
        """What happens between writing the new file and replacing the old one, or, of a folder, just after that."""
        trouble, is_folder = self.trouble, path.is_dir()
        if trouble in ("late", "late kill") if is_folder else trouble in ("full", "kill", "other", "others"):
            self.trouble = "others" if trouble == "others" and self.random.random() < 0.5 else None
            if trouble in ("full", "late"):
                raise OSError(errno.ENOSPC if trouble == "full" else errno.EIO, "the disk")
            if "kill" in trouble:
                raise Killed
            self.other_program()
        self.flush(path)

    def other_program(self):
        line = self.line()
        if line in texts(self.file):
            text = self.text("other")
            put(self.file, line, text)
            self.kept[line] = text

    def editor(self):
        line, text = self.line(), self.text("editor")
        before = self.kept.get(line)
        revision = self.workspace.opened(self.page).line(line).revision
        if self.random.random() < 0.2:
            self.other_program()
        try:
            self.workspace.edit_line(self.page, line, revision, LineEdit(text=text, status=Review.CONFIRMED))
        except Killed:
            self.either(line, before, text)
        except (Stale, DataError):
            assert texts(self.file)[line] != text  # nothing was changed, as the person is told
        else:
            self.kept[line] = text
            self.reviewed.add(line)

    def update(self, force):
        """What `transcribe --update` writes, from a page that it read some time ago."""
        page = read_page(self.file)
        if self.random.random() < 0.5:
            self.editor()
        if self.random.random() < 0.3:
            self.other_program()

        def read(line):
            keeps = line.is_reviewed if force else line.transcription is not None
            return line if keeps else replace(line, transcription=Transcription(self.text("machine"), 0.5))

        task = FileTask(self.file, (), {}, self.file)
        with suppress(DataError, Killed):
            write_update(task, page.with_lines(read), MACHINE, replace=force)
        if force:  # which replaces what nobody has marked as reviewed
            self.kept = {line: text for line, text in self.kept.items() if line in self.reviewed}

    def either(self, line, before, after):
        """A killed writer may have got as far as replacing the file."""
        now = texts(self.file)[line]
        assert before is None or now in (after, before, self.kept.get(line))
        self.kept[line] = now
        if now == after:
            self.reviewed.add(line)

    def run(self):
        for _ in range(ACTIONS):
            troubles = (None, None, None, "full", "kill", "late", "late kill", "other", "others")
            self.trouble = self.random.choice(troubles)
            action = self.random.choice((self.editor, self.editor, self.other_program, self.update, self.update))
            if action == self.update:
                self.update(force=self.random.random() < 0.3)
            else:
                action()
            now = texts(self.file)
            assert {line: now[line] for line in self.kept} == self.kept
        self.workspace.close()
        assert not [path.name for path in self.file.parent.iterdir() if path.name.endswith((".turn", ".unfinished"))]


@pytest.mark.parametrize("part", range(10))
def test_the_newest_text_that_a_person_saved_survives(part, tmp_path, monkeypatch):
    for seed in range(part, SCHEDULES, 10):
        with monkeypatch.context() as patch:
            Schedule(seed, tmp_path / str(seed), patch).run()
        rmtree(tmp_path / str(seed))


EDITOR = """
import sys
from drethtr.editing import Workspace
from drethtr.editing.changes import LineEdit
with Workspace.open(sys.argv[1]) as workspace:
    [page] = workspace.folder_pages
    for number in range(40):
        line = f"l{number % 2}"
        now = workspace.opened(page).line(line)
        workspace.edit_line(page, line, now.revision, LineEdit(text=f"editor {number}"))
"""

ADDER = """
import sys
from pathlib import Path
from drethtr.base.locks import (change_bytes)
for number in range(40):
    change_bytes(Path(sys.argv[1]), lambda data: data.replace(b"</PcGts>", b"<!-- added -->\\n</PcGts>"), 1 << 20)
"""


def test_programs_take_turns(tmp_path):
    """Two processes change one file as fast as they can; every change of both is in it."""
    file = put_page(tmp_path / "scans", "a")
    both = [
        subprocess.Popen([sys.executable, "-c", code, str(argument)])
        for code, argument in ((EDITOR, file.parent), (ADDER, file))
    ]
    assert [process.wait() for process in both] == [0, 0]
    assert file.read_bytes().count(b"<!-- added -->") == 40
    assert [texts(file)[line] for line in ("l0", "l1")] == ["editor 38", "editor 39"]


def test_an_update_waits_for_a_person_who_saves_meanwhile(tmp_path, monkeypatch):
    """While the update has its turn, a save is refused, never reported as done and then replaced."""
    schedule = Schedule(0, tmp_path, monkeypatch)
    monkeypatch.setattr(locks, "TURN_SECONDS", 0.05)
    refused = []

    def save(path):
        if not path.is_dir() and not refused:
            line = schedule.workspace.opened(schedule.page).line("l2")
            with pytest.raises(DataError, match="another program has been changing it") as error:
                schedule.workspace.edit_line(schedule.page, "l2", line.revision, LineEdit(text="typed"))
            refused.append(error.value)

    monkeypatch.setattr(files, "flush", save)
    schedule.update(force=True)
    schedule.workspace.close()
    assert refused and texts(schedule.file)["l2"].startswith("machine")
