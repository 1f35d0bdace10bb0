"""Functions to call in a child process."""

import os
import sys
import time
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.base.sandbox import HEAD


def echoed(value, content):
    return value, content


def process_id():
    return os.getpid(), b""


def working_directory():
    return str(Path.cwd()), b""


def waited(seconds):
    time.sleep(seconds)
    return None, b""


def held(folder):
    Path(folder, str(os.getpid())).touch()
    while not Path(folder, "go on").exists():
        time.sleep(0.01)
    return None, b""


def computed_for_a_minute():
    while time.process_time() < 60:
        pass
    return None, b""


def allocated(megabytes):
    return len(bytearray(megabytes << 20)), b""


def kept(megabytes):
    Path.kept = bytearray(megabytes << 20)
    return None, b""


def aborted():
    os.abort()


def refused(source):
    raise DataError("is no good", source)


def failed():
    raise KeyError("a bug")


def printed():
    sys.stdout.write("not an answer")
    sys.stdout.flush()
    os.write(1, b"nor is this")
    return "an answer", b""


def lied(head, content, sent):
    """Send an answer as a compromised process might."""
    os.write(answers(), HEAD.pack(head, content) + sent)
    os._exit(0)


def answers():
    """The descriptor of the pipe to the parent."""
    return sys._getframe(3).f_locals["answers"].fileno()
