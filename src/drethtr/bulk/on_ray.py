"""An engine of actors in a Ray cluster."""

import logging
import os
import pickle
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from drethtr.base.config import check_positive
from drethtr.base.errors import ConfigError, DrethtrError, MissingExtraError
from drethtr.base.processors import free_processors
from drethtr.bulk.inputs import Part
from drethtr.bulk.worker import TRIES, Engine, PartOutcome, PartReader, Work, lost


class Actor:
    """A worker for Ray Data: constructed once, then called for every row, which here holds a part.

    Errors that every actor would have are returned as a refusal, because Ray retries after exceptions.
    """

    def __init__(self, work: Work) -> None:
        self.reader: PartReader | None = None
        self.refusal = ""
        try:
            self.reader = work.begin()
        except DrethtrError as error:
            self.refusal = str(error)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Read a part and return the outcome."""
        outcome = None
        if self.reader is not None:
            try:
                outcome = self.reader.read(pickle.loads(row["part"]))
            except DrethtrError as error:
                self.refusal = str(error)
        return {"outcome": pickle.dumps(outcome), "refusal": self.refusal}


@dataclass(frozen=True)
class Ray(Engine):
    """Actors of Ray Data, each with its own model.

    They run in the cluster at `RAY_ADDRESS` or on this machine, which is started if there is none.

    Args:
        workers: Number of actors; by default the number of GPUs, or the number of CPUs minus one.
        gpus: Whether each actor gets a GPU, if the cluster has any.
    """

    workers: int | None = None
    gpus: bool = False

    def __post_init__(self) -> None:
        check_positive(self, "workers")

    def run(self, parts: Sequence[Part], work: Work) -> Iterator[PartOutcome]:
        try:
            import ray
            from ray.data import ActorPoolStrategy, DataContext
        except ImportError as error:
            raise MissingExtraError("ray", "ray") from error
        if not parts:
            return
        connect((self.workers or free_processors()) + 1)
        try:
            actors, gpus = self.share(ray.cluster_resources())
            context = DataContext.get_current()
            context.enable_progress_bars = False
            context.max_errored_blocks = -1  # a part that kills its actors must not stop the job
            # One part at a time: a second one would wait in a slow actor while others are idle.
            pool = ActorPoolStrategy(size=min(actors, len(parts)), max_tasks_in_flight_per_actor=1)
            rows = [{"part": pickle.dumps(part)} for part in parts]
            with undeprecated():
                results = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
                    Actor,
                    fn_constructor_args=(work,),
                    compute=pool,
                    num_cpus=1,
                    num_gpus=gpus,
                    max_task_retries=TRIES - 1,
                )
            yield from outcomes(results.iter_rows(), parts)
        finally:
            ray.shutdown()

    def share(self, resources: Mapping[str, float]) -> tuple[int, int]:
        """The number of actors, and of GPUs per actor.

        Raises:
            ConfigError: if the cluster has too few CPUs or GPUs.
        """
        cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0)) if self.gpus else 0
        most = min(cpus - 1, gpus) if gpus else cpus - 1
        if most < 1 or (self.workers or 1) > most:
            raise ConfigError(
                f"{self.workers or 1} workers are too many for a Ray cluster with {cpus} CPUs"
                f"{f' and {gpus} GPUs' if gpus else ''}: at most {max(most, 0)}, "
                "because Ray Data hangs when its actors occupy all CPUs"
            )
        return self.workers or most, min(gpus, 1)


def connect(cpus: int) -> None:
    """Connect to a running Ray cluster, or start one on this machine with `cpus` CPUs.

    Raises:
        DrethtrError: if the cluster at `RAY_ADDRESS` cannot be reached.
    """
    import ray

    quiet()
    try:
        ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError as error:
        if address := os.environ.get("RAY_ADDRESS"):
            raise DrethtrError(f"cannot reach a Ray cluster at RAY_ADDRESS={address}: {error}") from error
        ray.init(num_cpus=cpus, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)


def quiet() -> None:
    """Keep Ray's messages about its startup and plans off the screen; its log files have them."""
    from ray.util.debug import disable_log_once_globally

    disable_log_once_globally()  # the note that progress bars are disabled
    logging.getLogger("ray").setLevel(logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.WARNING)  # warns of a cluster that is too small


@contextmanager
def undeprecated() -> Iterator[None]:
    """Hide Ray's deprecation warning for `max_task_retries`: before 2.64 nothing else limits retries of a part."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`ray_remote_args` is deprecated")
        yield


def outcomes(rows: Iterable[Mapping[str, Any]], parts: Sequence[Part]) -> Iterator[PartOutcome]:
    """The outcomes from the actors; parts without one are lost.

    Raises:
        DrethtrError: if an actor refused.
    """
    left = {part.number: part for part in parts}
    for row in rows:
        if row["refusal"]:
            raise DrethtrError(row["refusal"])
        outcome: PartOutcome = pickle.loads(row["outcome"])
        del left[outcome.number]
        yield outcome
    for part in left.values():
        yield lost(part, "its actors were killed or failed; see the messages of Ray")
