"""Type aliases of numpy arrays by their contents; where one is used, a docstring gives the shape."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
