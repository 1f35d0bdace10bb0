"""The devices of a run: one device, or one of several equal processes started by torchrun."""

import atexit
import time
import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor, distributed, nn

from drethtr.base.errors import ConfigError, MissingExtraError
from drethtr.network.devices import allow_tf32, torch_device
from drethtr.training.objective import Objective

if TYPE_CHECKING:
    from accelerate import Accelerator

AMPERE = (8, 0)
"""CUDA compute capability from which devices support bfloat16."""

TIMEOUT = timedelta(days=7)
"""How long processes wait for each other: one reads validation or test lines while the others are idle."""


def limit_threads(threads: int | None) -> None:
    """Let torch compute with this many threads on a CPU; None keeps its own choice."""
    if threads is not None:
        torch.set_num_threads(threads)


@dataclass(frozen=True)
class Devices:
    """The device of this process, and its communication with the other processes."""

    device: torch.device
    accelerator: "Accelerator"

    @classmethod
    def open(cls, device: torch.device | str, *, all_learn: bool = True) -> Self:
        """Open the device `device`; of several processes on GPUs, each takes its own.

        Args:
            all_learn: Whether every weight gets a gradient at every step; otherwise processes must check which ones do.

        Raises:
            MissingExtraError: if accelerate is not installed.
        """
        try:
            from accelerate import Accelerator, DistributedDataParallelKwargs, InitProcessGroupKwargs
        except ImportError as error:
            raise MissingExtraError("accelerate", "train") from error
        device = torch_device(device)
        torch.set_flush_denormal(True)  # arithmetic with denormal numbers is many times slower
        if device.type == "cuda":
            allow_tf32(True)  # torch's default, which a recognizer in this process turns off
        # `broadcast_buffers` would copy the batch norms of the main process; `average_batch_norms` averages them.
        ddp = DistributedDataParallelKwargs(find_unused_parameters=not all_learn, broadcast_buffers=False)
        group = InitProcessGroupKwargs(timeout=TIMEOUT)
        accelerator = Accelerator(cpu=device.type == "cpu", kwargs_handlers=[ddp, group])
        atexit.register(close_process_group)
        return cls(accelerator.device if accelerator.num_processes > 1 else device, accelerator)

    @property
    def processes(self) -> int:
        """The number of processes, called world size in torch."""
        return int(self.accelerator.num_processes)

    @property
    def is_main(self) -> bool:
        """Whether this is the process that reports, validates and saves."""
        return bool(self.accelerator.is_main_process)

    def local_parts(self, parts: int) -> range:
        """The numbers of the batches of a step that this process computes.

        Raises:
            ConfigError: if the batches cannot be divided evenly.
        """
        if parts % self.processes:
            raise ConfigError(
                f"{self.processes} processes cannot divide the {parts} batches of a step evenly; "
                f"set batches_per_step to a multiple of {self.processes}"
            )
        own = parts // self.processes
        return range(self.accelerator.process_index * own, (self.accelerator.process_index + 1) * own)

    def wrap_ddp(self, objective: Objective) -> nn.Module:
        """Wrap the objective for data-parallel training, which averages its gradients over the processes."""
        with warnings.catch_warnings():  # accelerate knows only the name that torch 2.13 replaces
            warnings.filterwarnings("ignore", "`broadcast_buffers` is deprecated", FutureWarning)
            prepared: nn.Module = self.accelerator.prepare_model(objective, device_placement=False)
        return prepared

    def no_sync(self, objective: nn.Module) -> AbstractContextManager[None]:
        """A context that only accumulates gradients, without averaging them: for all but the last batch of a step."""
        context: AbstractContextManager[None] = self.accelerator.no_sync(objective)
        return context

    def average_batch_norms(self, network: nn.Module) -> None:
        """Average the running means and variances of batch norms over the processes."""
        if self.processes == 1:
            return
        norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d) and module.training]
        buffers = [values for norm in norms for values in (norm.running_mean, norm.running_var) if values is not None]
        if buffers:
            means = self.all_reduce(torch.cat(buffers)) / self.processes
            sizes = [len(values) for values in buffers]
            for own, mean in zip(buffers, torch.split(means, sizes), strict=True):
                own.copy_(mean)

    def all_reduce(self, values: Tensor) -> Tensor:
        """The sum over the processes."""
        if self.processes == 1:
            return values
        summed: Tensor = self.accelerator.reduce(values.to(self.device), "sum")
        return summed

    def all_gather(self, rows: Tensor) -> Tensor:
        """The rows of all processes, in order of rank."""
        if self.processes == 1:
            return rows
        every: Tensor = self.accelerator.gather(rows.to(self.device))
        return every.cpu()

    def all_words(self, words: list[str]) -> list[str]:
        """The words of all processes."""
        if self.processes == 1:
            return words
        from accelerate.utils import gather_object

        every: list[str] = gather_object(words)
        return every

    def any_process(self, condition: bool) -> bool:
        """Whether the condition holds in any process; all get the same answer."""
        return bool(self.all_reduce(torch.tensor(int(condition))) > 0)

    def barrier(self) -> None:
        """Wait until all processes get here."""
        self.any_process(False)

    def precision(self, bfloat16: bool) -> AbstractContextManager[object]:
        """A context in which the network computes in bfloat16, or in its own precision."""
        return torch.autocast(self.device.type, torch.bfloat16) if bfloat16 else nullcontext()

    def uses_bfloat16(self, wanted: bool | None = None) -> bool:
        """Whether to train in bfloat16: as wanted, or if that is None, if it is clearly faster on all processes.

        For GPUs this is known; otherwise it is measured.
        """
        if wanted is not None:
            return wanted
        if self.device.type == "cuda":  # a quick measurement would only time the kernel launches
            return not self.any_process(torch.cuda.get_device_capability(self.device) < AMPERE)
        wide, narrow = (self.measure_seconds(bfloat16) for bfloat16 in (False, True))
        return not self.any_process(narrow > 0.8 * wide)

    def measure_seconds(self, bfloat16: bool) -> float:
        """The shortest time for forward and backward passes of a typical convolution and projection.

        On a CPU it is processor time, which other programs hardly change.
        """
        clock = time.process_time if self.device.type == "cpu" else time.perf_counter
        layers = nn.Sequential(nn.Conv2d(64, 128, 3, padding=1), nn.GELU(), nn.Conv2d(128, 64, 1))
        layers.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        images = torch.ones(8, 64, 8, 160, device=self.device).contiguous(memory_format=torch.channels_last)
        times = []
        # The first passes compile kernels; the shortest of four is the time of a step.
        for _ in range(4):
            begun = clock()
            with self.precision(bfloat16):
                total = layers(images).float().sum()
            # Includes the backward pass: on some processors it is much slower in bfloat16 than the forward pass.
            total.backward()
            float(total.detach())  # waits for a GPU
            times.append(clock() - begun)
        return min(times)


def close_process_group() -> None:
    """Destroy the process group; its communication threads would otherwise crash this process at exit."""
    if distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()
