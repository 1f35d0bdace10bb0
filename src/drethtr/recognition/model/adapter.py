"""An adapter on disk: low-rank updates of one model (LoRA, arXiv 2106.09685), and the hash of its base model."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from drethtr.base import config
from drethtr.base.errors import CheckpointError
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.file import (
    ADAPTER,
    FORMAT,
    SETTINGS_ERRORS,
    SHIPPED,
    Model,
    load_model,
    parse_header,
    weights_hash,
    without_record,
)
from drethtr.recognition.model.weights import (
    Array,
    Weights,
    as_float16,
    check_finite,
    in_float32,
    read_file,
    read_metadata,
    write_tensors,
)

UP, DOWN = ".up", ".down"
"""Suffixes of the names of a layer's two factors: up (outputs, rank) x down (rank, inputs) is added to its weight."""


@dataclass(frozen=True)
class Adapter:
    """Low-rank updates of one model, with their card and calibration record.

    base    hash of the base weights
    beside  name of the base model's file, expected beside the adapter
    whole   `without_record` of the base model that the record was measured with; "" if unknown
    """

    changes: Weights
    base: str
    beside: str
    card: Mapping[str, Any]
    record: CalibrationRecord = field(default_factory=CalibrationRecord)
    whole: str = ""


def load_named(path: Path, adapter: str | Path | None) -> Model:
    """The model in a file, with an adapter if one is named or `path` is one.

    Raises:
        CheckpointError: if a file cannot be used, or the adapter's model is not found.
    """
    if adapter is not None:
        return load_adapted(load_adapter(Path(adapter)), [path])
    if holds_adapter(path):
        changes = load_adapter(path)
        return load_adapted(changes, near(path, changes))
    return load_model(path)


def near(path: Path, adapter: Adapter) -> Iterator[Path]:
    """The files that may be the base model of an adapter, if none is given."""
    for place in (path.parent / adapter.beside, SHIPPED):
        if place.is_file() and not holds_adapter(place):
            yield place


def holds_adapter(path: Path) -> bool:
    """Whether a file is a complete adapter, judged by its header."""
    try:
        return ADAPTER in read_metadata(path)
    except CheckpointError:
        return False


def load_adapter(path: Path) -> Adapter:
    """Read an adapter.

    Raises:
        CheckpointError: if the file cannot be used, saying why.
    """
    tensors, metadata = read_file(path)
    if ADAPTER not in metadata:
        raise CheckpointError("not an adapter; give a file that drethtr model finetune --adapter wrote", path)
    header = parse_header(path, metadata, ADAPTER)
    try:
        changes = {name: in_float32(factor) for name, factor in tensors.items()}
        check_finite(changes)
        record = config.from_dict(CalibrationRecord, header["trust"])
        base, beside = str(header["base"]), Path(str(header["beside"])).name
        return Adapter(changes, base, beside, header["card"], record, str(header.get("whole", "")))
    except CheckpointError as error:
        raise CheckpointError(str(error), path) from error
    except SETTINGS_ERRORS as error:
        raise CheckpointError(f"invalid settings in the header of this adapter: {error}", path) from error


def load_adapted(adapter: Adapter, bases: Iterable[Path]) -> Model:
    """The base model of an adapter, one of the files `bases`, with the adapter applied.

    Without its calibration if the base model's n-grams or rescorer have changed.

    Raises:
        CheckpointError: if a file cannot be used, none is the base model, or the adapter does not fit it.
    """
    tried = []
    for path in bases:
        model = load_model(path)
        if weights_hash(model.weights) == adapter.base:
            try:
                weights = adapted(model.weights, adapter.changes)
            except CheckpointError as error:
                raise CheckpointError(f"{path} with the adapter's changes: {error}") from error
            record = adapter.record if adapter.whole in ("", without_record(model)) else CalibrationRecord()
            return replace(model, weights=weights, card=adapter.card, record=record)
        tried.append(str(path))
    its = f"this adapter belongs to the model with hash {adapter.base}, from {adapter.beside}"
    if not tried:
        raise CheckpointError(f"{its}, which was not found; put it beside the adapter, or give both")
    raise CheckpointError(f"{its}, not to {' or '.join(tried)}; put that file beside the adapter, or give both")


def adapted(weights: Weights, changes: Weights) -> dict[str, Array]:
    """The weights plus the low-rank updates.

    Raises:
        CheckpointError: if the updates do not fit the weights, or are too large.
    """
    layers = {name.removesuffix(part) for name in changes for part in (UP, DOWN) if name.endswith(part)}
    if changes.keys() != {layer + part for layer in layers for part in (UP, DOWN)}:
        raise CheckpointError("one half of a low-rank update is missing; the file is damaged")
    if strange := sorted(layer for layer in layers if f"{layer}.weight" not in weights):
        raise CheckpointError(f"the adapter changes layers this network does not have, such as {strange[0]}")
    plain = dict(weights)
    for layer in sorted(layers):
        name = f"{layer}.weight"
        up, down, weight = (
            factor.astype(np.float64) for factor in (changes[layer + UP], changes[layer + DOWN], plain[name])
        )
        fits = up.ndim == down.ndim == 2 and up.shape == (*weight.shape[:1], len(down))
        if not fits or len(up) * down.shape[1] != weight.size:
            raise CheckpointError(f"the adapter's update of {layer} does not have the shape of its weight")
        # Summed in double precision, so that the weights and their hash are the same on every machine.
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is refused below
            plain[name] = (weight + (up @ down).reshape(weight.shape)).astype(np.float32)
    check_finite(plain)
    return plain


def save_adapter(adapter: Adapter, path: Path) -> None:
    """Write an adapter atomically, in float16 as far as its numbers fit."""
    header = {
        "format": FORMAT,
        "base": adapter.base,
        "beside": adapter.beside,
        "card": dict(adapter.card),
        "trust": config.to_dict(adapter.record),
        "whole": adapter.whole,
    }
    # Half precision halves the file; updates are small compared with the weights.
    tensors = {name: as_float16(factor) for name, factor in adapter.changes.items()}
    write_tensors(tensors, path, {ADAPTER: json.dumps(header, ensure_ascii=False)})
