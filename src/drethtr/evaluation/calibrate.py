"""Calibrate a model on validation lines, which must be neither training nor test lines.

    model = calibrate(model, validation_lines)

Four things are learned: the decoder that reads best; for each decoder, the probability that a character or word with
given features is correct; the error rate that such probabilities predict; and the out-of-distribution check, which
compares lines with the same lines upside down and mirrored.

Confidences have to hold for collections that the model never saw. So each collection of the validation lines is also
judged by a calibration fitted on the others: `Fit.held_out`, from which error rates are learned.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Booleans, Floats
from drethtr.base.errors import DataError
from drethtr.datasets.sample import Sample, page_of
from drethtr.evaluation.choose_strategy import Best, best_strategies
from drethtr.evaluation.confidence import Reliability, measure_confidence, right_characters, right_words
from drethtr.evaluation.predict import MIN_SETS, learn
from drethtr.evaluation.reading import Advance, ScoredLine, portions, read_lines, to_read
from drethtr.images.line import Line
from drethtr.recognition.backends import CPU, resolve_device
from drethtr.recognition.confidence.calibration import (
    Calibration,
    calibrated_characters,
    character_features,
    word_features,
)
from drethtr.recognition.confidence.checks import OutOfDistribution
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.evidence import feature_count
from drethtr.recognition.confidence.logistic import Logistic, fit_logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import CTC, Greedy, Joint, Strategy, VerifiedDrafts
from drethtr.recognition.model.file import Model
from drethtr.recognition.onnx.network import supports
from drethtr.recognition.protocol import Precision
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.normalize import for_scoring

TO_CALIBRATE = 25
"""Minimum number of lines for calibrating confidences: about a thousand characters."""

TO_KNOW_WRITING = 100
"""Minimum number of lines for learning the out-of-distribution check, which has hundreds of weights."""

FLAGGED = 0.02
"""Share of validation lines that the out-of-distribution check flags."""

FOLDS = 5
"""Folds for the limit of the out-of-distribution check, which a fit on the same lines would put too high."""

RIDGE = 0.001
"""L2 penalty on the hundreds of weights of the out-of-distribution check."""

DIGITS = 4
"""Significant digits of stored weights: more than the lines can determine."""

Group = tuple[Strategy, ...]
"""Strategies that find the same text, so that one calibration serves them."""

Turn = Callable[[Line], Line]


class Case(NamedTuple):
    """A line with features (N, F) of its characters as read, and whether each of these and each word is correct."""

    line: ScoredLine
    features: Floats
    right_characters: Booleans
    right_words: Booleans

    @classmethod
    def of(cls, line: ScoredLine) -> Self:
        """The case of a line that was read."""
        text, reading = line.sample.text, line.reading
        features = character_features(reading.characters)
        return cls(line, features, right_characters(text, reading), right_words(text, reading))


class Fit(NamedTuple):
    """A calibration and its reliability on the lines it was fitted on, which is slightly optimistic.

    held_out    the readings of each collection, calibrated by a fit on the others; empty with too few collections
    """

    calibration: Calibration
    characters: Reliability
    words: Reliability
    held_out: tuple[ScoredLine, ...] = ()


def calibrate(
    model: Model,
    samples: Sequence[Sample],
    groups: Sequence[Group] = (),
    advance: Advance | None = None,
    on_fit: Callable[[Fit], object] | None = None,
    *,
    prior: CalibrationRecord | None = None,
    device: str = CPU,
    threads: int | None = None,
) -> Model:
    """Return the model with its default strategy, calibrations, error rates and out-of-distribution check.

    Confidences in int8 are calibrated separately, for models that onnxruntime can compute. Error rates are learned in
    float32, if there are enough sets.

    Args:
        samples: Validation lines; those with uncertain texts are skipped. With fewer than `TO_KNOW_WRITING`, the
            existing out-of-distribution check is kept.
        groups: Strategies to calibrate, in groups that find the same text; everything else the model has learned is
            then kept. By default the best strategy is chosen, and the `usual_strategies` are calibrated.
        advance: Called whenever lines have been read, with their number; every line is read `passes` times.
        on_fit: Called with each calibration once it is fitted.
        prior: A record learned with other weights: with few lines, calibrations stay near it. Error rates that cannot
            be learned from so few sets are inherited from it, or else from the model's own record.
        device: As for `Recognizer`, like `threads`.

    Raises:
        DataError: if there are no clean lines, or nothing was read on them.
    """
    chosen = to_read(samples)
    open_model = partial(Recognizer, device=device, threads=threads)
    plain = replace(model, record=CalibrationRecord())  # earlier calibration must not affect the result
    strategy, alone = Best(model.record.strategy) if groups else best_strategies(open_model, plain, chosen, advance)
    # From here on the chosen weights apply: decoders with unset weights take them from the best strategy.
    plain = replace(plain, record=CalibrationRecord(strategy=strategy))
    fits: list[Fit] = []
    for precision in precisions(plain, device):
        for group in groups or usual_strategies(plain, alone):
            alike = tuple(one.completed_by(strategy) for one in group)
            lines = read_lines(open_model(plain, alike[0], precision=precision), chosen, advance)
            fits.append(fit_calibration(alike, precision, lines, known_calibration(prior, alike[0], precision)))
            if on_fit is not None:
                on_fit(fits[-1])
    kept = model.record if groups else CalibrationRecord()
    record = CalibrationRecord(
        calibrations=(*other_calibrations(kept, fits), *(fit.calibration for fit in fits)),
        unlike_training=out_of_distribution(open_model(plain), chosen, model.record, advance, keep=bool(groups)),
        error_rates=error_rates(fits, kept, prior or model.record),
        strategy=strategy,
        support=model.record.support,
    )
    return replace(model, record=record)


def as_sure_as(
    start: Model, model: Model, samples: Sequence[Sample], *, device: str = CPU, threads: int | None = None
) -> CalibrationRecord:
    """The record of `start` for a model trained from it on lines without transcriptions.

    On the samples, whose texts are not used, its confidences have the same means as those of `start`; else they would
    be too sure, as after any training. Error rates are inherited.
    """
    plain = replace(model, record=replace(start.record, calibrations=()))
    calibrations = []
    for known in start.record.calibrations:
        precision = Precision(known.precision)
        if precision in precisions(model, device):
            before, after = (
                Recognizer(one, known.strategies[0], precision=precision, device=device, threads=threads)
                for one in (start, plain)
            )
            calibrations.append(shifted(known, readings(before, samples), readings(after, samples)))
    rates = tuple(replace(rate, inherited=True) for rate in start.record.error_rates)
    return replace(start.record, calibrations=tuple(calibrations), error_rates=rates)


def readings(recognizer: Recognizer, samples: Sequence[Sample]) -> list[Reading]:
    """The readings of lines on which something was read."""
    return [reading for _, reading in read_lines(recognizer, samples) if reading.characters]


def shifted(calibration: Calibration, before: Sequence[Reading], after: Sequence[Reading]) -> Calibration:
    """The calibration with which uncalibrated readings are as sure on average as others are."""
    if not (before and after):
        return calibration
    sure = [character.confidence for reading in before for character in reading.characters]
    features = np.concatenate([character_features(reading.characters) for reading in after])
    characters = calibration.characters.with_mean(features, float(np.mean(sure)))
    judged = [calibrated_characters(reading.characters, characters) for reading in after]
    sure = [word.confidence for reading in before for word in reading.words()]
    words = calibration.words.with_mean(np.concatenate(list(map(word_features, judged))), float(np.mean(sure)))
    return replace(calibration, characters=characters, words=words)


def precisions(model: Model, device: str) -> tuple[Precision, ...]:
    """The precisions to calibrate."""
    int8 = resolve_device(device) == CPU and supports(model.network) is None
    return (Precision.FLOAT32, Precision.INT8) if int8 else (Precision.FLOAT32,)


def known_calibration(prior: CalibrationRecord | None, strategy: Strategy, precision: Precision) -> Calibration | None:
    """The calibration of a strategy in a record learned with other weights."""
    if prior is None:
        return None
    # That of float32 if it has none in this precision, as both err on mostly the same characters.
    return prior.calibration(strategy, precision) or prior.calibration(strategy)


def other_calibrations(record: CalibrationRecord, fits: Sequence[Fit]) -> Iterator[Calibration]:
    """The calibrations of a record, without the strategies that were fitted in the same precision."""
    for known in record.calibrations:
        done = strategies_of([fit for fit in fits if fit.calibration.precision == known.precision])
        if others := tuple(one for one in known.strategies if not any(map(one.is_like, done))):
            yield replace(known, strategies=others)


def strategies_of(fits: Sequence[Fit]) -> list[Strategy]:
    """The strategies that were fitted."""
    return [strategy for fit in fits for strategy in fit.calibration.strategies]


def error_rates(fits: Sequence[Fit], kept: CalibrationRecord, before: CalibrationRecord) -> tuple[ErrorRate, ...]:
    """The error rates learned from fits in float32, those kept for other strategies, and those inherited.

    Args:
        before: Where fits have too few collections, error rates are inherited from this record.
    """
    done = strategies_of(fits)
    learning = [fit for fit in fits if fit.held_out and fit.calibration.precision == Precision.FLOAT32.value]
    rates = [learn(one, fit.held_out) for fit in learning for one in fit.calibration.strategies]
    rates += [rate for rate in kept.error_rates if not any(map(rate.strategy.is_like, done))]
    for one in done:
        inherited = before.error_rate(one)
        if inherited is not None and not any(rate.strategy.is_like(one) for rate in rates):
            rates.append(replace(inherited, strategy=one, inherited=True))
    return tuple(rates)


def out_of_distribution(
    recognizer: Recognizer, samples: Sequence[Sample], known: CalibrationRecord, advance: Advance | None, *, keep: bool
) -> OutOfDistribution | None:
    """The out-of-distribution check, fitted on enough lines; otherwise the known one, if it suits the network.

    Args:
        keep: Do not fit it again if the known one suits: it sees only the image, whatever the decoder.
    """
    check = known.unlike_training
    if check is not None and len(check.alike.weights) != feature_count(recognizer.network.dimensions):
        check = None
    turns = turns_of(len(samples))
    if not turns or (keep and check is not None):
        return check
    looks = np.stack([features_of_turned(recognizer, samples, turn, advance) for turn in turns])
    return fit_out_of_distribution(looks, list(map(page_of, samples)))


def usual_strategies(model: Model, alone: CTC = CTC()) -> tuple[Group, ...]:  # noqa: B008  # a value
    """The default strategy, plus the fastest ones of the CTC head and of the decoder."""
    no_head = model.network.ctc is None
    fast: tuple[Group, ...] = ((Greedy(),),) if no_head else ((alone,), (VerifiedDrafts(), Greedy()))
    usual = model.record.strategy or (Greedy() if no_head else CTC())
    return fast if any(usual in alike for alike in fast) else ((usual,), *fast)


def passes(model: Model, lines: int, groups: Sequence[Group] = (), *, device: str = CPU) -> int:
    """The maximum number of times that `calibrate` reads a line: to choose a strategy, per strategy, and per turn."""
    choice = Joint() if model.network.ctc is not None else None
    usual = usual_strategies(replace(model, record=CalibrationRecord(strategy=choice)))
    rounds = len(precisions(model, device))
    choosing = 0 if groups or choice is None else 1
    return rounds * (len(groups) or len(usual)) + choosing + len(turns_of(lines))


def fit_calibration(group: Group, precision: Precision, lines: Sequence[ScoredLine], prior: Calibration | None) -> Fit:
    """Calibrate the confidences of characters and words; with few readings, they stay near those of `prior`.

    Raises:
        DataError: if nothing was read; or if all characters or words are right or all wrong, and there is no prior.
    """
    cases = [Case.of(line) for line in lines if line.reading.characters]
    if not cases:
        raise DataError(f"cannot calibrate: nothing was read on {len(lines)} lines")
    calibration = calibration_of(group, precision, cases, prior)
    texts = [case.line.sample.text for case in cases]
    measured = measure_confidence(texts, [calibration(case.line.reading) for case in cases])
    return Fit(calibration, measured.characters, measured.words, held_out(group, precision, cases, lines))


def calibration_of(
    group: Group, precision: Precision, cases: Sequence[Case], prior: Calibration | None = None
) -> Calibration:
    """The fitted calibration."""
    of_characters, of_words = (None, None) if prior is None else (prior.characters, prior.words)
    features = np.concatenate([case.features for case in cases])
    right = np.concatenate([case.right_characters for case in cases])
    characters = fit_logistic(features, right, digits=DIGITS, prior=of_characters)
    # Words are judged by calibrated characters, as when lines are read.
    judged = [calibrated_characters(case.line.reading.characters, characters) for case in cases]
    features = np.concatenate(list(map(word_features, judged)))
    right = np.concatenate([case.right_words for case in cases])
    words = fit_logistic(features, right, digits=DIGITS, prior=of_words)
    return Calibration(group, characters, words, precision.value)


def held_out(
    group: Group, precision: Precision, cases: Sequence[Case], lines: Sequence[ScoredLine]
) -> tuple[ScoredLine, ...]:
    """The lines of collections with text, each collection calibrated by a fit on the others.

    Empty if there are too few collections.
    """
    names = {case.line.sample.set for case in cases if for_scoring(case.line.sample.text)}
    if len(names) <= MIN_SETS:
        return ()
    others = {name: [case for case in cases if case.line.sample.set != name] for name in names}
    try:
        fitted = {name: calibration_of(group, precision, some) for name, some in others.items()}
    except DataError:  # without this collection, everything is right or everything wrong
        return ()
    return tuple(ScoredLine(one, fitted[one.set](reading)) for one, reading in lines if one.set in names)


def upright(line: Line) -> Line:
    """The line unchanged."""
    return line


def upside_down(line: Line) -> Line:
    """The line rotated by 180 degrees."""
    return line[::-1, ::-1]


def mirrored(line: Line) -> Line:
    """The line mirrored horizontally."""
    return line[:, ::-1]


TURNS: tuple[Turn, ...] = (upright, upside_down, mirrored)


def turns_of(lines: int) -> tuple[Turn, ...]:
    """The transformations used to learn the out-of-distribution check; none if there are too few lines."""
    return TURNS if lines >= TO_KNOW_WRITING else ()


def fit_out_of_distribution(looks: Floats, pages: Sequence[str]) -> OutOfDistribution:
    """Fit a classifier of upright against turned lines, on features (turns, lines, features), the first turn upright.

    The threshold is set by cross-validation, because a fit with so many weights looks too good on its own lines. Lines
    of a page stay in one fold.
    """
    folds, scores = folds_of(pages), np.empty(len(pages))
    for fold in np.unique(folds):
        scores[folds == fold] = fit_upright(looks[:, folds != fold]).score(looks[0, folds == fold])
    return OutOfDistribution(fit_upright(looks), least=float(f"{np.quantile(scores, FLAGGED):.4g}"))


def folds_of(pages: Sequence[str]) -> NDArray[np.int64]:
    """A fold for each line; lines of a page share one, unless pages are unknown or too few."""
    known = {page: number for number, page in enumerate(dict.fromkeys(filter(None, pages)))}
    places = [known[page] if page and len(known) >= FOLDS else line for line, page in enumerate(pages)]
    return np.array(places) % FOLDS


def fit_upright(looks: Floats) -> Logistic:
    """A logistic model of the probability that a line is upright."""
    turns, lines, features = looks.shape
    truth = np.arange(turns * lines) < lines
    return fit_logistic(looks.reshape(-1, features), truth, ridge=RIDGE, digits=DIGITS)


def features_of_turned(
    recognizer: Recognizer, samples: Sequence[Sample], turn: Turn, advance: Advance | None
) -> Floats:
    """The out-of-distribution features of turned lines, (lines, features)."""
    opened = portions(recognizer, samples, advance)
    return np.concatenate([recognizer.line_features([turn(line) for _, line in some]) for some in opened])
