"""Models, the language models in them, and adapters."""

from pathlib import Path
from typing import Any

import numpy as np
from conftest import varied_model
from hypothesis import strategies as st

from drethtr.recognition.adapter_file import Adapter, load_adapter, save_adapter
from drethtr.recognition.model_file import load_model, save_model
from fuzzing.files import Bytes, Target, mutated


def model_files(folder: Path) -> Bytes:
    """A small model."""
    save_model(varied_model(), folder / "model.safetensors")
    return st.just((folder / "model.safetensors").read_bytes())


def adapter_files(folder: Path) -> Bytes:
    """A small adapter."""
    factors = {"a.up": np.zeros((4, 2), np.float32), "a.down": np.zeros((2, 4), np.float32)}
    save_adapter(Adapter(factors, "0" * 64, "model.safetensors", {"name": "a"}), folder / "adapter.safetensors")
    return st.just((folder / "adapter.safetensors").read_bytes())


@st.composite
def with_header(draw: Any, files: Bytes) -> bytes:
    """A safetensors file in whose header some values are replaced."""
    data = draw(files)
    end = 8 + int.from_bytes(data[:8], "little")
    header = data[8:end].decode()
    pieces = header.replace(",", ":").split(":")
    for _ in range(draw(st.integers(0, 3))):
        old = draw(st.sampled_from(pieces))
        header = header.replace(
            old, draw(st.sampled_from(["0", "-1", "1e999", "null", "[]", "{}", "9" * 30, '\\"a\\"'])), 1
        )
    new = header.encode()
    return len(new).to_bytes(8, "little") + new + data[end:]


def targets(folder: Path) -> dict[str, Target]:
    """All of them; `folder` is for files that are made once."""
    return {
        "model": Target(".safetensors", mutated(with_header(model_files(folder))), load_model),
        "adapter": Target(".safetensors", mutated(with_header(adapter_files(folder))), load_adapter),
    }
