"""Parts read by the machines of a Ray cluster."""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from drethtr.bulk.engine import TRIES, Engine
from drethtr.bulk.plan import Part
from drethtr.bulk.reader import Outcome, PartReader, Work, lost
from drethtr.errors import ConfigError, DrethtrError, MissingExtraError


class Actor:
    """A worker of Ray Data, which hands it rows; each row is a part."""

    def __init__(self, work: bytes) -> None:
        self.reader: PartReader | str
        try:
            begun: Work = pickle.loads(work)
            self.reader = begun.begin()
        except DrethtrError as error:
            self.reader = str(error)  # an actor that does not begin would be begun again and again

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Read a part and tell the outcome; a refusal is what no other actor could do better."""
        if isinstance(self.reader, str):
            return {"outcome": b"", "refusal": self.reader}
        try:
            outcome = self.reader.read(pickle.loads(row["part"]))
        except DrethtrError as error:
            return {"outcome": b"", "refusal": str(error)}
        return {"outcome": pickle.dumps(outcome), "refusal": ""}


@dataclass(frozen=True)
class Ray(Engine):
    """Actors of Ray Data, each with a model of its own.

    The cluster is the one that `RAY_ADDRESS` names or that runs on this machine; else one is started here.

    Args:
        workers: How many actors; by default one for each GPU, or for each processor but one.
        gpus: Whether each actor gets a GPU, if the cluster has any.
    """

    workers: int | None = None
    gpus: bool = False

    def run(self, parts: Sequence[Part], work: Work) -> Iterator[Outcome]:
        try:
            import ray
            from ray.data import ActorPoolStrategy, DataContext
        except ImportError as error:
            raise MissingExtraError("ray", "ray") from error
        if not parts:
            return
        started = self.connect()
        try:
            size, gpus = self.size(ray.cluster_resources())
            context = DataContext.get_current()
            context.enable_progress_bars = False
            context.max_errored_blocks = -1  # a part that kills its actors is no reason to end
            rows = [{"part": pickle.dumps(part)} for part in parts]
            told = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
                Actor,
                fn_constructor_args=(pickle.dumps(work),),
                compute=ActorPoolStrategy(size=min(size, len(parts))),
                num_cpus=1,
                num_gpus=gpus,
                max_task_retries=TRIES - 1,
            )
            yield from outcomes(told.iter_rows(), parts)
        finally:
            if started:
                ray.shutdown()
