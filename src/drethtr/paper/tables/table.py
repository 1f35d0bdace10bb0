"""A table of the paper: its rows, the experiment behind each, and their published figures."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from drethtr.base.config import hint
from drethtr.base.errors import ConfigError
from drethtr.paper.tables.result import Measurement
from drethtr.paper.tables.stage import Conditions


class Experiment(ABC):
    """The work for a row with a seed."""

    @abstractmethod
    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        """A digest of the settings and lines.

        Raises:
            ConfigError: if required data were not given.
        """

    @abstractmethod
    def prepare(self, conditions: Conditions, seed: int) -> None:
        """Train what is missing; all processes of torchrun take part."""

    @abstractmethod
    def measure(self, conditions: Conditions, seed: int) -> Measurement:
        """Measure what was prepared, in one process."""


@dataclass(frozen=True)
class TableRow:
    """A system, the experiment that measures it, and its published figures by `result.MEASURES`."""

    name: str
    experiment: Experiment
    paper: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PaperTable:
    """Rows, of which the first is the baseline; `source` names the table in the paper."""

    name: str
    title: str
    source: str
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()

    def chosen(self, names: Sequence[str]) -> tuple[TableRow, ...]:
        """The rows with the given names, or all if none are given.

        Raises:
            ConfigError: if there is no such row.
        """
        known = {row.name: row for row in self.rows}
        for name in names:
            if name not in known:
                raise ConfigError(
                    f"table {self.name} has no row {name!r}{hint(name, known)}; it has: {'; '.join(known)}"
                )
        return tuple(known[name] for name in names) or self.rows
