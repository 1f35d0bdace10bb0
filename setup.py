"""The one compiled module. Without a compiler it is left out, and its Python forms do the same, only slower.

With DRETHTR_PURE=1 it is left out as well: a wheel for every system.
"""

import ast
import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from setuptools import Extension, setup

SOURCE = Path("src/drethtr")

SHARED = {
    "language/ngrams.py": ("MAX_ORDER", "STEP", "FAINTEST"),
    "recognition/decoding/ctc_search.py": ("SURE",),
    "search/automaton.py": ("BOUNDARY", "MARK", "PAIR", "OPEN", "SEVERAL", "BROKEN"),
    "search/packed.py": ("LEVEL_BITS",),
    "search/query.py": ("MAX_LETTERS",),
}
"""Numbers of Python modules that the compiled loops need as well: `STEP` of ngrams.py is `NGRAMS_STEP` in C."""


def macros() -> Iterator[tuple[str, str]]:
    """The shared numbers, from the source of their modules: to import these would need their requirements."""
    for path, names in SHARED.items():
        known: dict[str, object] = {}
        for node in ast.parse((Path(__file__).parent / SOURCE / path).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and any(name in ast.dump(node.targets[0]) for name in names):
                exec(compile(ast.Module([node], []), path, "exec"), {"range": range}, known)
        yield from ((f"{Path(path).stem.upper()}_{name}", f"({known[name]!r})") for name in names)


# Free-threaded Python has no stable ABI yet.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")

NATIVE = Extension(
    "drethtr.base._native",
    [f"src/drethtr/base/compiled/{name}.c" for name in ("module", "texts", "images", "pages")],
    depends=["src/drethtr/base/compiled/shared.h", *(str(SOURCE / path) for path in SHARED)],
    libraries=["m"] if os.name == "posix" else [],
    define_macros=[*macros(), *([("Py_LIMITED_API", "0x030B0000")] if STABLE else [])],
    py_limited_api=STABLE,
    optional=True,
)

if __name__ == "__main__":
    if os.environ.get("DRETHTR_PURE"):
        setup()
    else:
        setup(ext_modules=[NATIVE], options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {})
