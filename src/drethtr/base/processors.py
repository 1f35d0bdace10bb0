"""The processors this process may really use, and well-behaved workers."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux tells a container how much processor time it gets, as `quota period` or `max period`."""

PR_SET_PDEATHSIG = 1
"""Of Linux's prctl: the signal that a process gets when its parent dies."""


def free_processors() -> int:
    """How many processors this process may use: its affinity, and the quota of its container."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = QUOTA.read_text().split()
        if quota != "max":
            allowed = min(allowed, -(-int(quota) // int(period)))
    return max(allowed, 1)


def let_threads_wait() -> None:
    """Let idle OpenMP threads sleep instead of spinning; only effective before torch is imported."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def begin_worker() -> None:
    """Make a worker process end with its parent, and use one thread, as there is a worker for each processor."""
    with suppress(ImportError):
        import cv2

        cv2.setNumThreads(0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
