import pytest
import torch

RUN = """
samples = 8
train = [{ kind = "Real", paths = ["lines"] }]
validation = { paths = ["lines"] }
"""


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(RUN)
    return path


@pytest.fixture
def threads():
    """The number of threads of torch, which is as before after the test."""
    before = torch.get_num_threads()
    yield torch.get_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("command", [("train", "run.toml"), ("finetune", "lines")], ids=" ".join)
def test_threads_are_as_many_as_wanted(drethtr, lines, run, tmp_path, monkeypatch, threads, command):
    """With so few lines, both commands end here, before they compute."""
    monkeypatch.chdir(tmp_path)
    wanted = threads() + 1
    assert drethtr(*command, "--output", "out" + ".safetensors" * (command[0] == "finetune"), "-j", wanted).code == 2
    assert threads() == wanted


@pytest.mark.parametrize(
    ("setting", "answer"),
    [
        ("sampels=9", "did you mean 'samples'?"),
        ("optimizer.learning_rat=1", "did you mean 'learning_rate'?"),
        ("batches.lines=many", "batches.lines: expected int"),
        ("samples", "expected dotted.name=value"),
        ("optimizer.average=1.0", "average=1.0: optimizer.average must be at least 0 and less than 1, not 1.0"),
        ("optimizer.schedule.cycles=0", "cycles=0: optimizer.schedule.cycles must be above 0, not 0.0"),
        ("network.width=7", "width=7: network.width must be even and a multiple of heads, not 7 with"),
        ("seed=-1", "seed=-1: seed must be"),
    ],
)
def test_a_setting_that_is_not_understood(drethtr, run, tmp_path, setting, answer):
    outcome = drethtr("train", run, "--output", tmp_path / "out", "--set", setting)
    assert outcome.code == 2 and outcome.err.startswith("drethtr: ") and outcome.err.count("\n") == 1
    assert answer in outcome.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_called_as_a_model_is_refused(drethtr, run, tmp_path):
    outcome = drethtr("train", run, "--output", tmp_path / "mine.safetensors")
    assert outcome.code == 2 and f"the model will be {tmp_path / 'mine' / 'best.safetensors'}" in outcome.err
    assert not (tmp_path / "mine.safetensors").exists()


def test_a_run_is_not_overwritten(drethtr, run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "snapshot.safetensors").write_text("precious")
    outcome = drethtr("train", run, "--output", tmp_path / "out")
    assert outcome.code == 2 and "--resume" in outcome.err
    assert (tmp_path / "out" / "snapshot.safetensors").read_text() == "precious"


def test_a_file_where_the_folder_should_be_is_refused(drethtr, run):
    outcome = drethtr("train", run, "--output", run)
    assert outcome.code == 2 and outcome.err == f"drethtr: {run} is a file; give a folder to write to\n"


@pytest.mark.parametrize(
    ("kept", "way_on"),
    [("best", "--resume to start over"), ("snapshot", "--resume to continue")],
    ids=["before a snapshot", "after it"],
)
def test_a_stopped_run_says_what_resuming_it_does(drethtr, run, tmp_path, monkeypatch, kept, way_on):
    """It said that a run would be continued that then started over."""

    def stop(run, output, **options):
        (output / f"{kept}.safetensors").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr("drethtr.training.loop.train", stop)
    outcome = drethtr("train", run, "--output", tmp_path / "out")
    assert outcome.code == 130 and outcome.err.endswith(f"the same command with {way_on}\n")


@pytest.mark.parametrize("resume", [True, False])
def test_that_there_is_nothing_to_resume_is_said(drethtr, run, tmp_path, resume):
    outcome = drethtr("train", run, "--output", tmp_path / "wrong", *["--resume"] * resume)
    assert (f"nothing to resume in {tmp_path / 'wrong'}; starting from the beginning" in outcome.err) == resume
