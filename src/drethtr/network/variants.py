"""The torch class of each part of a network, by the config that it computes.

A `NetworkConfig` describes a network as data: backbone, positions, image prior, mixer, decay and so on are small frozen
configs. A class says beside its definition which config it computes, and takes that config first:

    @PRIORS.computes(Added)
    class AddedDecay(DecayPrior): ...

A plug-in whose configs are also used without torch keeps its torch classes in a module of its own, which an entry point
of the group `drethtr.networks` names; it is imported when a network first has a part that no class here computes.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from drethtr.base.plugins import load_plugins

Part = TypeVar("Part")
Made = TypeVar("Made", bound=Callable[..., Any])

ENTRY_POINTS = "drethtr.networks"


class Variants(Generic[Part]):
    """The classes of one kind of part; `what` names it in messages."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.makers: dict[type, Callable[..., Part]] = {}

    def computes(self, config: type) -> Callable[[Made], Made]:
        """Register a class, or a function that makes a part, for a config."""

        def register(make: Made) -> Made:
            self.makers[config] = make
            return make

        return register

    def build(self, config: object, *given: object) -> Part:
        """Build a part with fresh weights; `given` is what parts of this kind need to know about their place.

        Raises:
            TypeError: if no class computes the config.
        """
        if type(config) not in self.makers:
            load_plugins(ENTRY_POINTS)
        if type(config) not in self.makers:
            raise TypeError(f"no torch class computes the {self.what} {config!r}")
        return self.makers[type(config)](config, *given)
