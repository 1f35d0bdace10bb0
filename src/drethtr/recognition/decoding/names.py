"""Names of strategies, for the command line and `Recognizer.load`: `joint`, `beam:5`."""

from collections.abc import Callable

from drethtr.base.config import hint
from drethtr.base.errors import ConfigError
from drethtr.base.plugins import load_plugins
from drethtr.recognition.decoding.strategies import CTC, Beam, Greedy, Joint, Strategy, VerifiedDrafts

NAMES: dict[str, Strategy] = {
    "ctc": CTC(),
    "joint": Joint(),
    "careful": Joint(candidates=4, stretches=(1.0, 0.8, 1.2)),  # 4 at each width
    "greedy": Greedy(),
    "verified": VerifiedDrafts(),
    "beam": Beam(),
}

NUMBERED: dict[str, Callable[[int], Strategy]] = {"beam": Beam}
"""Strategies that take a number, as in `beam:5`."""


def strategy_named(text: str) -> Strategy:
    """The strategy with a name such as `joint` or `beam:5`.

    Raises:
        ConfigError: for any other name or number.
    """
    name, colon, number = text.partition(":")
    if name not in NAMES:
        load_plugins()
    if name not in NAMES:
        raise ConfigError(f"unknown decoder {text!r}{hint(name, NAMES)}; known: {', '.join(NAMES)}, beam:5")
    if not colon:
        return NAMES[name]
    if name not in NUMBERED or not number.isdecimal():
        raise ConfigError(f"decoder {text!r} is not understood; only {' and '.join(NUMBERED)} take a number: beam:5")
    return NUMBERED[name](int(number))


def name_of(strategy: Strategy) -> str:
    """The name of a strategy, regardless of weights from a model; its `repr` if it has no name."""
    numbered = [f"{name}:{beams}" for name in NUMBERED if (beams := getattr(strategy, "beams", None)) is not None]
    for name in (*numbered, *NAMES):
        if strategy_named(name).completed_by(strategy) == strategy.completed_by(strategy):
            return name
    return repr(strategy)
