"""Learning from confirmed lines, as the page shows it."""

import sys
from dataclasses import replace

import pytest
from browser_steps import served
from edited_folders import put_page

from drethtr.documents.transcription import Review
from drethtr.editing import Workspace
from drethtr.editing.changes import LineEdit
from drethtr.recognition.model.file import save_model

PAGES = 7

LEARNED = {
    "lines": 28,
    "validation_lines": 18,
    "validation_by_page": False,
    "validation_before": {"cer": 0.42, "wer": 0.9},
    "validation_after": {"cer": 0.31, "wer": 0.8},
    "change": {"cer": -0.11, "cer_low": -0.2, "cer_high": -0.05, "wer": -0.1, "wer_low": -0.2, "wer_high": -0.05},
}
LEARNING = """
import shutil, sys, time
from pathlib import Path

learned, go_on, output = map(Path, sys.argv[1:])
while not go_on.exists():
    time.sleep(0.02)
shutil.copy(learned, output)
"""
"""Stands for fine-tuning, which is tested in tests/editing/test_learner.py."""


@pytest.fixture
def confirmed(tmp_path):
    folder = tmp_path / "many"
    for number in range(PAGES):
        put_page(folder, f"p{number}", ink=10 * number)
    with Workspace.open(folder) as workspace:
        for row in workspace.pages():
            for line in workspace.opened(row["id"]).lines:
                workspace.edit_line(row["id"], line.id, line.revision, LineEdit(status=Review.CONFIRMED))
    return folder


def test_what_is_missing_is_said(tab):
    tab.get_by_role("button", name="Learn").click()
    tab.get_by_text("Not yet: learning needs 25 confirmed lines; confirm 25 more.").wait_for()


def test_a_missing_package_is_said_before_the_first_line_is_confirmed(tab, monkeypatch):
    monkeypatch.setattr("drethtr.editing.learner.NEEDED", ("no_such_package",))
    tab.reload()
    tab.get_by_role("button", name="Learn").click()
    tab.get_by_text("pip install 'drethtr[train]'").wait_for()


@pytest.fixture
def go_on(tiny_model, tmp_path, monkeypatch):
    """Learning waits for this file."""
    learned, go_on = tmp_path / "learned.safetensors", tmp_path / "go on"
    save_model(replace(tiny_model, card={"name": "learned", "fine_tuned": LEARNED}), learned)

    def command(arguments):
        output = arguments[arguments.index("--output") + 1]
        return [sys.executable, "-c", LEARNING, str(learned), str(go_on), output]

    monkeypatch.setattr("drethtr.editing.learner.drethtr_command", command)
    return go_on


def test_the_gain_is_shown_before_the_model_is_used(confirmed, tiny_path, go_on, open_tab):
    with served(confirmed, tiny_path) as site:
        tab = open_tab(site)
        tab.get_by_role("button", name="Learn").click()
        tab.get_by_role("button", name="Learn from 28 confirmed lines").click()
        tab.get_by_role("progressbar", name="Progress of learning").wait_for()
        go_on.touch()
        tab.locator(".gain, dialog [role=alert]").wait_for()
        assert not tab.locator("dialog [role=alert]").all_inner_texts()
        assert not list(confirmed.glob("*.safetensors"))
        tab.get_by_role("button", name="Adopt").click()
        tab.get_by_text("pass it to any command as --model").wait_for()
        assert len(list(confirmed.glob("*.safetensors"))) == 1
