import os
import subprocess
import sys
import threading
import time
from errno import EINVAL
from pathlib import Path

import pytest
import sandboxed_calls
from waiting import until

from drethtr.base import sandbox as module
from drethtr.base.errors import DataError, DrethtrError
from drethtr.base.sandbox import children, prepare, sandboxed


@pytest.mark.parametrize("value", [None, 1.5, "\udc80", [1, {"a": []}], "x" * 100_000])
def test_values_and_bytes_come_back(value):
    answer, content = sandboxed("a file", sandboxed_calls.echoed, value, b"\0\n" * 100_000)
    assert answer == value and content == b"\0\n" * 100_000
    content[0] = 1  # pixels are changed in place


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
@pytest.mark.parametrize("limit", ["-t 120", "-v 1900000"])
def test_limits_of_the_shell_are_kept(limit):
    code = """
import sandboxed_calls
from drethtr.base.sandbox import sandboxed
print(sandboxed("a", sandboxed_calls.process_id))
"""
    command = f'ulimit {limit}; exec "$0" -c "$1"'
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(["sh", "-c", command, sys.executable, code], capture_output=True, text=True, env=where)
    assert run.returncode == 0, run.stderr


def test_a_child_that_has_ended_may_be_told_as_on_windows():
    """As an invalid argument; it must be replaced, whatever the system calls it."""

    class Broken:
        def write(self, content):
            raise OSError(EINVAL, os.strerror(EINVAL))

    child = module.Child()
    pipe, child.process.stdin = child.process.stdin, Broken()
    with pytest.raises(EOFError):
        child.ask(1.0, sandboxed_calls.process_id, ())
    child.process.stdin = pipe
    child.end()


def test_one_process_answers_many_calls():
    assert sandboxed("a file", sandboxed_calls.process_id) == sandboxed("a file", sandboxed_calls.process_id)
    assert sandboxed("a file", sandboxed_calls.process_id)[0] != os.getpid()


def test_a_prepared_process_answers_the_next_call():
    children.end()
    prepare("sandboxed_calls")
    [child] = children.idle
    prepare("sandboxed_calls")
    assert children.idle == [child], "one is enough"
    assert sandboxed("a file", sandboxed_calls.process_id)[0] == child.process.pid


def test_paths_are_relative_to_where_the_caller_is_now(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        assert sandboxed("a file", sandboxed_calls.working_directory)[0] == str(tmp_path / name)


def test_what_takes_too_long_is_refused_and_the_next_call_answered():
    with pytest.raises(DataError, match=r"^a file: takes more than 1 seconds to open; save its pages"):
        sandboxed("a file", sandboxed_calls.computed_for_a_minute, seconds=1)
    assert sandboxed("a file", sandboxed_calls.echoed, 1, b"") == (1, b"")


def test_waiting_is_no_work():
    """A slow disk or a busy machine is no bomb."""
    assert sandboxed("a file", sandboxed_calls.waited, 1.5, seconds=0.5) == (None, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of memory")
def test_what_takes_too_much_memory_is_refused():
    assert sandboxed("a file", sandboxed_calls.allocated, 50) == (50 << 20, b"")
    with pytest.raises(DataError, match=r"^a file: takes more than 2 GB of memory to open"):
        sandboxed("a file", sandboxed_calls.allocated, 2048)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of memory")
def test_memory_that_a_process_kept_of_one_file_is_not_missing_for_the_next():
    children.end()
    assert sandboxed("a file", sandboxed_calls.kept, 1200) == (None, b"")
    assert sandboxed("another", sandboxed_calls.allocated, 1200) == (1200 << 20, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of memory")
def test_memory_is_watched_where_the_system_does_not_limit_it():
    code = """
import sys, time
from drethtr.base import sandbox
sandbox.MEMORY = 100 << 20
sys.platform = "freebsd" if sys.platform == "linux" else sys.platform
sandbox.limit_memory()
time.sleep(0.2)
print("still there", flush=True)
kept = bytes(200 << 20).replace(b"\\0", b"\\1")
time.sleep(600)
"""
    # Linux counts what the parent of a process takes when it starts, and this one takes more.
    done = run(f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {code!r}]).returncode)")
    assert done.returncode == module.OUT_OF_MEMORY and done.stdout == "still there\n"


def test_what_ends_the_process_is_refused():
    with pytest.raises(DataError, match="crashes the decoder"):
        sandboxed("a file", sandboxed_calls.aborted)
    assert sandboxed("a file", sandboxed_calls.echoed, 1, b"") == (1, b"")


def test_expected_errors_come_back():
    with pytest.raises(DataError, match=r"^letter\.jpg: is no good$"):
        sandboxed("a file", sandboxed_calls.refused, "letter.jpg")
    with pytest.raises(DataError, match=r"^is no good$"):
        sandboxed("a file", sandboxed_calls.refused, None)


def test_a_bug_is_told_with_its_place():
    with pytest.raises(DrethtrError, match=r"(?s)a file: .*please report it.*in failed.*a bug"):
        sandboxed("a file", sandboxed_calls.failed)


def test_what_is_printed_is_no_answer(capfd):
    assert sandboxed("a file", sandboxed_calls.printed) == ("an answer", b"")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("head", "content", "sent"),
    [(1 << 31, 0, b"["), (1, 1 << 60, b"["), (1, 0, b"["), (1000, 1000, b"["), (5000, 0, b"[" * 5000), (2, 0, b"[]")],
)
def test_an_answer_is_not_believed(head, content, sent):
    with pytest.raises(DataError, match="crashes the decoder"):
        sandboxed("a file", sandboxed_calls.lied, head, content, sent)


def test_a_slow_file_does_not_hold_up_others(tmp_path):
    slow = [threading.Thread(target=sandboxed, args=("slow", sandboxed_calls.held, str(tmp_path))) for _ in range(2)]
    for thread in slow:
        thread.start()
    try:
        until(lambda: len(list(tmp_path.iterdir())) == 2)
        assert sandboxed("a file", sandboxed_calls.echoed, 1, b"") == (1, b"")
        assert all(thread.is_alive() for thread in slow)
    finally:
        (tmp_path / "go on").touch()
        for thread in slow:
            thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_starts_its_own(tmp_path):
    before, _ = sandboxed("a file", sandboxed_calls.process_id)
    if (pid := os.fork()) == 0:
        after, _ = sandboxed("a file", sandboxed_calls.process_id)
        (tmp_path / "after").write_text(str(after))
        module.children.end()
        os._exit(0)
    os.waitpid(pid, 0)
    assert int((tmp_path / "after").read_text()) != before == sandboxed("a file", sandboxed_calls.process_id)[0]


@pytest.mark.skipif(sys.platform == "win32", reason="its executables are no scripts")
def test_children_of_a_frozen_program_do_not_run_it_again(tmp_path):
    """PyInstaller sets `sys.frozen`, and `sys.executable` is the program."""
    program, runs = tmp_path / "program", tmp_path / "runs"
    program.write_text(f"""#!{sys.executable}
import sys
sys.frozen, sys.executable, sys.path[:] = True, __file__, {sys.path!r}
import drethtr
with open({str(runs)!r}, "a") as file:
    file.write("run\\n")
import sandboxed_calls
from drethtr.base.sandbox import prepare, sandboxed
prepare("sandboxed_calls")
print(sandboxed("a file", sandboxed_calls.echoed, 1, b"")[0])
""")
    program.chmod(0o755)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n" and runs.read_text() == "run\n"


@pytest.mark.skipif(sys.platform == "win32", reason="processes are counted otherwise")
@pytest.mark.parametrize("nothing", ["", None])
def test_a_program_without_a_python_is_told_what_to_set(nothing, monkeypatch):
    """Python says so when it is embedded in another program."""
    monkeypatch.setattr(sys, "executable", nothing)
    with pytest.raises(DrethtrError, match=r"this program has no Python of its own; let it set sys\.executable"):
        module.Child()


@pytest.mark.skipif(sys.platform == "win32", reason="has other programs")
@pytest.mark.parametrize(("program", "code"), [("/bin/false", "1"), ("/bin/echo", "0")])
def test_a_program_that_is_no_python_is_no_fault_of_a_file(program, code, monkeypatch):
    """Such as a server that embeds Python, and puts its own name there."""
    children.end()
    monkeypatch.setattr(sys, "executable", program)
    with pytest.raises(DrethtrError) as raised:
        sandboxed("a file", sandboxed_calls.echoed, 1, b"")
    monkeypatch.undo()
    assert not isinstance(raised.value, DataError) and f"{program} ended with exit code {code}; " in str(raised.value)
    assert sandboxed("a file", sandboxed_calls.echoed, 1, b"") == (1, b"")


def test_a_program_may_have_put_a_path_among_its_places_of_modules(monkeypatch, tmp_path):
    children.end()
    monkeypatch.setattr(sys, "path", [tmp_path, *sys.path])
    assert sandboxed("a file", sandboxed_calls.echoed, 1, b"") == (1, b"")


def test_no_process_is_left_behind():
    code = """
import os, sys, sandboxed_calls
from drethtr.base.sandbox import children, prepare, sandboxed
sys.stdout.write(str(sandboxed("", sandboxed_calls.process_id)[0]))
sys.stdout.flush()
"""
    for end in ("", "os.kill(os.getpid(), 9)"):
        child = int(run(code + end).stdout)
        for _ in range(600):
            if not alive(child):
                break
            time.sleep(0.1)
        assert not alive(child)


def run(code):
    """Run a program that finds the modules of these tests."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


def alive(process):
    """Whether a process runs, and is not only waiting for its parent to notice its end."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True)
    return done.stdout.strip()[:1] not in ("", "Z")


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="the system has no /dev/stdin")
@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/{process}/fd/0", "/dev/./stdin"])
@pytest.mark.parametrize("kind", [str, Path])
def test_a_stream_of_this_process_is_refused_at_once(name, kind):
    name = name.format(process=os.getpid())
    with pytest.raises(DataError, match="is a stream of one process, not a file; save it to a file first"):
        sandboxed(name, sandboxed_calls.echoed, kind(name), b"")
