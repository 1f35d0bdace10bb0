"""Calibrate a model on validation lines, which must be neither training nor test lines.

    model = calibrate(model, validation_lines)

Three things are learned: the decoder that reads best; for each decoder, the probability that a character or word with
given features is correct; and the out-of-distribution check, which compares lines with the same lines upside down and
mirrored.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.evaluation.choose_decoder import Best, best_decoders
from drethtr.evaluation.confidence import Reliability, reliability, right_characters, right_words
from drethtr.evaluation.evaluate import Advance, portions, read_lines, to_read
from drethtr.images.line import Line
from drethtr.lines.sample import Sample, page_of
from drethtr.recognition.confidence.calibration import Calibration, character_features, weighed, word_features
from drethtr.recognition.confidence.checks import UnlikeTraining
from drethtr.recognition.confidence.evidence import features_of
from drethtr.recognition.confidence.logistic import Floats, Logistic, fit_logistic
from drethtr.recognition.confidence.trust import Trust
from drethtr.recognition.model_file import Model
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.recognition.precision import Precision
from drethtr.recognition.search.strategy import Strategy
from drethtr.recognition.search.strategies import CTC, Greedy, Joint, VerifiedDrafts

TO_CALIBRATE = 25
"""Fewest lines for calibrating confidences: about a thousand characters."""

TO_KNOW_WRITING = 100
"""Fewest lines for learning the out-of-distribution check, which has hundreds of weights."""

FLAGGED = 0.02
"""Share of validation lines that the out-of-distribution check flags."""

FOLDS = 5
RIDGE = 0.001
"""L2 penalty on the hundreds of weights of the out-of-distribution check."""

DIGITS = 4

Decoders = tuple[Decoder, ...]
Turn = Callable[[Line], Line]


class Fit(NamedTuple):
    """A calibration and its reliability on the lines it was fitted on, which is slightly optimistic."""

    calibration: Calibration
    characters: Reliability
    words: Reliability


def calibrate(
    model: Model,
    samples: Sequence[Sample],
    decoders: Sequence[Decoders] = (),
    advance: Advance | None = None,
    on_fit: Callable[[Fit], object] | None = None,
) -> Model:
    """Return the model with its default decoder, its calibration and its out-of-distribution check.

    Args:
        samples: Validation lines; those with uncertain texts are skipped. With fewer than `TO_KNOW_WRITING`, the
            existing
            out-of-distribution check is kept.
        decoders: Decoders to calibrate, in groups that produce the same text; everything else the model has learned is
            then kept. By default the best decoder is chosen, and `usual_decoders` are calibrated.
        advance: Called after each of many steps with the number of lines read; every line is read `passes` times.
        on_fit: Called with each calibration once it is fitted.

    Raises:
        DataError: if there are no clean lines, or nothing was read on them.
    """
    chosen = to_read(samples)
    plain = replace(model, trust=Trust())  # earlier calibration must not affect the result
    decoder, alone = Best(model.trust.decoder) if decoders else best_decoders(plain, chosen, advance)
    plain = replace(plain, trust=Trust(decoder=decoder))
    fits = []
    for some in decoders or usual_decoders(plain, alone):
        alike = tuple(one.fitted(decoder) for one in some)
        fits.append(fit_calibration(alike, chosen, read_lines(Recognizer(plain, alike[0]), chosen, advance)))
        if on_fit is not None:
            on_fit(fits[-1])
    calibrations = tuple(fit.calibration for fit in fits)
    done = [decoder for alike in calibrations for decoder in alike.decoders]
    others = [without(known, done) for known in model.trust.calibrations if decoders]
    rates = tuple(known for known in model.trust.error_rates if decoders and not any(map(known.decoder.akin, done)))
    unlike_training = model.trust.unlike_training if knows_writing(model) else None
    turns = turns_of(len(chosen))
    if turns and not (decoders and unlike_training):
        looks = np.stack([impressions_of(Recognizer(plain), chosen, turn, advance) for turn in turns])
        unlike_training = fit_unlike_training(looks, list(map(page_of, chosen)))
    kept = tuple(known for known in others if known.decoders)
    return replace(model, trust=Trust((*kept, *calibrations), unlike_training, rates, decoder))


def without(calibration: Calibration, done: Collection[Decoder]) -> Calibration:
    """The calibration without the decoders in `done`, which are being recalibrated."""
    return replace(calibration, decoders=tuple(d for d in calibration.decoders if not any(map(d.akin, done))))


def usual_decoders(model: Model, alone: CTC = CTC()) -> tuple[Decoders, ...]:  # noqa: B008  # a value
    """The default decoder, plus the fastest decoders based on CTC and on the text decoder."""
    network = model.network
    fast: tuple[Decoders, ...] = ((Greedy(),),) if network.ctc is None else ((alone,), (VerifiedDrafts(), Greedy()))
    usual = model.trust.decoder or default_decoder(network)
    return fast if any(usual in alike for alike in fast) else ((usual,), *fast)


def passes(model: Model, lines: int, decoders: Sequence[Decoders] = ()) -> int:
    """The most often that `calibrate` reads a line: to choose a decoder, once per decoder, and once per turn."""
    choice = Joint() if model.network.ctc is not None else None
    usual = usual_decoders(replace(model, trust=Trust(decoder=choice)))
    return (len(decoders) or len(usual) + (choice is not None)) + len(turns_of(lines))


def fit_calibration(decoders: Decoders, samples: Sequence[Sample], readings: Sequence[Reading]) -> Fit:
    """Fit the confidences of a decoder's characters and words to its readings."""
    found = [(sample.text, reading) for sample, reading in zip(samples, readings, strict=True) if reading.characters]
    if not found:
        raise DataError(f"cannot calibrate: nothing was read on {len(samples)} lines")
    true_characters = np.concatenate([right_characters(text, reading) for text, reading in found])
    true_words = np.concatenate([right_words(text, reading) for text, reading in found])
    of_characters = np.concatenate([character_features(reading.characters) for _, reading in found])
    characters = fit_logistic(of_characters, true_characters, digits=DIGITS)
    of_words = np.concatenate([word_features(weighed(reading.characters, characters)) for _, reading in found])
    words = fit_logistic(of_words, true_words, digits=DIGITS)
    return Fit(
        Calibration(decoders, characters, words),
        characters=reliability(characters(of_characters), true_characters.astype(np.float64)),
        words=reliability(words(of_words), true_words.astype(np.float64)),
    )


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


def knows_writing(model: Model) -> bool:
    """Whether the model has an out-of-distribution check that matches the features of this version."""
    known = model.trust.unlike_training
    return known is not None and len(known.alike.weights) == features_of(model.network)


def fit_unlike_training(looks: Floats, pages: Sequence[str]) -> UnlikeTraining:
    """Fit a classifier of upright against turned lines, on features (turns, lines, features), the first turn upright.

    The threshold is set by cross-validation, because a fit with so many weights looks too good on its own lines. Lines
    of
    a page stay in one fold.
    """
    folds, scores = folds_of(pages), np.empty(len(pages))
    for fold in np.unique(folds):
        scores[folds == fold] = fit_upright(looks[:, folds != fold]).score(looks[0, folds == fold])
    return UnlikeTraining(fit_upright(looks), least=float(f"{np.quantile(scores, FLAGGED):.4g}"))


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


def impressions_of(
    recognizer: Recognizer, samples: Sequence[Sample], turn: Turn, advance: Advance | None = None
) -> Floats:
    """The out-of-distribution features of turned lines, (lines, features)."""
    found = []
    for some in portions(recognizer, samples, advance):
        found.append(recognizer.impressions([turn(line) for _, line in some]))
    return np.concatenate(found)
