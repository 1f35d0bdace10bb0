"""Which backend computes a model: onnxruntime on a CPU, torch everywhere else."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from drethtr.base.errors import ConfigError, MissingExtraError
from drethtr.recognition.model_file import Model
from drethtr.recognition.network import Network
from drethtr.recognition.onnx.network import OnnxNetwork, unsupported
from drethtr.recognition.precision import Precision

AUTO, CPU = "auto", "cpu"

TORCH_BACKEND = "drethtr.network.backend"
"""The one module above this room that it knows of, by name: it needs torch."""


def open_network(model: Model, device: str, precision: Precision, threads: int) -> Network:
    """A network that computes with a model's weights.

    Args:
        device: "cpu", or what torch calls a device: "cuda", "cuda:1", "mps"; "auto" is a GPU that CUDA can use, else
            the CPU.
        threads: How many lines are computed side by side on a CPU.

    Raises:
        CheckpointError: if the weights are not those of such a network, or it is not calibrated for int8.
        ConfigError: if there is no such device, or it cannot compute so.
        MissingExtraError: if this takes torch, and it is not installed.
    """
    where = best_device() if device == AUTO else device
    if where == CPU and precision is not Precision.BFLOAT16:
        reason = unsupported(model.network)
        if reason is None:
            return OnnxNetwork.of(model, precision, threads)
        if precision is Precision.INT8:
            raise ConfigError(f"this model cannot compute in int8: {reason}")
    if precision is Precision.INT8:
        raise ConfigError(f"int8 is for CPUs; use float32 or bfloat16 on {where}")
    return torch_backend()(model, where, precision, threads)


def torch_backend() -> Callable[[Model, str, Precision, int], Network]:
    """What opens a network in torch.

    Raises:
        MissingExtraError: if torch is not installed.
    """
    if find_spec("torch") is None:
        raise MissingExtraError("torch", "train")
    opened: Callable[[Model, str, Precision, int], Network] = import_module(TORCH_BACKEND).open_network
    return opened


def best_device() -> str:
    """A GPU that CUDA can use, else the CPU; torch is only asked where there is a driver, as importing it takes long."""
    if not (Path("/dev/nvidiactl").exists() or Path("C:/Windows/System32/nvcuda.dll").exists()) or not find_spec(
        "torch"
    ):
        return CPU
    return "cuda" if import_module("torch").cuda.is_available() else CPU
