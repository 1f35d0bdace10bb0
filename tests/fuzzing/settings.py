"""Settings: of a run, of a card, and of commands."""

import json
from pathlib import Path

from hypothesis import strategies as st

from drethtr.base import config
from drethtr.sharing.additions import read_additions
from drethtr.training.run import RunConfig
from fuzzing.files import ANYTHING, Bytes, Target, mutated

KEYS = ["samples", "train", "validation", "network", "optimizer", "kind", "paths", "seed", "license", "data", "name"]


def settings(names: list[str]) -> Bytes:
    """TOML with these keys, and values of any kind."""
    values = st.one_of(
        ANYTHING.map(json.dumps),
        st.sampled_from(["[" * 3000, "1979-05-27", "nan", "1" * 5000, "{kind = 'Real'}", "[{}]", "[[]]", "'''", "0x"]),
    )
    keys = st.sampled_from(names) | st.text(max_size=5)
    rows = st.tuples(keys, values).map(" = ".join)
    tables = st.sampled_from(names).map(lambda name: f"[{name}]")
    return st.lists(rows | tables, max_size=6).map(lambda rows: "\n".join(rows).encode("utf-8", "replace"))


def use_settings(path: Path) -> None:
    """Read the settings of a run, and entries of a card."""
    read_additions(path)
    config.load(RunConfig, path)


TARGETS = {"toml": Target(".toml", mutated(settings(KEYS)), use_settings)}
