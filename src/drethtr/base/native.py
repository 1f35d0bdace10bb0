"""The inner loops of CTC search and n-grams as a compiled module, where the installation has it.

Each caller has a Python form of the loop beside it, which defines the results and is used where `native` is None.
"""

try:
    from drethtr.base import _native as native
except ImportError:  # installed without a compiler, or not installed at all
    native = None  # type: ignore[assignment]

__all__ = ["native"]
