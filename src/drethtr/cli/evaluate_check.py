"""`drethtr evaluate --check`: how well `drethtr check` finds errors in given texts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drethtr.cli.tables import EvaluationResult, figure, read_by

if TYPE_CHECKING:
    from drethtr.evaluation.support_figures import PoolFigures
    from drethtr.recognition.recognizer import Recognizer


def evaluate_check(
    recognizer: "Recognizer", data: Sequence[str], fit: Sequence[str], limit: int | None, seed: int
) -> EvaluationResult:
    """Insert errors into the texts of lines, and check them, with a progress bar.

    Args:
        fit: Lines of other sets, on which to fit the probabilities.

    Raises:
        DataError: if lines cannot be used, or there are too few to fit on.
    """
    from tqdm import tqdm

    from drethtr.evaluation.evaluate import to_read
    from drethtr.evaluation.pools import known_sets
    from drethtr.evaluation.support import weigh_cases
    from drethtr.evaluation.support_figures import measure_support
    from drethtr.lines.sources import open_all

    samples = to_read(open_all(data), limit, seed)
    fitted_on = to_read(open_all(fit), limit, seed) if fit else []
    with tqdm(total=len(samples) + len(fitted_on), unit="line", disable=None) as bar:
        others = weigh_cases(recognizer, fitted_on, seed, bar.update)
        cases = weigh_cases(recognizer, samples, seed, bar.update)
    found = measure_support(cases, known_sets(recognizer.model), recognizer.support_fit, others)
    text = f"{support_table(found)}\n{read_by(recognizer)}"
    return EvaluationResult(text, {"sets": [pool.to_json() for pool in found]})


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
