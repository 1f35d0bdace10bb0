"""Everything fine-tuning starts from: the model, the lines, and the change of alphabet they require."""

from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from drethtr.base.errors import MissingExtraError
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample, check_apart, fingerprint
from drethtr.recognition.model_file import Model, load_model, weights_hash
from drethtr.text.alphabet import AlphabetChange
from drethtr.training.finetuning.parts import Parts, drop_unreadable, split_lines, split_old_lines
from drethtr.training.finetuning.plan import Plan, widest_line

NEEDED = ("accelerate", "pyarrow")
"""Packages required for training."""


@dataclass(frozen=True)
class Material:
    """Everything that fine-tuning starts from.

    parts       the new lines
    old         old lines to mix in
    remembered  other old lines, to measure forgetting
    alphabet    the change from the model's alphabet to that of the result
    """

    plan: Plan
    start: Model
    parts: Parts
    old: tuple[Sample, ...]
    remembered: tuple[Sample, ...]
    alphabet: AlphabetChange

    def fingerprint(self) -> str:
        """Hash of the starting model and of all lines with their texts, by split."""
        digest = blake2b(weights_hash(self.start.weights).encode(), digest_size=16)
        for samples in (self.parts.train, self.parts.validation, self.old, self.remembered):
            for sample in samples:
                digest.update(fingerprint(sample) + sample.text.encode())
            digest.update(b"next")
        return digest.hexdigest()

    def some(self, share: float) -> tuple[Sample, ...]:
        """The first `share` of the training lines; a larger share includes the smaller ones."""
        return self.parts.train[: round(share * len(self.parts.train))]


def gather(plan: Plan) -> Material:
    """Open everything a plan refers to; nothing is written.

    Raises:
        CheckpointError: if the model cannot be used.
        DataError: if lines cannot be used, or there are too few.
        ConfigError: if the alphabet has to change and cannot.
        MissingExtraError: if a package required for training is not installed.
    """
    for package in NEEDED:
        if find_spec(package) is None:
            raise MissingExtraError(package, "train")
    start = load_model(Path(plan.model))
    given = open_all(plan.validation) if plan.validation else []
    parts = drop_unreadable(
        split_lines(open_all(plan.data), given, seed=plan.seed), start.preparation, widest_line(start)
    )
    old, remembered = split_old_lines(open_all(plan.old_data), seed=plan.seed) if plan.old_data else ((), ())
    for name, samples in (("training lines", parts.train), ("--old-data", (*old, *remembered))):
        check_apart({name: samples, "validation lines": parts.validation})
    alphabet = AlphabetChange.between(
        start.tokenizer,
        [sample.text for sample in (*parts.train, *old)],
        [sample.text for sample in parts.validation],
        minimum=plan.minimum_count,
        drop_unused=plan.drop_unused,
        change=not plan.adapter,
    )
    return Material(plan, start, parts, old, remembered, alphabet)
