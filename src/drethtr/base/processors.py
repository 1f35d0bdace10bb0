"""The number of usable processors, and the setup of worker processes."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""The CPU quota of a Linux container, as `quota period` or `max period`."""

PR_SET_PDEATHSIG = 1
"""Linux's prctl option for the signal that a process gets when its parent dies."""


def free_processors() -> int:
    """Number of processors that affinity and the container's quota leave to this process."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = QUOTA.read_text().split()
        if quota != "max":
            allowed = min(allowed, -(-int(quota) // int(period)))
    return max(allowed, 1)


def let_threads_wait() -> None:
    """Let idle OpenMP threads sleep instead of spin; call it before torch is imported."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def begin_worker() -> None:
    """Make a worker process use one thread, since each processor has a worker, and on Linux end with its parent."""
    with suppress(ImportError):
        import cv2

        cv2.setNumThreads(0)
    end_with_parent(os.getppid())


def end_with_parent(parent: int) -> None:
    """Have Linux kill this process when the thread of process `parent` that started it ends, for whatever reason."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before that
            os.kill(os.getpid(), signal.SIGKILL)
