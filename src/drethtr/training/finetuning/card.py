"""The model card of a fine-tuned model: its origin, its training data, and its accuracy."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drethtr.evaluation.evaluate import plain
from drethtr.evaluation.metrics import CONVENTION, Rates
from drethtr.recognition.model_file import Model
from drethtr.sharing.card import NOT_STATED, mappings
from drethtr.training.finetuning.judge import Forgotten
from drethtr.training.finetuning.material import Material

NOT_INHERITED = ("evaluation", "validation_cer", "samples", "hours", "trained_by", "run", "command", "fine_tuned")
"""Entries of a card that do not hold for other weights."""


def card_of(
    material: Material, trained: Model, before: Rates, after: Rates, forgotten: Forgotten | None
) -> dict[str, Any]:
    """The card of a fine-tuned model; the card of `trained` so far has the training time."""
    start, plan = material.start.card, material.plan
    old = {} if forgotten is None else {"old_data_before": forgotten.overall.a, "old_data_after": forgotten.overall.b}
    name = start.get("name", Path(plan.model).stem)
    kept = {key: value for key, value in start.items() if key not in NOT_INHERITED}
    return kept | {
        "name": f"{name}, fine-tuned",
        "data": data_of(kept, material),
        "fine_tuned": facts(material, f"{name} {material.start.hash}", trained.card)
        | {"validation_before": plain(before), "validation_after": plain(after), "convention": CONVENTION}
        | old,
    }


def data_of(card: Mapping[str, Any], material: Material) -> list[Mapping[str, Any]]:
    """The data of the starting model and the new sets; existing descriptions are kept."""
    stated = mappings(card.get("data"))
    names = {entry.get("set") for entry in stated}
    return [*stated, *(origin(entry) for entry in sorted(sets_of(material).items()) if entry[0] not in names)]


def sets_of(material: Material) -> Counter[str]:
    """Number of training lines of each set."""
    return Counter(sample.set for sample in (*material.parts.train, *material.old))


def origin(entry: tuple[str, int]) -> dict[str, str]:
    """A card entry for a set; only the owner of its lines can add the license."""
    name, lines = entry
    return {"set": name, "license": NOT_STATED, "source": f"{lines:,} lines passed to drethtr model finetune"}


def facts(material: Material, start: str, trained: Mapping[str, Any]) -> dict[str, Any]:
    """A description of the fine-tuning."""
    parts, alphabet, plan = material.parts, material.alphabet, material.plan
    return {
        "from": start,
        "lines": len(parts.train),
        "validation_lines": len(parts.validation),
        "validation_by_page": parts.by_page,
        "old_data": list(plan.old_data),
        "characters_added": "".join(alphabet.added),
        "characters_dropped": alphabet.dropped,
        "seed": plan.seed,
        "samples": trained["samples"],
        "part_of_change": trained["part_of_change"],
        "minutes": round(60 * trained["hours"], 1),
    }
