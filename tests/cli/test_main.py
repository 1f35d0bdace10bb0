import os
import re
import subprocess
import sys
from errno import ENAMETOOLONG
from io import BytesIO
from runpy import run_module
from types import SimpleNamespace

import pytest
import typer

from drethtr import __version__
from drethtr.cli.commands import walk
from drethtr.cli.main import app, main
from drethtr.cli.screen import Screen

PROGRAM = typer.main.get_command(app)


def test_help_names_every_command(drethtr):
    outcome = drethtr("--help")
    assert outcome.code == 0
    names = {words[0] for words, _ in walk(PROGRAM)}
    assert {"transcribe", "model", "data"} <= names and all(f" {name} " in outcome.out for name in names)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["model", "--help"], ["data", "--help"], ["--version"]], ids=" ".join
)
def test_help_comes_at_once(arguments):
    """It imports no command and nothing heavy."""
    code = (
        "import sys; sys.argv = ['drethtr', *sys.argv[1:]]\n"
        "from drethtr.cli.main import COMMANDS, DATA, MODEL, main\n"
        "tables = [*COMMANDS.values(), MODEL, DATA]\n"
        "commands = {'drethtr.cli.' + source.partition(':')[0] for table in tables for source, _ in table.values()}\n"
        "try: main()\n"
        "finally: print((commands | {'torch', 'numpy', 'PIL'}) & sys.modules.keys(), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "set()"


def test_a_command_of_a_group_runs_without_the_name_of_the_group(drethtr):
    assert drethtr("info") == drethtr("model", "info")
    assert "synth" not in drethtr("--help").out and drethtr("synth", "--help").code == 0


def test_the_command_line_as_a_module(monkeypatch, capsys):
    """As torchrun starts it."""
    monkeypatch.setattr(sys, "argv", ["drethtr", "--version"])
    with pytest.raises(SystemExit):
        run_module("drethtr", run_name="__main__")
    assert capsys.readouterr().out.strip() == __version__


def test_patterns_are_left_to_the_commands(monkeypatch, capsys, tmp_path):
    """On Windows too, where quotes do not protect a query or the pattern of an option."""
    (tmp_path / "harbour.jpg").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("typer.core.os", SimpleNamespace(**vars(os) | {"name": "nt"}))
    monkeypatch.setattr(sys, "argv", ["drethtr", "har*"])
    with pytest.raises(SystemExit):
        main()
    assert "'har*'" in capsys.readouterr().err


def test_help_of_no_command_loads_torch():
    """It takes seconds, and the base install has none."""
    code = (
        "import sys, typer; sys.modules['torch'] = None\n"
        "from drethtr.cli.commands import walk; from drethtr.cli.main import app\n"
        "print(len(list(walk(typer.main.get_command(app)))))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) > 25


@pytest.mark.parametrize("decoder", ["bean", "beam:", "beam:many", "beam:0", "joint:3", "CTC"])
def test_decoder_that_is_not_understood(drethtr, lines, decoder):
    outcome = drethtr("transcribe", lines, "--decoder", decoder)
    assert outcome.code == 2 and outcome.err.count("\n") == 1
    assert outcome.err.startswith("drethtr: ") and "beam" in outcome.err


def test_suggests_the_decoder_that_was_meant(drethtr, lines):
    assert "did you mean 'greedy'?" in drethtr("transcribe", lines, "--decoder", "gredy").err


@pytest.mark.parametrize("device", ["gpu", "cuda:77", "meta:x"])
def test_device_that_is_not_there(drethtr, lines, device):
    outcome = drethtr("transcribe", lines, "--device", device)
    assert outcome.code == 2 and outcome.err.count("\n") == 1 and repr(device) in outcome.err


@pytest.mark.parametrize("arguments", [["info"], ["reproduce"]], ids=" ".join)
def test_files_and_pipes_have_every_character(arguments):
    """Where the system would write something poorer, as Windows does."""
    environment = os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    run = subprocess.run([sys.executable, "-m", "drethtr", *arguments], capture_output=True, env=environment)
    assert run.returncode == 0, run.stderr.decode()
    assert not run.stdout.isascii() and "\ufffd" not in run.stdout.decode("utf-8")


ODD = "a\rb\x1b]0;title\x07\x9b2J\x1b[A\x1b[32mc.png"


@pytest.mark.skipif(sys.platform == "win32", reason="it has no pseudo-terminals")
@pytest.mark.parametrize("arguments", [["transcribe", "."], ["info", ODD]], ids=lambda words: words[0])
def test_a_terminal_obeys_no_name_of_a_file(tmp_path, arguments):
    """None rewrites a line or the one above."""
    for name in (ODD, "d\re.png"):
        (tmp_path / name).write_bytes(b"no image")
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "drethtr", *arguments]
    subprocess.run(command, stdout=theirs, stderr=theirs, check=False, cwd=tmp_path)
    os.close(theirs)
    said = os.read(ours, 10_000).decode()
    assert r"a\x0db\x1b]0;title\x07\x9b2J\x1b[A\x1b[32mc.png" in said and not set(said) & set("\x1b\x07\x9b")
    assert "a\rb" not in said and "d\re" not in said


def test_on_windows_too_everything_is_written_through_the_screen(monkeypatch):
    """There, click writes to consoles itself, as UTF-16 that has no halves of characters."""
    with monkeypatch.context() as patched:
        patched.setattr("typer.echo", lambda *words, **options: pytest.fail(f"{words}"))
        patched.setattr(sys, "stdout", Screen(BytesIO(), "utf-8", "replace"))
        patched.setattr(sys, "argv", ["drethtr", "info"])
        with pytest.raises(SystemExit):
            main()
        written = sys.stdout.buffer.getvalue()
    assert b"drethtr" in written


def test_a_terminal_has_colors_and_progress_bars():
    written = BytesIO()
    screen = Screen(written, "utf-8", line_buffering=True)
    screen.write("\x1b[1;32mHelp\x1b[0m\tä\n\r50%\x1b[A\x1b]52;c;bHM=\x07\x1b[31;2J\n")
    assert written.getvalue().decode() == "\x1b[1;32mHelp\x1b[0m\tä\n\r50%\x1b[A\\x1b]52;c;bHM=\\x07\\x1b[31;2J\n"


def test_a_file_that_is_only_named_pdf(drethtr, tmp_path):
    (tmp_path / "fake.PDF").write_text("Dear Sir,")
    outcome = drethtr("transcribe", tmp_path / "fake.PDF")
    problem = "named .pdf, but not a PDF; if it is an image, name it .jpg, .png or .tif"
    assert outcome.code == 2 and outcome.err == f"drethtr: {tmp_path / 'fake.PDF'}: {problem}\n"


def test_a_bug_keeps_its_traceback(drethtr, lines, monkeypatch):
    """Only expected errors may be shortened to a line."""
    monkeypatch.setattr("drethtr.pages.selection.find_inputs", lambda *arguments, **more: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        drethtr("transcribe", lines)


def test_what_a_person_gives_is_named_in_capitals():
    values = {
        f"{' '.join(words)} {parameter.name}": parameter.metavar
        for words, command in walk(PROGRAM)
        for parameter in command.params
        if not getattr(parameter, "is_flag", False)
    }
    assert len(values) > 100
    assert not {place: name for place, name in values.items() if name is None or not re.fullmatch("[A-Z,= ]+", name)}


def test_short_options_are_those_of_other_programs(drethtr):
    assert drethtr("transcribe", "-h").code == 0
    short = {"--format": "-f", "--output": "-o", "--recursive": "-r", "--threads": "-j", "--verbose": "-v"}
    options = [set(option.opts) for _, command in walk(PROGRAM) for option in command.params]
    found = [names for names in options if names & short.keys()]
    assert len(found) > 30 and all(names in [{long, one} for long, one in short.items()] for names in found)


SPAWNING = """
import sys
from multiprocessing import get_context
from drethtr.cli.main import main
if __name__ == "__main__":
    sys.argv = ["drethtr", "--version"]
    try:
        main()
    except SystemExit:
        worker = get_context("spawn").Process(target=print)
        worker.start()
        worker.join()
"""


def test_no_worker_runs_what_lies_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)  # of a command that ran in this process
    received, program = tmp_path / "received", tmp_path / "program"
    for folder in (received, program):
        folder.mkdir()
    (program / "drethtr").write_text(SPAWNING)
    (received / "multiprocessing.py").write_text("open('run', 'w')")
    subprocess.run([sys.executable, program / "drethtr"], cwd=received, check=True)
    assert [path.name for path in received.iterdir()] == ["multiprocessing.py"]


def test_a_name_that_is_too_long_for_a_result_is_said(drethtr, lines, tiny_path):
    outcome = drethtr("evaluate", lines, "--model", tiny_path, "--json", lines / f"{'a' * 300}.json")
    assert outcome.code == 2 and outcome.err.endswith(f": {os.strerror(ENAMETOOLONG)}\n"), outcome.err


@pytest.mark.parametrize("words", [("calibrate", "gone.safetensors", "gone"), ("evaluate", "gone"), ("info",)])
def test_every_command_says_that_it_was_stopped(drethtr, monkeypatch, words):
    def interrupted(*given, **more):
        raise KeyboardInterrupt

    for name in ("model.calibrate.refuse_results", "evaluate.refuse_results", "model.info.load_named"):
        monkeypatch.setattr(f"drethtr.cli.{name}", interrupted)
    outcome = drethtr(*words)
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "stopped\n")
