"""The names of a package whose modules are imported when the first of its names is used."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def names_of(package: str, *modules: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package, for the names in its `__all__`; searches its modules in the given order.

    Every import of one of its modules runs its `__init__`, which would otherwise import all the others.
    """

    def getattribute(name: str) -> Any:
        own = vars(sys.modules[package])
        if name in own["__all__"]:
            for module in modules:
                found = vars(import_module(f"{package}.{module}"))
                if name in found:
                    return own.setdefault(name, found[name])
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return getattribute
