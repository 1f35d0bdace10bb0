"""From image memory to token ids: search, and the strategies a user chooses from."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drethtr.decoding.published import PublishedBeam, PublishedGreedy
    from drethtr.decoding.strategies import CTC, Beam, Decoder, Greedy, Joint, VerifiedDrafts

__all__ = ["CTC", "Beam", "Decoder", "Greedy", "Joint", "PublishedBeam", "PublishedGreedy", "VerifiedDrafts"]


def __getattr__(name: str) -> Any:
    """Import a strategy when it is first used: search alone needs no network."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "published" if name.startswith("Published") else "strategies"
    return getattr(import_module(f"drethtr.decoding.{module}"), name)
