"""Fit what a model says about itself, on lines that it was neither trained nor tested on.

    model = calibrate(model, validation_lines)

Three things are learned: which decoder reads best; how often a text is right that looks so and so, for each decoder;
and how lines look to the network that hold no writing it knows: the same lines on their heads and in a mirror.
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
"""Lines without which confidences should not be calibrated: they have about a thousand characters."""

TO_KNOW_WRITING = 100
"""Lines without which a model should not learn what its writing looks like: that takes hundreds of weights."""

FLAGGED = 0.02
"""Share of validation lines that may be called unlike training."""

FOLDS = 5
RIDGE = 0.001
"""Holds the weights of an impression, of which there are hundreds."""

DIGITS = 4

Decoders = tuple[Decoder, ...]
Turn = Callable[[Line], Line]


class Fit(NamedTuple):
    """A calibration, and how far its confidences can be relied on where they were fitted: a little less elsewhere."""

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
    """The model, knowing how to read with it and when to believe it.

    Args:
        samples: Validation lines; those with uncertain texts are left out. With fewer than `TO_KNOW_WRITING`, what the
            model knows of its writing stays as it is.
        decoders: To calibrate, those that find the same text together; all else that is known is then left as it is.
            By default the decoder to read with is chosen, and `usual_decoders` are calibrated.
        advance: Told how many lines were read, after each of many steps; every line is read `passes` times.
        on_fit: Told each calibration when it is fitted, and how well it fits.

    Raises:
        DataError: if there are no clean lines, or nothing to learn from what is read on them.
    """
    chosen = to_read(samples)
    plain = replace(model, trust=Trust())  # what was learned before must not matter
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
    """The same, for those of its decoders that are not done anew."""
    return replace(calibration, decoders=tuple(d for d in calibration.decoders if not any(map(d.akin, done))))


def usual_decoders(model: Model, alone: CTC = CTC()) -> tuple[Decoders, ...]:  # noqa: B008  # a value
    """What a user of the model gets unasked, and the fastest reader of the image and of the decoder."""
    network = model.network
    fast: tuple[Decoders, ...] = ((Greedy(),),) if network.ctc is None else ((alone,), (VerifiedDrafts(), Greedy()))
    usual = model.trust.decoder or default_decoder(network)
    return fast if any(usual in alike for alike in fast) else ((usual,), *fast)


def passes(model: Model, lines: int, decoders: Sequence[Decoders] = ()) -> int:
    """How often `calibrate` reads each line, at most: to choose a decoder, with every decoder, then in every turn."""
    choice = Joint() if model.network.ctc is not None else None
    usual = usual_decoders(replace(model, trust=Trust(decoder=choice)))
    return (len(decoders) or len(usual) + (choice is not None)) + len(turns_of(lines))


def fit_calibration(decoders: Decoders, samples: Sequence[Sample], readings: Sequence[Reading]) -> Fit:
    """How sure a decoder may be of its characters and words, from what it read."""
    found = [(sample.text, reading) for sample, reading in zip(samples, readings, strict=True) if reading.characters]
    if not found:
        raise DataError(f"nothing was read on {len(samples)} lines: there is nothing to calibrate")
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
    """As it is."""
    return line


def upside_down(line: Line) -> Line:
    """Turned by half."""
    return line[::-1, ::-1]


def mirrored(line: Line) -> Line:
    """Right to left."""
    return line[:, ::-1]


TURNS: tuple[Turn, ...] = (upright, upside_down, mirrored)


def turns_of(lines: int) -> tuple[Turn, ...]:
    """How so many lines are turned to learn what their writing looks like; in no way, if they are too few for it."""
    return TURNS if lines >= TO_KNOW_WRITING else ()


def knows_writing(model: Model) -> bool:
    """Whether the model has learned what its writing looks like, from what this version sees in a line."""
    known = model.trust.unlike_training
    return known is not None and len(known.alike.weights) == features_of(model.network)


def fit_unlike_training(looks: Floats, pages: Sequence[str]) -> UnlikeTraining:
    """How to tell lines from the same ones turned, from impressions (turns, lines, features), the first turn upright.

    The threshold comes from scores of lines that the weights were not fitted on: on its own lines, a fit of so many
    weights looks better than it is. Lines of a page are kept together.
    """
    folds, scores = folds_of(pages), np.empty(len(pages))
    for fold in np.unique(folds):
        scores[folds == fold] = fit_upright(looks[:, folds != fold]).score(looks[0, folds == fold])
    return UnlikeTraining(fit_upright(looks), least=float(f"{np.quantile(scores, FLAGGED):.4g}"))


def folds_of(pages: Sequence[str]) -> NDArray[np.int64]:
    """A fold for each line: the same for all of a page, unless pages are unknown or too few to part."""
    known = {page: number for number, page in enumerate(dict.fromkeys(filter(None, pages)))}
    places = [known[page] if page and len(known) >= FOLDS else line for line, page in enumerate(pages)]
    return np.array(places) % FOLDS


def fit_upright(looks: Floats) -> Logistic:
    """The chance that a line is upright."""
    turns, lines, features = looks.shape
    truth = np.arange(turns * lines) < lines
    return fit_logistic(looks.reshape(-1, features), truth, ridge=RIDGE, digits=DIGITS)


def impressions_of(
    recognizer: Recognizer, samples: Sequence[Sample], turn: Turn, advance: Advance | None = None
) -> Floats:
    """What turned lines look like to the network, (lines, features)."""
    found = []
    for some in portions(recognizer, samples, advance):
        found.append(recognizer.impressions([turn(line) for _, line in some]))
    return np.concatenate(found)
