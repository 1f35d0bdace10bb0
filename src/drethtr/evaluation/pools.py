"""Sets in two pools: those that a model was trained on, on other pages, and those that it has never seen."""

from collections.abc import Collection, Iterable, Mapping

from drethtr.recognition.model_file import Model

KNOWN, HELD_OUT = "known", "held out"


def known_sets(model: Model) -> frozenset[str]:
    """The sets that a model was trained on, as its card names them."""
    entries = model.card.get("data", ())
    return frozenset(str(entry.get("set")) for entry in entries if isinstance(entry, Mapping))


def pools_of(names: Iterable[str], known: Collection[str]) -> dict[str, list[str]]:
    """What figures are of: each set alone, then all known and all held-out ones, if there are any."""
    names = sorted(set(names))
    pools = {KNOWN: [name for name in names if name in known], HELD_OUT: [name for name in names if name not in known]}
    return {name: [name] for name in names} | {pool: some for pool, some in pools.items() if some}
