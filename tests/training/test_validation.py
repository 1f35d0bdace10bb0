"""What validation writes into the card of a model."""

from drethtr.base import config
from drethtr.training.run import RunConfig
from drethtr.training.validation import settings_of


def test_a_card_tells_no_password(tmp_path):
    address = "https://ann:secret@example.org/lines.parquet?sig=secret"
    (tmp_path / "run.toml").write_text(
        f'samples = 8\ntrain = [{{ kind = "Real", paths = ["{address}"] }}]\nvalidation = {{ paths = ["lines"] }}\n'
    )
    told = settings_of(config.load(RunConfig, tmp_path / "run.toml"))
    assert "secret" not in str(told) and told["samples"] == 8
    assert told["train"][0]["paths"][0].startswith("https://example.org/lines.parquet")
