"""What validation writes into the card of a model."""

from types import SimpleNamespace

from drethtr.base import config
from drethtr.recognition.model.file import load_model
from drethtr.training.feed.stream import beginnings
from drethtr.training.metrics_log import TrainingLog
from drethtr.training.run import RunConfig
from drethtr.training.snapshot import Progress
from drethtr.training.validation import Candidate, card_of, validate


def test_a_card_tells_no_password(tmp_path):
    address = "https://ann:secret@example.org/lines.parquet?sig=secret"
    (tmp_path / "run.toml").write_text(
        f'samples = 8\ntrain = [{{ kind = "Real", paths = ["{address}"] }}]\nvalidation = {{ paths = ["lines"] }}\n'
    )
    run = config.load(RunConfig, tmp_path / "run.toml")
    told = card_of(Progress(beginnings(1), bfloat16=False), run)["run"]
    assert "secret" not in str(told) and told["samples"] == 8
    assert told["train"][0]["paths"][0].startswith("https://example.org/lines.parquet")


def test_a_set_of_a_folder_whose_name_is_not_utf_8_has_its_rate(tiny_model, tmp_path):
    rates = SimpleNamespace(cer=0.25, characters=4)

    class Validator:
        samples = (None,)

        def __call__(self, model, network):
            return SimpleNamespace(sets={"m\udce9m": rates}, overall=rates)

    best = tmp_path / "best.safetensors"
    candidate = Candidate(tiny_model, None)
    validate(Validator(), candidate, best, TrainingLog(), Progress(beginnings(1), bfloat16=False))
    assert load_model(best).card["validation_cer"] == {r"m\udce9m": 0.25, "all": 0.25}
