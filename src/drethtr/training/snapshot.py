"""Everything a run needs to resume after being killed, in one file that is written atomically.

Weights, their average and the optimizer's moments are tensors; counters, the data position and the best score are
JSON in the header. Random state is not saved, since it is derived from the seed at every step. Nothing is pickled.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from drethtr.base import config
from drethtr.base.errors import CheckpointError
from drethtr.base.wording import first_of
from drethtr.recognition.model.file import SETTINGS_ERRORS
from drethtr.recognition.model.weights import read_file, write_tensors
from drethtr.text.tokenizer import Tokenizer
from drethtr.training.feed.stream import Position
from drethtr.training.optimize import MovingAverage, Network

HEADER = "drethtr-run"
"""The metadata key of everything but the tensors."""

SHOWN = 3
"""Maximum number of changed sets of lines to name in a message."""


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    positions  of the streams that the batches of a step come from
    left_out   lines left out so far: too wide for a batch, with more text than fits the image, or unusable
    best       the lowest error of a validation, such as the CER
    stale      validations since the last improvement
    """

    positions: tuple[Position, ...]
    bfloat16: bool
    step: int = 0
    samples: int = 0
    left_out: int = 0
    seconds: float = 0.0
    validated: int = 0
    saved: int = 0
    best: float | None = None
    stale: int = 0


@dataclass(frozen=True)
class RunIdentity:
    """The identity of a run: a snapshot is only resumed by the same run.

    run        its config
    data       descriptions of its training and validation data, with digests
    models     descriptions of the models that it learns from, with digests
    tokenizer  its alphabet; None if it learns no texts
    """

    run: Any
    data: Sequence[str]
    models: Sequence[str] = ()
    tokenizer: Tokenizer | None = None

    def header(self) -> dict[str, Any]:
        """Its parts in the header of a snapshot."""
        return {
            "run": config.to_dict(self.run),
            "tokenizer": {} if self.tokenizer is None else config.to_dict(self.tokenizer),
            "lines": [*self.data],
            "models": [*self.models],
        }

    def refuse_other(self, header: Mapping[str, Any], path: Path) -> None:
        """Refuse the snapshot of another run.

        Raises:
            CheckpointError: naming what differs.
            ConfigError: if the snapshot has a setting that is unknown now.
        """
        own = self.header()
        saved = {**own, **header}  # snapshots of earlier versions lack some of it
        before = config.to_dict(config.from_dict(type(self.run), header["run"]))  # newer settings get their defaults
        then, now = without_paths(before), without_paths(own["run"])
        if changed := sorted(name for name, value in now.items() if then.get(name) != value):
            raise CheckpointError(
                f"saved by a run with other settings ({', '.join(changed)}); start a new output", path
            )
        if saved["tokenizer"] != own["tokenizer"]:
            raise CheckpointError(
                "saved with another alphabet, as the training lines have changed; start a new output", path
            )
        if saved["lines"] != own["lines"]:
            raise CheckpointError(
                f"the data of this run have changed: then {missing_from(saved['lines'], self.data)}, now "
                f"{missing_from(self.data, saved['lines'])}; restore the data, or start a new output",
                path,
            )
        if saved["models"] != own["models"]:
            raise CheckpointError(
                f"this run learned from {missing_from(saved['models'], self.models)}, not from "
                f"{missing_from(self.models, saved['models'])}; restore the model, or start a new output",
                path,
            )


def without_paths(settings: Any) -> Any:
    """Settings without the paths of lines, which are compared by their digests."""
    return json.loads(
        json.dumps(settings), object_hook=lambda table: {key: value for key, value in table.items() if key != "paths"}
    )


@dataclass(frozen=True)
class Learner(Generic[Network]):
    """The parts of a run that learn; `objective` is the network with its losses, on all processes."""

    network: Network
    objective: nn.Module
    average: MovingAverage[Network]
    optimizer: torch.optim.Optimizer


def save_snapshot(path: Path, learner: Learner[Any], progress: Progress, identity: RunIdentity) -> None:
    """Write the state of a run."""
    header = {"progress": asdict(progress), **identity.header()}
    write_tensors(tensors_of(learner), path, {HEADER: json.dumps(header)})


def tensors_of(learner: Learner[Any]) -> dict[str, NDArray[Any]]:
    """Weights, their average and the optimizer's moments, by name."""
    tensors: dict[str, Tensor] = {f"network.{name}": value for name, value in learner.network.state_dict().items()}
    tensors |= {f"average.{name}": value for name, value in learner.average.network.state_dict().items()}
    for number, moments in learner.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in moments.items()}
    return {name: value.detach().cpu().numpy() for name, value in tensors.items()}


def load_snapshot(path: Path, learner: Learner[Any], identity: RunIdentity) -> Progress:
    """Restore a run.

    Raises:
        CheckpointError: if the file is damaged, of another version, or of another run.
    """
    tensors, metadata = read_file(path)
    if HEADER not in metadata:
        raise CheckpointError("not a snapshot of a training run; start a new output", path)
    try:
        header = json.loads(metadata[HEADER])
        identity.refuse_other(header, path)
        restore(tensors, learner)
        saved = header["progress"]
        return Progress(**{**saved, "positions": tuple(Position(*position) for position in saved["positions"])})
    except SETTINGS_ERRORS as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]  # torch lists every tensor on its own line
        raise CheckpointError(
            f"damaged or saved by another version ({reason}); "
            "resume with the drethtr version that saved it, or start a new output",
            path,
        ) from error


def restore(tensors: Mapping[str, NDArray[Any]], learner: Learner[Any]) -> None:
    """Restore what `tensors_of` holds."""
    parts: dict[str, dict[str, Tensor]] = {"network": {}, "average": {}, "optimizer": {}}
    for name, array in tensors.items():
        part, _, rest = name.partition(".")
        parts[part][rest] = torch.from_numpy(np.array(array))
    learner.network.load_state_dict(parts["network"])
    learner.average.network.load_state_dict(parts["average"])
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in parts["optimizer"].items():
        number, _, moment = name.partition(".")
        moments.setdefault(int(number), {})[moment] = value
    # Rates and groups come from the settings of the run, which are equal; only the moments are restored.
    learner.optimizer.load_state_dict({**learner.optimizer.state_dict(), "state": moments})


def missing_from(these: Sequence[str], those: Sequence[str]) -> str:
    """The items of the first list that the second lacks; the first few if there are many."""
    only = [words for words in these if words not in those]
    return first_of(only, SHOWN) or "nothing else"
