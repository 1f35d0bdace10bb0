"""Choose the device and the backend of a model: onnxruntime on a CPU, torch everywhere else."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from drethtr.base.errors import ConfigError, require
from drethtr.recognition.model.file import Model, settings_errors
from drethtr.recognition.onnx.network import OnnxNetwork, supports
from drethtr.recognition.protocol import Network, Precision

AUTO, CPU = "auto", "cpu"
KINDS = (CPU, "cuda", "mps")
"""Kinds of devices; `cuda:1` is the second one of its kind."""

TORCH_BACKEND = "drethtr.network.backend"
"""The backend in torch, by name, since this package neither imports torch nor modules of floors above."""

DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "C:/Windows/System32/nvcuda.dll")
"""A file of NVIDIA's driver on Linux, of any GPU in WSL, of NVIDIA's driver on Windows."""


def resolve_device(name: str) -> str:
    """A device, where "auto" is a GPU that CUDA can use, else the CPU.

    torch is imported only if there is a driver, as that takes seconds.

    Raises:
        ConfigError: if no device has this name, as far as is known without torch.
    """
    if name != AUTO:
        if not isinstance(name, str) or (find_spec("torch") is None and name.partition(":")[0] not in KINDS):
            raise unknown_device(name)  # refused here, since installing torch would not help
        return name
    if not any(Path(file).exists() for file in DRIVERS) or not find_spec("torch"):
        return CPU
    return "cuda" if import_module("torch").cuda.is_available() else CPU


def devices_named(device: str) -> tuple[str, ...]:
    """All GPUs, cuda:0 and so on, for "cuda"; any other device alone."""
    if device != "cuda" or find_spec("torch") is None:
        return (device,)
    return tuple(f"cuda:{number}" for number in range(import_module("torch").cuda.device_count())) or (device,)


def unknown_device(name: object) -> ConfigError:
    """The error for a device that does not exist."""
    return ConfigError(f"unknown device {str(name)!r}; known: auto, cpu, cuda, cuda:N, mps")


def open_network(model: Model, device: str, precision: Precision, threads: int) -> Network:
    """Open the network of a model.

    Args:
        device: "cpu", or a torch device: "cuda", "cuda:1", "mps"; "auto" is a GPU that CUDA can use, else the CPU.
        threads: Number of lines computed in parallel on a CPU.

    Raises:
        CheckpointError: if the weights are not those of such a network, or its settings are invalid.
        ConfigError: if there is no such device, or it does not support the precision.
        MissingExtraError: if torch is needed and not installed.
    """
    where = resolve_device(device)
    # onnxruntime has no bfloat16 on a CPU; torch has, so it computes bfloat16 on every device.
    if where == CPU and precision is not Precision.BFLOAT16:
        reason = supports(model.network)
        if reason is None:
            return open_onnx(model, precision, threads)
        if precision is Precision.INT8:
            raise ConfigError(f"this model cannot be computed in int8, as {reason}; use float32 or bfloat16")
    if precision is Precision.INT8:
        raise ConfigError(f"int8 is for CPUs; use float32 or bfloat16 on {where}, or the device cpu")
    return torch_backend()(model, where, precision, threads)


def open_onnx(model: Model, precision: Precision, threads: int) -> OnnxNetwork:
    """Open the network of a model in onnxruntime.

    Raises:
        CheckpointError: if the weights are not those of such a network, or its settings are invalid.
    """
    int8 = precision is Precision.INT8
    with settings_errors():
        network = OnnxNetwork(
            model.network, model.weights, model.tokenizer.size, rescorer=model.rescorer, threads=threads, int8=int8
        )
    model.check_height(network.dimensions.height)
    return network


def check_weights(model: Model) -> None:
    """Check that the weights of a model fit its network, as far as the installed packages allow.

    Raises:
        CheckpointError: naming weights that are missing, unused or of another shape.
    """
    if supports(model.network) is None:
        open_onnx(model, Precision.FLOAT32, 1)
    elif find_spec("torch") is not None:
        torch_backend()(model, CPU, Precision.FLOAT32, 1)


def torch_backend() -> Callable[[Model, str, Precision, int], Network]:
    """The function that opens a network in torch.

    Raises:
        MissingExtraError: if torch is not installed.
    """
    require("torch", "train")
    opened: Callable[[Model, str, Precision, int], Network] = import_module(TORCH_BACKEND).open_network
    return opened
