"""Learning from confirmed lines, in another process, and what becomes of it."""

import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from edited_folders import put_page
from waiting import ended

from drethtr import Recognizer, __version__
from drethtr.base.errors import DataError
from drethtr.base.links import make_marked
from drethtr.base.locks import claimed
from drethtr.documents.transcription import Review
from drethtr.editing import Session, Workspace
from drethtr.editing.changes import LineEdit
from drethtr.editing.index import index_of
from drethtr.editing.jobs import State
from drethtr.editing.journal import FOLDER
from drethtr.editing.learner import (
    MODEL,
    AlreadyLearning,
    adopted_in,
    base_of,
    drethtr_command,
    keep_base,
    trained_share,
)
from drethtr.pages.segmentation import segmentation_named
from drethtr.recognition.confidence.calibration import Calibration
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import Greedy, VerifiedDrafts
from drethtr.recognition.model.file import SHIPPED, load_model, save_model, save_record
from drethtr.search.index import open_index
from drethtr.training.metrics_log import MetricsLog

PAGES = 7

load = partial(Recognizer.load, decoder="greedy")


@pytest.fixture
def opened(tmp_path, tiny_path):
    alike, plain = (VerifiedDrafts(), Greedy()), Logistic(0.0, (0.1,) * 6)
    rate = ErrorRate(Greedy(), factor=1.5, spread=0.1, noise=2.0, sets=10)
    record = CalibrationRecord((Calibration(alike, plain, plain, "float32"),), error_rates=(rate,))
    save_record(tiny_path, record, tiny_path, of=load_model(tiny_path))
    for number in range(PAGES + 1):
        put_page(tmp_path / "scans", f"p{number}", ink=10 * number)  # the same image is learned from once
    with (
        Workspace.open(tmp_path / "scans") as workspace,
        Session(workspace, load(tiny_path), segmentation_named("projection"), tiny_path, load) as session,
    ):
        for row in workspace.pages()[:PAGES]:
            for line in workspace.opened(row["id"]).lines:
                edit = LineEdit(status=Review.CONFIRMED)
                workspace.edit_line(row["id"], line.id, line.revision, edit)
        session.learner.samples = 16
        yield session


def test_what_was_learned_is_measured_by_cross_fitting_adopted_and_read_with(opened, tiny_path):
    job = ended(opened.learner.learn())
    assert job.state is State.DONE, job.error
    result = job.result
    assert (result["learned_from"], result["measured"], result["by_page"]) == (28, 18, False)
    for rate in ("cer", "wer"):
        change = result["change"]
        assert change[rate] == pytest.approx(result[f"{rate}_after"] - result[f"{rate}_before"], abs=2e-4)
        assert change[f"{rate}_low"] <= change[rate] <= change[f"{rate}_high"]

    before = opened.reader.model
    reading = opened.learner.adopt(job)
    assert job.result["adopted"] and job.result["file"] == MODEL and ended(reading).state is State.DONE
    assert adopted_in(opened.workspace.folder) == opened.workspace.folder / MODEL
    adopted = opened.reader.recognizer
    assert Recognizer.load(opened.workspace.folder / MODEL).model.identity == adopted.model.identity != before
    assert isinstance(adopted.strategy, Greedy)
    assert all(row["estimate"] for row in opened.workspace.pages())
    assert any(row["expected_cer"] is not None for row in opened.workspace.pages())
    statuses = [line.status for row in opened.workspace.pages() for line in opened.workspace.opened(row["id"]).lines]
    assert statuses == ["confirmed"] * 4 * PAGES + ["read"] * 4
    with Session(opened.workspace, adopted, segmentation_named("projection"), opened.learner.model, load) as later:
        assert later.learner.base == tiny_path, "a second time, it learns from the same model as before"


def has_learned(session, model):
    job = session.jobs.new("learn", 1)
    session.jobs.update(job, state=State.DONE, result={})
    session.learner.models[job.id] = model
    return job


def started_again(session):
    return Session(session.workspace, session.reader.recognizer, segmentation_named("projection"), None, load)


def test_a_learned_model_is_offered_again_until_it_is_adopted_or_discarded(opened, tiny_model, tiny_path, monkeypatch):
    rates, change = {"cer": 0.3, "wer": 0.5}, {"cer": -0.1, "cer_low": None, "wer": -0.2}
    card = {"lines": 28, "validation_lines": 18, "validation_by_page": False, "change": change}
    card |= {"validation_before": rates, "validation_after": rates}

    def save(arguments):
        target = Path(arguments[arguments.index("--output") + 1])
        save_model(replace(tiny_model, card={"name": "learned", "fine_tuned": card}), target)
        return [sys.executable, "-c", ""]

    monkeypatch.setattr("drethtr.editing.learner.drethtr_command", save)
    ended(opened.learner.learn())
    with started_again(opened) as second:
        [job] = second.jobs.newest_first()
        for _ in range(60):
            ended(second.reader.read_pages([]))
        assert job.result["learned_from"] == 28 and job in second.jobs.newest_first()
        ended(second.learner.learn())
        second.learner.discard(second.jobs.newest_first()[0])
        ended(second.learner.adopt(job))
        assert second.reader.model.startswith("learned ") and second.learner.base == tiny_path
    with started_again(opened) as third:
        assert not third.jobs.newest_first()


def test_a_model_of_a_stranger_without_a_true_gain_is_not_offered(opened, tiny_model):
    place = opened.learner.place / "theirs"
    make_marked(place)
    save_model(replace(tiny_model, card={"fine_tuned": {"change": {"cer": "much"}}}), place / MODEL)
    with started_again(opened) as second:
        assert not second.jobs.newest_first() and not place.exists()


def test_a_learned_model_that_cannot_be_read_is_kept_for_a_version_that_can(opened):
    place = opened.learner.place / "later"
    make_marked(place)
    (place / MODEL).write_bytes(b"of a later version")
    with started_again(opened) as second:
        assert not second.jobs.newest_first() and (place / MODEL).exists()


def test_a_model_that_was_discarded_is_not_offered_any_more(opened, tiny_path):
    job = has_learned(opened, tiny_path)
    opened.learner.discard(job)
    assert job.result is None and "discarded" in job.message


def test_a_model_that_another_program_is_writing_is_not_replaced(opened, tiny_path):
    job = has_learned(opened, learned := tiny_path.replace(tiny_path.with_name(MODEL)))
    file = opened.workspace.folder / MODEL
    with claimed(file), pytest.raises(DataError, match="being written by process"):
        opened.learner.adopt(job)
    assert not file.exists() and opened.learner.adopted is None
    ended(opened.learner.adopt(job))
    assert file.read_bytes() == learned.read_bytes()


def test_a_model_learned_from_the_shipped_one_is_none_of_an_earlier_base(opened, tiny_path):
    for base in (tiny_path, SHIPPED):
        keep_base(tiny_path.parent, base)
        job = has_learned(opened, learned := tiny_path.with_name(MODEL))
        learned.write_bytes(tiny_path.read_bytes())
        ended(opened.learner.adopt(job))
        assert base_of(opened.workspace.folder / FOLDER) == base == opened.learner.base


def test_an_index_is_built_anew_with_the_model_that_is_adopted(opened, tiny_model, tmp_path):
    ended(opened.indexer.start())
    path = index_of(opened.workspace)
    job = has_learned(opened, learned := tmp_path / "learned" / MODEL)
    learned.parent.mkdir()
    save_model(replace(tiny_model, card={"name": "learned"}), learned)
    ended(opened.learner.adopt(job))
    index = ended(opened.indexer.start())
    assert index.state is State.DONE, index.error
    with open_index(path) as found:
        assert found.about["model"].startswith("learned ") and found.size == (PAGES + 1, 4 * (PAGES + 1))


def test_progress_is_what_the_training_says(tmp_path):
    assert trained_share(tmp_path) == 0
    with closing(MetricsLog(tmp_path / "fold_1" / "20_lines", total=64, seen=0)) as log:
        log.record("train", 16, {"total": 1.5})
    assert trained_share(tmp_path) == 0.25 / 3
    (tmp_path / "fold_1" / "20_lines.safetensors").touch()
    with closing(MetricsLog(tmp_path / "fold_2" / "20_lines", total=64, seen=0)) as log:
        log.record("train", 32, {"total": 1.5})
    assert trained_share(tmp_path) == 1.5 / 3


def test_learning_that_is_cancelled_leaves_nothing(opened):
    job = opened.learner.learn()
    with pytest.raises(AlreadyLearning):
        opened.learner.learn()
    job.cancelled.set()
    assert ended(job).state is State.CANCELLED
    assert not list((opened.workspace.folder / ".drethtr").rglob("*.safetensors")) and opened.learner.adopted is None


def test_a_model_that_did_not_become_better_is_no_failure(opened, monkeypatch):
    """Fine-tuning then writes nothing and ends with 3, as its own tests show."""
    ending = [sys.executable, "-c", "raise SystemExit(3)"]
    monkeypatch.setattr("drethtr.editing.learner.drethtr_command", lambda arguments: ending)
    job = ended(opened.learner.learn())
    assert job.state is State.DONE and job.result is None and job.error is None
    assert "did not become better from 28 confirmed lines, so it stays as it is" in job.message
    assert not list((opened.workspace.folder / ".drethtr").rglob("*.safetensors"))
    with pytest.raises(DataError, match="nothing to adopt"):
        opened.learner.adopt(job)


def test_learning_that_fails_says_why(opened):
    opened.learner.base = opened.workspace.folder / "gone.safetensors"
    job = ended(opened.learner.learn())
    assert job.state is State.FAILED
    assert "drethtr model finetune failed" in job.error and "gone.safetensors" in job.error


def test_learning_runs_nothing_that_lies_in_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "typer.py").write_text("open('run', 'w')")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)  # of a command that ran in this process
    told = subprocess.run(drethtr_command(["--version"]), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == __version__ and not (tmp_path / "run").exists()
