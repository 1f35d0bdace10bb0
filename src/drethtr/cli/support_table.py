"""The table of `drethtr evaluate --check`: how well errors in texts are found."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drethtr.cli.tables import figure

if TYPE_CHECKING:
    from drethtr.evaluation.support_figures import PoolFigures


def support_table(pools: "Sequence[PoolFigures]") -> str:
    """Figures of each set and pool of sets: one row for each, then one per kind of error."""
    from drethtr.evaluation.support_figures import CONVENTION

    rows = [
        f"{'':16}{'cases':>7}{'AUROC':>8}{'AP':>7}{'R2 %':>7}{'R5 %':>7}{'overlooked %':>14}{'differs %':>11}"
        f"{'ECE %':>7}{'lines accepted %':>18}{'precision %':>13}"
    ]
    for pool in pools:
        rows.append(
            f"{pool.name:16}{pool.words:>7,}{'':29}{'false alarms':>7}{figure(pool.false_alarms, 1):>7}"
            f"{figure(pool.differs, 1):>11}{figure(pool.ece, 1):>7}{figure(pool.accepted, 1):>18}"
            f"{figure(pool.precision, 1):>13}"
        )
        for name, kind in pool.kinds.items():
            rows.append(
                f"  {name:14}{kind.cases:>7,}{figure(kind.auroc, 3, 1):>8}{figure(kind.ap, 2, 1):>7}"
                f"{figure(kind.r2, 1):>7}{figure(kind.r5, 1):>7}{figure(kind.overlooked, 1):>14}"
                f"{figure(kind.differs, 1):>11}"
            )
    return "\n".join([*rows, "", CONVENTION])
