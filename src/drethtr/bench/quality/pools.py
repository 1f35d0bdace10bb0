"""Two pools of sets: those that a model was trained on (on other pages), and held-out ones."""

from collections.abc import Collection, Iterable, Mapping

from drethtr.recognition.model.file import Model

KNOWN, HELD_OUT = "known", "held out"


def known_sets(model: Model) -> frozenset[str]:
    """The sets that a model was trained on, by its card."""
    entries = model.card.get("data", ())
    return frozenset(str(entry.get("set")) for entry in entries if isinstance(entry, Mapping))


def pools_of(names: Iterable[str], known: Collection[str]) -> dict[str, list[str]]:
    """The groups to report: each set alone, then all known and all held-out sets, if there are any."""
    names = sorted(set(names))
    pools = {KNOWN: [name for name in names if name in known], HELD_OUT: [name for name in names if name not in known]}
    return {name: [name] for name in names} | {pool: some for pool, some in pools.items() if some}
