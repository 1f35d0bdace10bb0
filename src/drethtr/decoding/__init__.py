"""From image memory to token ids: search, and the strategies a user chooses from."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drethtr.decoding.strategies import CTC, Beam, Decoder, Greedy

__all__ = ["CTC", "Beam", "Decoder", "Greedy"]


def __getattr__(name: str) -> Any:
    """Import a strategy when it is first used: search alone needs no network."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("drethtr.decoding.strategies"), name)
