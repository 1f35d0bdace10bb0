"""The training run of fine-tuning, derived from its material."""

from dataclasses import replace
from glob import escape
from pathlib import Path

from drethtr.base.errors import ConfigError
from drethtr.network.lora import size_of_rank
from drethtr.recognition.decoding.strategies import CTC, Greedy, Joint
from drethtr.recognition.model.file import Model
from drethtr.training.feed.batch import BatchConfig, Prose
from drethtr.training.feed.supply import LineSource, Real
from drethtr.training.finetuning.material import Material, network_without_weights, widest_line
from drethtr.training.optimize import AdamW, Cosine, Method, Muon, OptimizerConfig
from drethtr.training.run import RunConfig, ValidationConfig
from drethtr.training.start import FromModel
from drethtr.training.tuning import LowRank, Whole

VALIDATIONS = 8
"""Number of validations during training, unless it ends early; with more, few lines could not tell the weights apart.
14 validations on 18 lines took a ninth of a training (LOG.md, 2026-11-27)."""

FEW = 200
"""Fewer lines are learned in steps of half the size.

60 lines make 40 steps of 16 lines, and leave 19.3 % CER; with 8 lines a step they leave 17.3 %. 567 lines gain nothing
(LOG.md, 2026-11-30, morning)."""

PATIENCE = 3  # validations without a gain, of eight: fewer would end by chance on few lines
VALIDATION_LINES = 200  # they only select weights; reading more, eight times, would take as long as training

OWN_EFFORT = 0.25
"""Share of these lines that is seen in each of the five trainings on own readings.

With half, other lines are read as well, but confidences are worse and more of other hands is forgotten (LOG.md,
2026-11-30, evening)."""

ADAPTER_BYTES = 1_000_000
HEADER_BYTES = 60_000
"""Upper limit of the names and shapes of an adapter's weights, its card and its calibration."""

MAX_RANK = 8  # for adapters of small models, which would have room for more; never varied in an experiment

OLD_SHARE = 0.3
"""Share of the lines seen that comes from the old data, if there are any."""


def samples_for(lines: int) -> int:
    """How many lines are seen in a training on this number of lines, over several epochs.

    Few lines need more passes than many: 14 over 42 lines, 9 over 567. With 567 lines, six passes give 6.8 % CER, nine
    6.5 %, and twelve little less (LOG.md, 2026-11-28).
    """
    samples: int = round(27 * lines**0.82)
    return samples


def run_of(
    material: Material,
    lines: int,
    train: Path,
    validation: Path | None,
    old: Path | None = None,
    *,
    effort: float = 1,
) -> RunConfig:
    """The run that fine-tunes on the `lines` lines of the file `train`, with those of `old` mixed in.

    Some lines of the file `validation` choose its weights; without it, its last weights are the result. It ends after
    the share `effort` of its lines, at the learning rate that a whole run has at that point.
    """
    plan, model, tokenizer = material.plan, material.start, material.alphabet.tokenizer
    few = lines < FEW
    if plan.adapter:
        # Muon learns less in the small matrices of an adapter: 33.9 against 30.8 % CER (LOG.md, 2026-11-22).
        method: Method = AdamW()
        rate, backbone = 2e-3, 1.0
    else:
        # 29.3 instead of 32.3 % CER with AdamW (LOG.md, 2026-11-22); 15.5 instead of 18.6 % at twice the rate, with the
        # first layers frozen (LOG.md, 2026-11-27). A backbone at 0.05 instead of 0.3 of the rate forgets less, but
        # learns less (LOG.md, 2026-11-25, late).
        method = Muon()
        rate, backbone = 7e-4 if few else 1e-3, 0.3
    # The first layers see strokes, which other hands share; leaving them out saves a fifth of the time (LOG.md,
    # 2026-11-27).
    early = tuple(f"backbone.{name}" for name in network_without_weights(model).backbone.early)
    whole = plan.samples or round(samples_for(lines) * (OWN_EFFORT if plan.own_readings else 1))
    # The last step may see more lines than planned, after which the rate would rise again.
    samples, warm_up = max(round(min(effort, 1) * whole), 1), whole // 10
    every = max(samples // VALIDATIONS, 1)
    sources: list[LineSource] = [Real(paths=(escape(str(train)),), weight=1 - OLD_SHARE)]
    # Without old lines, nothing is mixed in: a few synthetic lines, for 43 % more training, do not preserve other hands
    # beyond chance (LOG.md, 2026-11-25, late).
    if old is not None:
        sources.append(Real(paths=(escape(str(old)),), weight=OLD_SHARE))
    return RunConfig(
        train=tuple(sources),
        validation=ValidationConfig(
            paths=() if validation is None else (escape(str(validation)),),
            lines=material.parts.per_set(VALIDATION_LINES),
            every=samples if validation is None else every,
            # The start counts as a candidate, so that fine-tuning never ends with something worse.
            at_start=validation is not None,
            decoder=Greedy() if model.network.ctc is None else CTC(),
        ),
        samples=samples,
        network=model.network,
        preparation=model.preparation,
        batches=BatchConfig(
            pixels=model.preparation.height * (4_000 if few else 8_000),
            lines=8 if few else 16,
            max_columns=widest_line(model),
            chunk=128,
        ),
        # Only where the decoder is the language model: n-grams learn the texts better, and in seconds.
        prose=Prose() if decoder_knows_language(model) else None,
        start=FromModel(plan.model, None if tokenizer == model.tokenizer else tokenizer.alphabet),
        tuning=LowRank(rank_of(model)) if plan.adapter else Whole(early),
        optimizer=OptimizerConfig(
            method=method,
            learning_rate=rate,
            warm_up=warm_up,
            # With the full decay of the rate compressed into fewer lines, 88 % of the gain remained (LOG.md,
            # 2026-11-27).
            schedule=Cosine(cycles=max(samples - warm_up, 1) / max(whole - warm_up, 1)),
            backbone_scale=backbone,
            # Short, since a run may end after a few hundred steps, when half of a longer average would be earlier
            # weights.
            average=0.99,
        ),
        patience=PATIENCE,
        save_every=every,
        seed=plan.seed,
    )


def goes_on(material: Material) -> bool:
    """Whether the lines of validation are learned at the end by further training, not by a second one on all lines.

    The average of two trainings leaves 5.4 instead of 5.6 % CER of 679 lines; one that is as long as both leaves more
    than before. Of 60 lines, a second training gains nothing (LOG.md, 2026-11-30, noon and last). An adapter has no
    room for two changes.
    """
    return material.plan.adapter or len(material.learned) < FEW


def further_run_of(material: Material, start: Path, train: Path, old: Path | None = None) -> RunConfig:
    """The run that goes on from the model `start`, shorter and at a lower rate, on all lines, in the file `train`."""
    run = run_of(material, len(material.learned), train, None, old)
    # Half as long at half the rate leaves 16.3 instead of 15.2 % CER of 60 lines (LOG.md, 2026-11-30, noon).
    samples, rate = max(run.samples // 2, 1), 0.4 * run.optimizer.learning_rate
    return replace(
        run,
        samples=samples,
        start=FromModel(str(start)),
        validation=replace(run.validation, every=samples),
        save_every=samples,
        optimizer=replace(run.optimizer, learning_rate=rate, warm_up=samples // 20, schedule=Cosine()),
    )


def decoder_knows_language(model: Model) -> bool:
    """Whether a model reads best with its decoder as a language model.

    If so, the decoder also learns the texts of the new lines and forgets none. N-grams or a rescorer replace this.
    """
    strategy = model.record.strategy
    has_others = model.languages or model.rescorer is not None
    return isinstance(strategy, Joint) and strategy.weights.language > 0 and not has_others


def rank_of(model: Model) -> int:
    """The rank of an adapter: the highest that fits the size limit, up to `MAX_RANK`.

    Raises:
        ConfigError: if the model is too large even for rank 1.
    """
    room = (ADAPTER_BYTES - HEADER_BYTES) // 2 // size_of_rank(network_without_weights(model))
    if not room:
        raise ConfigError(
            f"even the smallest adapter of this model is larger than {ADAPTER_BYTES:,} bytes; leave out --adapter"
        )
    return min(room, MAX_RANK)
