"""The simulated disk loses what was not flushed, and nothing else."""

import subprocess
import sys
from pathlib import PurePosixPath

import pytest

from soak.disk import STRACE, Disk, replay
from soak.test_power import needs_strace

PROGRAM = """
import os
file = os.open("a.new", os.O_WRONLY | os.O_CREAT)
os.write(file, b"new ")
os.write(file, b"text")
{flush}
os.rename("a.new", "a")
{flush_folder}
"""
FLUSH, FLUSH_FOLDER = "os.fsync(file)", "os.fsync(os.open('.', os.O_RDONLY))"


@needs_strace
@pytest.mark.parametrize(
    ("flush", "flush_folder", "on_the_way", "finally_there"),
    [
        (FLUSH, FLUSH_FOLDER, {b"old", b"new text"}, b"new text"),
        ("", FLUSH_FOLDER, {b"old", b"", b"new ", b"new text"}, b""),
        (FLUSH, "", {b"old"}, b"old"),
    ],
    ids=["all is flushed", "the file is not", "the folder is not"],
)
def test_what_was_not_flushed_may_be_lost(tmp_path, flush, flush_folder, on_the_way, finally_there):
    folder, log, found = tmp_path / "folder", tmp_path / "log", set()
    folder.mkdir()
    (folder / "a").write_bytes(b"old")
    disk, path = Disk(folder), PurePosixPath(folder / "a")
    program = PROGRAM.format(flush=flush, flush_folder=flush_folder)
    subprocess.run([*STRACE, "-o", log, sys.executable, "-I", "-S", "-c", program], cwd=folder, check=True)
    replay(disk, log, lambda _, files: found.add(files[path]))
    assert found == on_the_way
    assert next(disk.losses())[path] == finally_there
