"""Training the line detector: it learns, and a killed run ends as if nothing had happened."""

import os
import shutil
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch
from command_line import drethtr
from edited_folders import LINES, put_page
from holding import Hold
from safetensors.numpy import load_file
from training_runs import launch

from drethtr.base import config
from drethtr.base.errors import CheckpointError, ConfigError, DataError
from drethtr.base.links import make_marked
from drethtr.documents.read import read_page
from drethtr.layout.network import SHIPPED, load_lines
from drethtr.training.devices import Devices
from drethtr.training.feed.stream import beginnings
from drethtr.training.layout.finetune import split
from drethtr.training.layout.loop import known_loss, make_learner, model_of, train_layout
from drethtr.training.layout.run import LayoutRun
from drethtr.training.snapshot import Progress

__all__ = ["drethtr"]

RUN = """
samples = 12
save_every = 2
bfloat16 = false
train = [{ kind = "Marked", paths = ["train"] }]
validation = { paths = ["held"], every = 6, at_start = false }
crops = { side = 64, batch = 2, per_page = 3 }
optimizer = { warm_up = 4, method = { kind = "Muon" } }
"""


@pytest.fixture
def pages(tmp_path):
    """Two pages to train on, one to validate with, and a run file."""
    for folder, names in (("train", ("a1", "a2")), ("held", ("b1",))):
        (tmp_path / folder).mkdir()
        for name in names:
            put_page(tmp_path / folder, name)
    (tmp_path / "run.toml").write_text(RUN)
    return tmp_path


def test_killed_and_resumed_equals_uninterrupted(pages, monkeypatch, one_thread):
    monkeypatch.chdir(pages)
    train = ["-m", "drethtr", "model", "train-layout", "run.toml", "--output", "killed", "--device", "cpu"]
    hold = Hold(pages / "held.mark", "snapshot.safetensors", 2)
    process = launch(pages, train, processes=1, **hold.variables)
    hold.wait(process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    run = config.load(LayoutRun, pages / "run.toml", ())
    for output in ("killed", "whole"):
        train_layout(run, pages / output, resume=output == "killed", workers=0)
    for name in ("latest", "best"):
        whole, killed = (load_file(pages / output / f"{name}.safetensors") for output in ("whole", "killed"))
        assert whole.keys() == killed.keys()
        for key in whole:
            assert np.array_equal(whole[key], killed[key]), key


def test_a_run_of_other_settings_or_pages_is_not_resumed(pages, monkeypatch):
    monkeypatch.chdir(pages)
    run = config.load(LayoutRun, pages / "run.toml", ())
    train_layout(run, pages / "out", workers=0, minutes=0)
    with pytest.raises(CheckpointError, match=r"other settings \(seed\)"):
        train_layout(replace(run, seed=1), pages / "out", resume=True, workers=0)
    put_page(pages / "train", "a3")
    with pytest.raises(CheckpointError, match="the data of this run have changed"):
        train_layout(run, pages / "out", resume=True, workers=0)


def test_frozen_weights_stay_and_the_others_learn(pages, monkeypatch):
    monkeypatch.chdir(pages)
    settings = ('tuning={kind="Whole", frozen=["backbone.", "head."]}', "samples=6")
    run = config.load(LayoutRun, pages / "run.toml", settings)
    best = train_layout(run, pages / "out", workers=0)
    before, after = load_lines(SHIPPED).weights, load_lines(best).weights
    for name, weight in after.items():
        assert name.startswith("maps.") or np.array_equal(weight, before[name]), name
    assert np.abs(after["maps.leave.weight"]).max() > 0, "it starts at zero"


def test_the_network_that_finds_lines_has_no_low_rank_updates(pages):
    """Its file has no place for them: such a run trained until its first validation."""
    with pytest.raises(ConfigError, match="tuning: unknown kind 'LowRank'; known: Whole"):
        config.load(LayoutRun, pages / "run.toml", ('tuning={kind="LowRank"}',))


def test_places_that_are_unknown_cost_nothing():
    target = torch.tensor([[[[0, 1], [255, 255]]]], dtype=torch.uint8)
    right, wrong = (torch.tensor([[[[-20.0, 20.0], [other, -other]]]]) for other in (0.0, 90.0))
    assert known_loss(right, target) == known_loss(wrong, target) < 1e-6
    assert known_loss(-right, target) > 10
    assert known_loss(right, torch.full_like(target, 255)) == 0


def test_every_fifth_page_of_a_collection_is_for_validation(tmp_path):
    for number in range(11):
        put_page(tmp_path, f"letter_{number:02}")
    train, held = split([str(tmp_path)], ())
    assert len(train) == 9 and len(held) == 2 and not set(train) & set(held)
    with pytest.raises(DataError, match="both in DATA and in --validation"):
        split([str(tmp_path)], [train[0]])


def test_a_page_is_the_same_by_whatever_name_it_is_given(tmp_path, monkeypatch):
    for number in range(5):
        put_page(tmp_path, f"letter_{number}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"^letter_3\.page\.xml is both in DATA and in --validation"):
        split(["letter_*.xml"], [str(tmp_path / "letter_3.page.xml")])
    train, held = split(["letter_*.xml", str(tmp_path)], ())
    assert len(train) == 4 and len(held) == 1


def test_a_page_that_two_files_describe_is_one_page(tmp_path):
    """Half of an export in PAGE and ALTO was validated on pages that the other half had taught."""
    for number in range(5):
        put_page(tmp_path, f"letter_{number}")
    (tmp_path / "more").mkdir()
    copy = tmp_path / "more" / "letter_3.page.xml"
    copy.write_bytes((tmp_path / "letter_3.page.xml").read_bytes())
    with pytest.raises(DataError, match=r"letter_3\.page\.xml: describes the same page as .*; give one of them"):
        split([str(tmp_path / "*.xml"), str(copy)], (), tmp_path)
    with pytest.raises(DataError, match="both in DATA and in --validation"):
        split([str(tmp_path / "*.xml")], [str(copy)], tmp_path)


def test_pages_are_not_trained_on_and_validated_with(pages, monkeypatch):
    monkeypatch.chdir(pages)
    both = f'validation.paths=["held", "{pages / "train" / "a2.page.xml"}"]'
    with pytest.raises(DataError, match=r"in 'training' \(\S+\) and in 'validation' \(\S+\)"):
        train_layout(config.load(LayoutRun, pages / "run.toml", (both,)), pages / "out", workers=0)


def test_a_card_tells_no_password(pages, monkeypatch):
    monkeypatch.chdir(pages)
    run = config.load(LayoutRun, pages / "run.toml", ('validation.images="https://me:secret@example.org/"',))
    learner = make_learner(run, Devices.open("cpu"))
    card = model_of(learner, Progress(beginnings(1), bfloat16=False), run).card
    assert card["run"]["samples"] == 12 and "example.org" in str(card) and "secret" not in str(card)


def test_finetuning_needs_some_pages_and_no_options_of_lines(drethtr, tmp_path):
    put_page(tmp_path, "a1")
    output = tmp_path / "mine.safetensors"
    few = drethtr("finetune", "--layout", tmp_path, "--output", output)
    assert few.code == 2 and "correct at least 5, better 20" in few.err
    both = drethtr("finetune", "--layout", tmp_path, "--output", output, "--adapter", "--dry-run")
    assert both.code == 2 and "--layout trains on pages; leave out --adapter, --dry-run" in both.err


def test_force_removes_no_folder_of_others(drethtr, tmp_path):
    (tmp_path / "mine.run").mkdir()
    (tmp_path / "mine.run" / "thesis.txt").write_text("years")
    refused = drethtr("finetune", "--layout", tmp_path, "--output", tmp_path / "mine.safetensors", "--force")
    assert refused.code == 2 and "is not from an unfinished run; rename it" in refused.err
    assert (tmp_path / "mine.run" / "thesis.txt").exists()


def test_a_run_that_was_stopped_after_it_wrote_its_result_goes_on(drethtr, tmp_path):
    put_page(tmp_path, "a1")
    output = tmp_path / "mine.safetensors"
    output.touch()
    again = ("finetune", "--layout", tmp_path, "--output", output, "--resume")
    assert "exists; choose another output" in drethtr(*again).err
    make_marked(tmp_path / "mine.run")
    assert "correct at least 5" in drethtr(*again).err, "it begins"


def test_finetuned_weights_that_find_nothing_better_are_not_written(drethtr, tmp_path):
    scans, output = tmp_path / "scans", tmp_path / "mine.safetensors"
    scans.mkdir()
    for number in range(5):
        put_page(scans, f"letter_{number}")
    done = drethtr("finetune", "--layout", scans, "--output", output, "--samples", "4", "--workers", "0")
    # These pages are too easy to become better.
    assert done.code == 3 and not output.exists() and "was not written" in done.err, done
    assert not (tmp_path / "mine.run").exists()


def test_a_run_stopped_in_its_first_validation_goes_on(drethtr, tmp_path):
    scans, output = tmp_path / "scans", tmp_path / "mine.safetensors"
    scans.mkdir()
    for number in range(5):
        put_page(scans, f"letter_{number}")
    make_marked(tmp_path / "mine.run")
    shutil.copy(SHIPPED, tmp_path / "mine.run" / "latest.safetensors")
    done = drethtr("finetune", "--layout", scans, "--output", output, "--samples", "4", "--workers", "0", "--resume")
    assert done.code == 3 and "was not written" in done.err, done


def test_finetuned_weights_find_lines_and_name_no_pages(drethtr, tiny_path, tmp_path, monkeypatch):
    """They are made to be shared, and a list of all pages has no limit."""
    monkeypatch.setattr("drethtr.training.layout.finetune.MIN_GAIN", -1.0)
    scans, output = tmp_path / "scans", tmp_path / "mine.safetensors"
    scans.mkdir()
    for number in range(5):
        put_page(scans, f"letter_{number}")
    done = drethtr("finetune", "--layout", scans, "--output", output, "--samples", "4", "--workers", "0")
    assert done.code == 0 and f"wrote {output}" in done.out, done
    card = load_lines(output).card
    assert card["pages"] == 4 and "letter_" not in str(card)
    options = ("--lines", output, "--model", tiny_path, "--format", "page", "--output", tmp_path / "read")
    assert drethtr("transcribe", scans / "letter_0.png", *options).code == 0
    assert len(read_page(tmp_path / "read" / "letter_0.page.xml").lines) == LINES
