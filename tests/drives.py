"""Drives without file locks, as some network drives are, simulated for other processes."""

import os
import shutil
import subprocess
import sys

import pytest

NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

int flock(int file, int operation) { errno = ENOLCK; return -1; }

#define WITHOUT_LOCKS(name)                                              \\
    int name(int file, int command, ...) {                               \\
        va_list rest;                                                    \\
        va_start(rest, command);                                         \\
        void *argument = va_arg(rest, void *);                           \\
        va_end(rest);                                                    \\
        if (command == F_SETLK || command == F_SETLKW) {                 \\
            errno = ENOLCK;                                              \\
            return -1;                                                   \\
        }                                                                \\
        int (*real)(int, int, ...) = dlsym(RTLD_NEXT, #name);            \\
        return real(file, command, argument);                            \\
    }
WITHOUT_LOCKS(fcntl)
WITHOUT_LOCKS(fcntl64)
"""

needs_compiler = pytest.mark.skipif(
    shutil.which("gcc") is None or sys.platform != "linux", reason="locks are taken away by a library that gcc builds"
)


def run_without_locks(folder, program):
    """What a program prints in a process whose drives have no locks."""
    source, library = folder / "no_locks.c", folder / "no_locks.so"
    source.write_text(NO_LOCKS)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr
