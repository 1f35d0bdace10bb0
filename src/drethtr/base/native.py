"""The inner loops of CTC search, n-grams, keyword search and cutting out lines as a compiled module, if installed.

Each caller also has the loop in Python, which defines the results and is used if `native` is None;
`tests/base/test_native.py` compares both. The numbers that both forms need are defined in Python, see setup.py.
"""

try:
    from drethtr.base import _native as native
except ImportError:  # installed without a compiler, or not installed at all
    native = None  # type: ignore[assignment]

__all__ = ["native"]
