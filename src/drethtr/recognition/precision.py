"""The precision in which a network computes."""

from enum import Enum

from drethtr.base.config import named


class Precision(Enum):
    """The precision of weights and activations.

    FLOAT32   the reference
    INT8      matrix products in 8 bits: fastest on a CPU
    BFLOAT16  backbone and projections in 16 bits; needs torch, and pays off on GPUs and CPUs that support it
    """

    FLOAT32 = "float32"
    INT8 = "int8"
    BFLOAT16 = "bfloat16"


def precision_named(precision: Precision | str) -> Precision:
    """The precision with this name.

    Raises:
        ConfigError: if there is none.
    """
    if isinstance(precision, Precision):
        return precision
    return named("precision", precision, {known.value: known for known in Precision})
