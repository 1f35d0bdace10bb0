"""Measure how well the check finds errors in given texts: insert errors, and look for them.

Correct texts get one error at a time, of several kinds (`corruptions`). At 2 % false alarms, a check doubts one correct
word in fifty. The baseline needs only a recognizer: doubt every word that it reads differently.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from drethtr.base.arrays import Booleans, Floats
from drethtr.base.errors import DataError
from drethtr.bench.quality.corruptions import KINDS, Corrupted, corrupt
from drethtr.bench.quality.retrieval.ranking import average_precision
from drethtr.cli.reports import figure, table
from drethtr.datasets.sample import Sample, open_sample
from drethtr.evaluation.confidence import auroc, reliability
from drethtr.evaluation.reading import Advance
from drethtr.proofreading.check import DOUBTED, weigh_lines
from drethtr.proofreading.evidence import ReadText, TextEvidence
from drethtr.proofreading.fit import WRONG_LINES, WRONG_WORDS, SupportFit, line_features, with_squares
from drethtr.recognition.batching import in_groups
from drethtr.recognition.confidence.logistic import Logistic, fit_logistic
from drethtr.recognition.confidence.record import SupportWeights
from drethtr.recognition.model.file import Model
from drethtr.recognition.recognizer import READ_TOGETHER, Recognizer
from drethtr.text.normalize import for_scoring

DIGITS = 4

ERRORS = 5
"""Errors per line, each of another kind, inserted one at a time."""


class SupportCase(NamedTuple):
    """The evidence for a text of a line: the correct text, or one with an error of some kind."""

    set: str
    page: str
    kind: str
    text: Corrupted
    evidence: TextEvidence


def weigh_cases(
    recognizer: Recognizer, samples: Sequence[Sample], seed: int = 0, advance: Advance | None = None
) -> list[SupportCase]:
    """The evidence for the text of each line, and for corrupted texts, drawn with `seed`.

    Raises:
        DataError: naming the sample, if an image cannot be used.
    """
    errors = corrupt(samples, seed, ERRORS)
    lines = ((number, open_sample(recognizer, sample)) for number, sample in enumerate(samples))
    cases = []
    for group in in_groups(lines, READ_TOGETHER):
        texts = [{RIGHT: Corrupted(tuple(for_scoring(samples[n].text).split())), **errors[n]} for n, _ in group]
        images = [line for _, line in group]
        read = list(map(ReadText.of, recognizer.read_lines(images)))
        given = [[" ".join(text.words) for text in some.values()] for some in texts]
        for (number, _), some, weighed in zip(group, texts, weigh_lines(recognizer, images, given, read), strict=True):
            sample = samples[number]
            cases += [
                SupportCase(sample.set, sample.page or "", kind, text, one.evidence)
                for (kind, text), one in zip(some.items(), weighed, strict=True)
                if one.evidence is not None
            ]
        if advance is not None:
            advance(len(group))
    return cases


RIGHT = ""
"""The kind of a text without an error."""


def fit_support(cases: Sequence[SupportCase]) -> SupportFit:
    """Fit the logistic models for evidence to correct and corrupted texts.

    Raises:
        DataError: if there are too few kinds of errors to learn from.
    """
    words = fit_at(WRONG_WORDS, *together((with_squares(case.evidence.words), *compared_words(case)) for case in cases))
    gaps = fit_at(WRONG_WORDS, *together((with_squares(case.evidence.gaps), *compared_gaps(case)) for case in cases))
    judged = ((words(with_squares(case.evidence.words)), gaps(with_squares(case.evidence.gaps))) for case in cases)
    features = np.array([line_features(*probabilities) for probabilities in judged])
    lines = fit_at(WRONG_LINES, features, np.array([case.kind == RIGHT for case in cases]))
    return SupportFit(SupportWeights(words, gaps, lines))


def fit_at(wrong: float, features: Floats, right: Booleans) -> Logistic:
    """A logistic model of correctness, with the share of wrong cases shifted to `wrong`."""
    fitted = fit_logistic(features, right, digits=DIGITS)
    # Cases have as many errors as possible; the bias is shifted to the share expected in real texts.
    shift = np.log((1 - wrong) / wrong) - np.log(right.sum() / max((~right).sum(), 1))
    return Logistic(float(f"{fitted.bias + shift:.{DIGITS}g}"), fitted.weights)


def compared_words(case: SupportCase) -> tuple[Booleans, Booleans]:
    """Which words of a case are compared, and which of those are correct.

    All words of a correct text; else a single wrong word, from the middle, so that all kinds of errors weigh the same.
    """
    wrong = np.isin(np.arange(len(case.text.words)), case.text.wrong[len(case.text.wrong) // 2 :][:1])
    kept = np.ones_like(wrong) if case.kind == RIGHT else wrong
    return kept, ~wrong[kept]


def compared_gaps(case: SupportCase) -> tuple[Booleans, Booleans]:
    """Which gaps of a case are compared, and which of those are correct: all of a correct text, else the wrong ones."""
    missing = np.isin(np.arange(len(case.text.words) + 1), case.text.missing)
    kept = np.ones_like(missing) if case.kind == RIGHT else missing
    return kept, ~missing[kept]


def together(parts: Iterable[tuple[Floats, Booleans, Booleans]]) -> tuple[Floats, Booleans]:
    """The compared features of all cases, (N, F), and which of them are correct, (N,)."""
    every = [(features[kept], right) for features, kept, right in parts]
    return np.concatenate([features for features, _ in every]), np.concatenate([right for _, right in every])


FALSE_ALARMS = (0.02, 0.05)

PRECISION = 0.99
"""Of accepted lines."""

OMITTED = "omitted"

CONVENTION = (
    "Correct texts got one error at a time. AUROC: probability that a wrong word is less probable than a right one. "
    "AP: average precision where 5 % of the words are wrong. R2, R5: share of wrong words found at the threshold "
    "where 2 or 5 % of the right words of the same row are doubted. Overlooked: share of wrong words that are called "
    f"supported, with a probability of {DOUBTED} or more; false alarms: share of right words that are not. Differs: "
    "the baseline that doubts every word that is read otherwise. ECE: mean difference between probability and truth "
    "over ten bins, 5 % of the words being wrong. Omitted: the same of gaps between words. Lines accepted: the most "
    "at a precision of 99 %, 10 % being wrong; precision: of those accepted by their probabilities to be so precise."
)


KNOWN, HELD_OUT = "known", "held out"


@dataclass(frozen=True)
class KindFigures:
    """How well errors of a kind are found, see `CONVENTION`."""

    cases: int
    auroc: float | None
    ap: float
    r2: float
    r5: float
    overlooked: float
    differs: float


@dataclass(frozen=True)
class PoolFigures:
    """The metrics of a set or pool.

    accepted   largest share of lines that can be accepted at a precision of 99 %, if a tenth is wrong
    precision  of the lines that are accepted at an expected precision of 99 %
    """

    name: str
    lines: int
    words: int
    false_alarms: float
    differs: float
    ece: float | None
    accepted: float
    precision: float | None
    kinds: Mapping[str, KindFigures]


@dataclass(frozen=True)
class Judged:
    """Words, gaps or lines: probability, correctness, kind of error, and whether the reading differs."""

    probability: Floats
    right: Booleans
    kind: tuple[str, ...]
    differs: Booleans

    @classmethod
    def joined(cls, parts: Sequence["Judged"]) -> "Judged":
        """Concatenate several."""
        return cls(
            np.concatenate([part.probability for part in parts]),
            np.concatenate([part.right for part in parts]),
            tuple(kind for part in parts for kind in part.kind),
            np.concatenate([part.differs for part in parts]),
        )

    def of(self, kind: str) -> Booleans:
        """Which have an error of a kind."""
        return np.array([own == kind for own in self.kind], dtype=np.bool_) & ~self.right


def known_sets(model: Model) -> frozenset[str]:
    """The sets that a model was trained on, by its card."""
    entries = model.card.get("data", ())
    return frozenset(str(entry.get("set")) for entry in entries if isinstance(entry, Mapping))


def pools_of(names: Iterable[str], known: Collection[str]) -> dict[str, list[str]]:
    """The groups to report: each set alone, then all known and all held-out sets, if there are any."""
    names = sorted(set(names))
    pools = {KNOWN: [name for name in names if name in known], HELD_OUT: [name for name in names if name not in known]}
    return {name: [name] for name in names} | {pool: some for pool, some in pools.items() if some}


def check_fitted_on(samples: Sequence[Sample], fitted_on: Sequence[Sample]) -> None:
    """Check that each set of `samples` can be judged by a fit on other sets, if there are lines to fit on.

    Raises:
        DataError: if all lines to fit on are of one of these sets.
    """
    fitted = {sample.set for sample in fitted_on}
    for name in sorted({sample.set for sample in samples}):
        if fitted == {name}:
            raise DataError(
                f"--fit has lines of {name} only, which is to be judged by a fit on other sets; add lines of another "
                "set to --fit"
            )


def measure_support(
    cases: Sequence[SupportCase], known: Collection[str], fit: SupportFit, fitted_on: Sequence[SupportCase] = ()
) -> list[PoolFigures]:
    """The metrics of each set, and of the known and the held-out sets together.

    Args:
        known: The sets that the model was trained on.
        fit: The fit to evaluate, unless there are cases to fit on.
        fitted_on: Cases of other lines, see `check_fitted_on`: each set is evaluated with a fit on other sets.
    """
    judged: dict[str, tuple[list[SupportCase], SupportFit]] = {}
    for name in sorted({case.set for case in cases}):
        used = fit_support([case for case in fitted_on if case.set != name]) if fitted_on else fit
        judged[name] = [case for case in cases if case.set == name], used
    return [pool_figures(pool, [judged[name] for name in some]) for pool, some in pools_of(judged, known).items()]


def pool_figures(name: str, judged: Sequence[tuple[Sequence[SupportCase], SupportFit]]) -> PoolFigures:
    """The metrics of some sets together."""
    pairs = [(case, fit) for cases, fit in judged for case in cases]
    words = Judged.joined([words_of(*pair) for pair in pairs])
    gaps = Judged.joined([gaps_of(*pair) for pair in pairs])
    lines = Judged.joined([line_of(*pair) for pair in pairs])
    kinds = {kind: kind_figures(words, kind) for kind in KINDS if words.of(kind).any()}
    if gaps.of(OMITTED).any():
        kinds[OMITTED] = kind_figures(gaps, OMITTED)
    share, precision = acceptance(lines)
    return PoolFigures(
        name,
        lines=int(lines.right.sum()),
        words=int(words.right.sum()),
        false_alarms=float((words.probability[words.right] < DOUBTED).mean()),
        differs=float(words.differs[words.right].mean()),
        ece=reliability(*drawn(words, WRONG_WORDS)).ece,
        accepted=share,
        precision=precision,
        kinds=kinds,
    )


def words_of(case: SupportCase, fit: SupportFit) -> Judged:
    """The compared words of a case."""
    kept, right = compared_words(case)
    pairs = zip(case.evidence.given.written, case.evidence.pairing.words, strict=True)
    differs = np.array([word != read for word, read in pairs], dtype=np.bool_)
    return Judged(fit.of_words(case.evidence)[kept], right, (case.kind,) * len(right), differs[kept])


def gaps_of(case: SupportCase, fit: SupportFit) -> Judged:
    """The compared gaps of a case."""
    kept, right = compared_gaps(case)
    differs = np.array([bool(read) for read in case.evidence.pairing.gaps], dtype=np.bool_)
    return Judged(fit.of_gaps(case.evidence)[kept], right, (case.kind,) * len(right), differs[kept])


def line_of(case: SupportCase, fit: SupportFit) -> Judged:
    """A case as a whole."""
    differs = np.array([case.evidence.given.written != tuple(case.evidence.read.text.split())])
    return Judged(np.array([fit.of_line(case.evidence)]), np.array([case.kind == RIGHT]), (case.kind,), differs)


def kind_figures(judged: Judged, kind: str) -> KindFigures:
    """The metrics of one kind of error, against everything that is correct."""
    wrong, right = judged.probability[judged.of(kind)], judged.probability[judged.right]
    least = [np.quantile(right, share) for share in FALSE_ALARMS]
    truth = np.arange(len(right) + len(wrong)) < len(right)
    return KindFigures(
        cases=len(wrong),
        auroc=auroc(np.concatenate([right, wrong]), truth.astype(np.float64)),
        ap=precision_of_errors(right, wrong),
        r2=float((wrong < least[0]).mean()),
        r5=float((wrong < least[1]).mean()),
        overlooked=float((wrong >= DOUBTED).mean()),
        differs=float(judged.differs[judged.of(kind)].mean()),
    )


def precision_of_errors(right: Floats, wrong: Floats) -> float:
    """Average precision of finding wrong words, if the share `WRONG_WORDS` of all were wrong."""
    is_wrong = np.arange(len(right) + len(wrong)) >= len(right)
    weights = np.where(is_wrong, WRONG_WORDS / len(wrong), (1 - WRONG_WORDS) / len(right))
    # Stable sort: among equally probable words, right ones count as found first.
    order = np.argsort(np.concatenate([right, wrong]), kind="stable")
    return average_precision(is_wrong[order], WRONG_WORDS, weights[order])


def drawn(judged: Judged, share: float) -> tuple[Floats, Floats]:
    """Probabilities and truths of everything correct, and of a sample of what is wrong that makes up this share."""
    right, wrong = judged.probability[judged.right], judged.probability[~judged.right]
    number = round(len(right) * share / (1 - share)) if len(wrong) else 0
    some = np.random.default_rng(0).choice(wrong, number) if number else wrong[:0]
    truths = np.arange(len(right) + len(some)) < len(right)
    return np.concatenate([right, some]), truths.astype(np.float64)


def acceptance(lines: Judged) -> tuple[float, float | None]:
    """The largest share of lines accepted at `PRECISION`, and the precision of those accepted by their probabilities.

    Wrong lines are weighted so that they are the share `WRONG_LINES` of all, as a sample would have too few.
    """
    number = np.where(lines.right, lines.right.sum(), (~lines.right).sum())
    # All wrong lines count with a weight, since single draws of 10 % gave 0.29 to 0.85 (LOG.md, 2026-11-25, evening).
    weight = np.where(lines.right, 1 - WRONG_LINES, WRONG_LINES) / number
    order = np.lexsort((lines.right, -lines.probability))  # of equally probable lines, wrong ones first
    accepted, right, expected = ((weight * some)[order].cumsum() for some in (1, lines.right, lines.probability))
    enough, promised = np.flatnonzero(right >= PRECISION * accepted), np.flatnonzero(expected >= PRECISION * accepted)
    share = float(accepted[enough[-1]]) if len(enough) else 0.0
    return share, float(right[promised[-1]] / accepted[promised[-1]]) if len(promised) else None


def report(pools: Sequence[PoolFigures], *, held_out: bool) -> str:
    """Figures of each set and pool of sets: one row for each, then one per kind of error.

    Args:
        held_out: Whether each set is judged by a fit on other sets.
    """
    titles = ("", "cases", "AUROC", "AP", "R2 %", "R5 %", "overlooked %", "differs %", "ECE %")
    rows: list[tuple[str, ...]] = []
    for pool in pools:
        of_lines = figure(pool.ece, 1), figure(pool.accepted, 1), figure(pool.precision, 1)
        of_words = "", "", "", "false alarms", figure(pool.false_alarms, 1), figure(pool.differs, 1)
        rows.append((pool.name, f"{pool.words:,}", *of_words, *of_lines))
        for name, kind in pool.kinds.items():
            found = figure(kind.auroc, 3, 1), figure(kind.ap, 2, 1), figure(kind.r2, 1), figure(kind.r5, 1)
            missed = figure(kind.overlooked, 1), figure(kind.differs, 1)
            rows.append((f"  {name}", f"{kind.cases:,}", *found, *missed, "", "", ""))
    fit = "Each set is judged by a fit on other sets." if held_out else "All sets are judged by the fit in the model."
    return f"{table((*titles, 'lines accepted %', 'precision %'), rows)}\n\n{CONVENTION} {fit}"
