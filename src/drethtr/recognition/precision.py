"""In which numbers a network computes."""

from enum import Enum


class Precision(Enum):
    """The numbers of weights and of what passes between layers.

    FLOAT32   the reference
    INT8      the convolutions and matrices of the image side in 8 bits: fastest on a CPU, needs a calibrated model
    BFLOAT16  backbone and projections in 16 bits; needs torch, and pays on a GPU or a CPU that computes with it
    """

    FLOAT32 = "float32"
    INT8 = "int8"
    BFLOAT16 = "bfloat16"
