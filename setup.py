"""The one compiled module. Without a compiler it is left out, and its Python forms do the same, only slower.

With DRETHTR_PURE=1 it is left out as well: a wheel for every system.
"""

import os
import sysconfig

from setuptools import Extension, setup

# Free-threaded Python has no stable ABI yet.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")

NATIVE = Extension(
    "drethtr.base._native",
    [f"src/drethtr/base/compiled/{name}.c" for name in ("module", "texts", "pages")],
    depends=["src/drethtr/base/compiled/shared.h"],
    libraries=["m"] if os.name == "posix" else [],
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
    py_limited_api=STABLE,
    optional=True,
)

if os.environ.get("DRETHTR_PURE"):
    setup()
else:
    setup(ext_modules=[NATIVE], options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {})
