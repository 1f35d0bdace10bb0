"""A device that computes on the processor, and refuses what a GPU refuses.

It refuses operations on tensors of two devices and, while a step is captured, all that waits for the host.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("strict")
DEVICE = torch.device("strict:0")

aten = torch.ops.aten
COPIES = aten._to_copy.default, aten.copy_.default
WAITING = aten._local_scalar_dense.default, aten.equal.default, aten.nonzero.default, aten.masked_select.default


class Refused(Exception):
    """An operation that a GPU would refuse."""


class Elsewhere(torch.Tensor):
    """A tensor on the device; `here` has its numbers."""

    here: torch.Tensor

    @staticmethod
    def __new__(cls, here):
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            here.shape,
            strides=here.stride(),
            storage_offset=here.storage_offset(),
            dtype=here.dtype,
            device=DEVICE,
        )
        made.here = here
        return made

    def tolist(self):
        return self.cpu().tolist()

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return compute(operation, args, kwargs or {})


class Strict(TorchDispatchMode):
    """Sees operations that take no tensors, too."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        return compute(operation, args, kwargs or {})


capturing = copying = False


@contextmanager
def strict_device() -> Iterator[torch.device]:
    """Make the device known."""
    torch._C._set_only_lift_cpu_tensors(True)  # `torch.tensor` then moves its tensors by an operation
    try:
        torch.__future__.set_overwrite_module_params_on_conversion(True)  # numbers lie in an attribute of the weights
        with Strict():
            yield DEVICE
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
        torch._C._set_only_lift_cpu_tensors(False)


@contextmanager
def capture(*, copies: bool = False) -> Iterator[None]:
    """Refuse whatever cannot be captured; with `copies`, tensors may come from the host."""
    global capturing, copying
    capturing, copying = True, copies
    try:
        yield
    finally:
        capturing = copying = False


@torch.inference_mode(False)
@torch.no_grad()
def compute(operation, args, kwargs):
    """What an operation gives."""
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    there = [tensor for tensor in tensors if isinstance(tensor, Elsewhere)]
    goal = torch.device(kwargs.get("device") or (args[0].device if operation in COPIES else DEVICE if there else "cpu"))
    if not there and goal != DEVICE:
        return operation(*args, **kwargs)
    if operation._can_decompose():
        with Strict():
            parts = operation.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
    check(operation, tensors, goal)
    if kwargs.get("device"):
        kwargs = kwargs | {"device": torch.device("cpu")}
    own = {id(tensor.here): tensor for tensor in there}
    found = operation(*tree_map(here, args), **tree_map(here, kwargs))
    if goal != DEVICE:
        return args[0] if operation is aten.copy_.default else found
    return tree_map(lambda part: elsewhere(part, own), found)


def check(operation, tensors, goal):
    """Refuse an operation on these tensors whose result is on the device `goal`."""
    from_host = any(tensor.dim() and not isinstance(tensor, Elsewhere) for tensor in tensors)
    indexing = operation in (aten.index.Tensor, aten.index_put_.default)
    if from_host and goal == DEVICE and operation not in COPIES and not indexing:
        raise Refused(f"{operation} of tensors on two devices")
    if capturing and ((from_host and not copying) or goal != DEVICE or operation in WAITING):
        raise Refused(f"{operation} waits for the host while a step is captured")


def elsewhere(value, own):
    """A result on the device; numbers that were changed in place stay those of their tensor."""
    if not isinstance(value, torch.Tensor):
        return value
    return own[id(value)] if id(value) in own else Elsewhere(value)


def here(value):
    """The numbers of a tensor, wherever it is."""
    return value.here if isinstance(value, Elsewhere) else value
