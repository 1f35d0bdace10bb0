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


def rates_in_card(tiny_model, folder, sets, overall):
    """The error rates in the card after a validation with these ones."""
    rates = {name: SimpleNamespace(cer=cer, characters=4) for name, cer in sets.items()}

    class Validator:
        samples = (None,)

        def __call__(self, model, network):
            return SimpleNamespace(sets=rates, overall=SimpleNamespace(cer=overall, characters=8))

    best = folder / "best.safetensors"
    validate(Validator(), Candidate(tiny_model, None), best, TrainingLog(), Progress(beginnings(1), bfloat16=False))
    return load_model(best).card["validation_cer"]


def test_a_set_of_a_folder_whose_name_is_not_utf_8_has_its_rate(tiny_model, tmp_path):
    assert rates_in_card(tiny_model, tmp_path, {"m\udce9m": 0.25}, 0.25) == {r"m\udce9m": 0.25, "all": 0.25}


def test_a_set_called_all_has_its_rate_beside_that_of_all_sets(tiny_model, tmp_path):
    """Its rate was lost, so that those of the sets did not add up to the whole."""
    rates = rates_in_card(tiny_model, tmp_path, {"all": 0.1, "letters": 0.3}, 0.2)
    assert rates == {"all_2": 0.1, "letters": 0.3, "all": 0.2}
