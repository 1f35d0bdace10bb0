"""Untrusted models, adapters, and n-gram models."""

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from conftest import log_probability, varied_model
from hypothesis import strategies as st

from drethtr.base.errors import CheckpointError
from drethtr.language.languages import Languages
from drethtr.language.learn import Ingredient, learn
from drethtr.language.ngrams import dtypes
from drethtr.recognition.model.adapter import Adapter, load_adapter, save_adapter
from drethtr.recognition.model.file import SETTINGS_ERRORS, load_model, save_model
from drethtr.text.tokenizer import Characters
from fuzzing.files import ANYTHING, TEXTS, Bytes, Target, mutated


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
    """A safetensors file with some values of its header replaced."""
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


LEARNED = learn(
    [Ingredient(["abba", "a bad cafe", "he had a bad head"] * 3)], Characters(" abcdefgh"), order=3, most=99
)
NUMBERS = st.sampled_from([0, -1, 1, 2**31, 2**63, 10**30, 0.5, 1e999, None, "1", [], True]) | st.integers(0, 40)


@st.composite
def languages(draw: Any) -> bytes:
    """Languages as stored in a model: their metadata, which may be wrong, then their packed n-grams."""
    arrays = {name: bytearray(getattr(LEARNED, name).tobytes()) for name in dtypes(LEARNED.size)}
    for _ in range(draw(st.integers(0, 4))):
        array = arrays[draw(st.sampled_from(sorted(arrays)))]
        array[draw(st.integers(0, len(array) - 1))] = draw(st.integers(0, 255))
    packed = draw(mutated(st.just(zlib.compress(b"".join(arrays.values())))))
    facts: Any = dict(LEARNED.facts)
    for name in draw(st.lists(st.sampled_from(sorted(facts)), max_size=2)):
        facts[name] = draw(NUMBERS)
    facts = draw(st.just(facts) | st.sampled_from([{}, [], None]))
    names = draw(st.just(["en"]) | st.lists(TEXTS, max_size=3))
    return json.dumps(draw(st.just(dict.fromkeys(names, facts)) | ANYTHING)).encode() + b"\n" + packed


def use_languages(path: Path) -> None:
    """Load languages like those of a model, and score texts with them."""
    facts, _, packed = path.read_bytes().partition(b"\n")
    try:
        header = json.loads(facts)
        arrays = dict.fromkeys(header, np.frombuffer(packed, dtype=np.uint8))
        found = Languages.of_packed(LEARNED.size, header, arrays)
    except SETTINGS_ERRORS as error:  # as `load_model` does
        raise CheckpointError(str(error)) from error
    for tokens in ([], [4, 5, 4], list(range(LEARNED.size))):
        if found:
            assert np.isfinite(log_probability(found, tokens))
            assert len(found.surprises(tokens)) == len(tokens)


def targets(folder: Path) -> dict[str, Target]:
    """The targets of this module; `folder` is for files generated once."""
    return {
        "model": Target(".safetensors", mutated(with_header(model_files(folder))), load_model),
        "adapter": Target(".safetensors", mutated(with_header(adapter_files(folder))), load_adapter),
        "languages": Target(".ngrams", languages(), use_languages),
    }
