"""An adapter on disk: a file like a model's that holds small changes of one only, and the hash of what it changes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from drethtr.base import config
from drethtr.base.errors import CheckpointError
from drethtr.network.adapter import apply_changes
from drethtr.network.weights_file import check_finite
from drethtr.recognition.confidence.trust import Trust
from drethtr.recognition.model_file import (
    ADAPTER,
    FORMAT,
    SENSELESS,
    SHIPPED,
    Model,
    load_model,
    parse_header,
    read_tensors,
    weights_hash,
    write_tensors,
)


@dataclass(frozen=True)
class Adapter:
    """Low-rank changes of one model, as `drethtr.network.adapter` applies them, with their card and trust.

    base    hash of the weights that are changed
    beside  name of the file they come from, which is looked for beside the adapter's own
    """

    changes: Mapping[str, Tensor]
    base: str
    beside: str
    card: Mapping[str, Any]
    trust: Trust = field(default_factory=Trust)


def save_adapter(adapter: Adapter, path: Path) -> None:
    """Write an adapter in one atomic step, its numbers in float16."""
    header = {
        "format": FORMAT,
        "base": adapter.base,
        "beside": adapter.beside,
        "card": dict(adapter.card),
        "trust": config.to_dict(adapter.trust),
    }
    tensors = {name: tensor.detach().half().cpu().contiguous() for name, tensor in adapter.changes.items()}
    write_tensors(tensors, path, {ADAPTER: json.dumps(header, ensure_ascii=False)})


def holds_adapter(path: Path) -> bool:
    """Whether a file is a whole adapter, as its header says; no weights are read."""
    try:
        with safe_open(path, framework="pt") as file:
            return ADAPTER in (file.metadata() or {})
    except (SafetensorError, OSError):
        return False


def load_adapter(path: Path) -> Adapter:
    """Read an adapter.

    Raises:
        CheckpointError: if the file cannot be used, saying why.
    """
    tensors, metadata = read_tensors(path)
    if ADAPTER not in metadata:
        raise CheckpointError(f"{path}: not an adapter")
    header = parse_header(path, metadata, ADAPTER)
    try:
        check_finite(tensors)
        trust = config.from_dict(Trust, header["trust"])
        base, beside = str(header["base"]), Path(str(header["beside"])).name
        return Adapter(tensors, base, beside, header["card"], trust)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error
    except SENSELESS as error:
        raise CheckpointError(f"{path}: the adapter's header is not understood: {error}") from error


def load_adapted(adapter: Adapter, bases: Iterable[Path], device: torch.device | str = "cpu") -> Model:
    """The model that an adapter is of, looked for among the files `bases`, with the adapter's changes made.

    Raises:
        CheckpointError: if one of them cannot be used, none of them is that model, or the changes do not fit it.
    """
    tried = []
    for path in bases:
        model = load_model(path, device)
        if weights_hash(model) == adapter.base:
            return changed(model, adapter, path)
        tried.append(str(path))
    its = f"the adapter is of a model with the hash {adapter.base}, from a file {adapter.beside}"
    if not tried:
        raise CheckpointError(f"{its}, which is not there: lay it beside the adapter, or name both")
    raise CheckpointError(f"{its}, and not of {' or '.join(tried)}: lay that file beside the adapter, or name both")


def changed(model: Model, adapter: Adapter, path: Path) -> Model:
    """The model of the file `path` with the changes of its adapter."""
    try:
        apply_changes(model.network, adapter.changes)
        check_finite(model.network.state_dict())
    except CheckpointError as error:
        raise CheckpointError(f"{path} with the adapter's changes: {error}") from error
    return replace(model, card=adapter.card, trust=adapter.trust)


def load_named(path: Path, adapter: str | Path | None, device: torch.device | str) -> Model:
    """The model in a file, with an adapter if one is named or `path` is one.

    Raises:
        CheckpointError: if a file cannot be used, or the adapter's model is not found.
    """
    if adapter is not None:
        return load_adapted(load_adapter(Path(adapter)), [path], device)
    if holds_adapter(path):
        changes = load_adapter(path)
        return load_adapted(changes, near(path, changes), device)
    return load_model(path, device)


def near(path: Path, adapter: Adapter) -> Iterator[Path]:
    """The files that may be the model of an adapter which is named without it."""
    for place in (path.parent / adapter.beside, SHIPPED):
        if place.is_file() and not holds_adapter(place):
            yield place
