"""Options from files and from the environment."""

import os
import subprocess
import sys

import pytest

from drethtr.cli.settings import FILE


@pytest.fixture(autouse=True)
def at_home(monkeypatch, tmp_path):
    """A current folder and a home without settings."""
    (tmp_path / "home" / "user").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    monkeypatch.setattr("typer.get_app_dir", lambda name: str(tmp_path / "home" / name))
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "user"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


@pytest.fixture
def of_user(at_home):
    path = at_home / "home" / "drethtr" / FILE
    path.parent.mkdir()
    return path


@pytest.fixture
def own(at_home):
    return at_home / "here" / FILE


@pytest.fixture
def form(drethtr, lines, tiny_path):
    """The format in which a line is read: `txt` has no tabs, `tsv` has a header, `json` is an object."""

    def found(*arguments):
        outcome = drethtr("transcribe", lines / "one.png", "--model", tiny_path, *arguments)
        assert outcome.code == 0, outcome.err
        if outcome.out.startswith("{"):
            return "json"
        return "tsv" if "\t" in outcome.out else "txt"

    return found


def test_what_counts_more(form, of_user, own, monkeypatch):
    assert form() == "txt"
    of_user.write_text('format = "json"')
    assert form() == "json"
    own.write_text('[transcribe]\nformat = "tsv"')
    assert form() == "tsv"
    own.write_text('format = "txt"\n[transcribe]\nformat = "tsv"')
    assert form() == "tsv"
    monkeypatch.setenv("DRETHTR_FORMAT", "json")
    assert form() == "json"
    monkeypatch.setenv("DRETHTR_TRANSCRIBE_FORMAT", "txt")
    assert form() == "txt" and form("--format", "tsv") == "tsv"


def test_settings_of_every_kind(drethtr, lines, tiny_path, own, at_home):
    model = at_home / "home" / "user" / "own.safetensors"
    model.write_bytes(tiny_path.read_bytes())
    own.write_text('[transcribe]\nmodel = "~/own.safetensors"\nverbose = true\ndoubts = 1.0\nthreads = 1\n')
    outcome = drethtr("transcribe", lines / "one.png")
    assert outcome.code == 0 and "read as one line" in outcome.err and "?]" in outcome.out


def test_lists_and_commands_of_groups(drethtr, lines, own):
    own.write_text('[finetune]\nold-data = ["a", "b"]\n[data.import]\nlayout = "jam"\n')
    assert "unknown layout 'jam'" in drethtr("data", "import", ".", "out.parquet").err
    for setting, message in (
        ('["a", "b"]', "a: matches no file or folder"),
        ('"b"', "b: matches no file or folder"),
        ("[true]", "old-data: expected a list, got [True]"),
    ):
        own.write_text(f"[finetune]\nold_data = {setting}\n")
        for words in (("model", "finetune"), ("finetune",)):
            assert message in drethtr(*words, lines, "--output", "out.safetensors").err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("thread = 2", "drethtr.toml: unknown setting 'thread'; did you mean 'threads'?"),
        (
            "[transcribe]\nformats = 'txt'",
            "drethtr.toml: transcribe: unknown setting 'formats'; did you mean 'format'?",
        ),
        ("[transscribe]\nformat = 'txt'", "there is no command 'transscribe'; did you mean 'transcribe'?"),
        ("[model.finetune]\nseed = 3", "drethtr.toml: no command reads [model]; such settings belong in [finetune]"),
        ("[model.info]\n[model.train]", "such settings belong in [info], [train]"),
        ("[model]\nthreads = 3", "such settings belong in [info], [finetune], [train], "),
        ("[synth]\nseed = 3", "drethtr.toml: no command reads [synth]; such settings belong in [data.synth]"),
        ("[transcribe]\nthreads = 'two'", "drethtr.toml: threads: 'two' is not a valid int"),
        ("[transcribe]\nverbose = inf", "verbose: 'inf' is not a valid bool"),
        ("[transcribe]\nthreads = inf", "threads: 'inf' is not a valid int"),
        (f"[transcribe]\nthreads = 0x{'f' * 5000}", "threads: Exceeds the limit"),
        ("[transcribe]\ndoubts = true", "doubts: expected one value"),
        ("[transcribe]\nformat = ['txt']", "format: expected one value"),
        ("[transcribe]\nforce = true", "'force' cannot be set in a file; give --force on the command line"),
        ("[edit]\nallow_host = ['a.example']", "'allow_host' cannot be set in a file"),
        ("[edit]\nhost = '0.0.0.0'", "'host' cannot be set in a file"),
        ("[edit]\nno-token = true", "'no-token' cannot be set in a file"),
        ("[index]\nto = 'postgresql://evil.example/x'", "'to' names an address, which a file that comes"),
        ("[transcribe]\noutput = '\\\\evil.example\\share'", "'output' names an address"),
        ("[transcribe]\noutput = '//evil.example/share/x'", "'output' names an address"),
        ("[finetune]\nold-data = ['a', 'hf://datasets/evil']", "'old-data' names an address"),
        ("threads = ", "drethtr.toml: not valid TOML"),
    ],
)
def test_settings_that_make_no_sense(drethtr, lines, own, text, message):
    own.write_text(text)
    outcome = drethtr("transcribe", lines / "one.png")
    assert outcome.code == 2 and message in outcome.err and outcome.err.count("\n") == 1


def test_a_setting_for_other_commands_imports_no_more_than_one_of_them(own):
    """Every start of `drethtr search` imported all of them, to see whether one has this option."""
    own.write_text('model = "mine.safetensors"')
    code = "import sys; from drethtr.cli.main import main\ntry: main()\nfinally: print(*sys.modules)"
    command = [sys.executable, "-c", code, "search", "none.sqlite", "word"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "none.sqlite: no such index" in done.stderr
    assert "drethtr.cli.transcribe" in done.stdout and "drethtr.cli.serve" not in done.stdout


def test_variables_of_kubernetes_are_not_ours(drethtr, lines, tiny_path, monkeypatch):
    for name, value in {
        "SERVICE_HOST": "10.96.12.3",
        "SERVICE_PORT": "8000",
        "SERVICE_PORT_HTTP": "8000",
        "PORT": "tcp://10.96.12.3:8000",
        "PORT_8000_TCP_ADDR": "10.96.12.3",
    }.items():
        monkeypatch.setenv(f"DRETHTR_{name}", value)
    assert drethtr("transcribe", lines / "one.png", "--model", tiny_path).code == 0
    assert drethtr("serve", "--host", "192.0.2.1").err.startswith("drethtr: cannot listen on --host 192.0.2.1")
    monkeypatch.setenv("DRETHTR_SERVE_PORT", "many")
    outcome = drethtr("serve")
    assert outcome.code == 2 and "'--port': 'many'" in outcome.err


def test_a_flag_in_the_environment(drethtr, lines, tiny_path, monkeypatch):
    monkeypatch.setenv("DRETHTR_TRANSCRIBE_VERBOSE", "1")
    monkeypatch.setenv("DRETHTR_TRANSCRIBE_FORCE", "1")
    outcome = drethtr("transcribe", lines / "one.png", "--model", tiny_path)
    assert outcome.code == 0 and "read as one line" in outcome.err


def test_a_list_in_the_environment_is_parted_by_spaces(drethtr, monkeypatch, tmp_path):
    monkeypatch.setenv("DRETHTR_TRAIN_SET", "samples=1 nothing=2")
    (tmp_path / "run.toml").write_text("")
    outcome = drethtr("model", "train", tmp_path / "run.toml", "--output", tmp_path / "out")
    assert outcome.code == 2 and "nothing" in outcome.err


@pytest.mark.parametrize(("shell", "words"), [("bash", "complete -o default"), ("zsh", "#compdef drethtr")])
def test_completion_is_offered(drethtr, monkeypatch, shell, words):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    outcome = drethtr("--show-completion", shell)
    assert outcome.code == 0 and words in outcome.out


@pytest.mark.skipif(sys.platform == "win32", reason="bash is installed in a home of another kind")
def test_completion_that_cannot_be_installed_names_the_place(tmp_path):
    """With a home that is no folder, as service users have."""
    home = tmp_path / "none"
    home.touch()
    command = [sys.executable, "-m", "drethtr", "--install-completion", "bash"]
    here = {**os.environ, "HOME": str(home), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    ended = subprocess.run(command, env=here, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and ended.stderr == f"drethtr: {home}: File exists\n"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("transc", ["transcribe"]),
        ("transcribe --dou", ["--doubts"]),
        ("transcribe --decoder c", ["ctc", "careful"]),
        ("transcribe --precision ", ["float32", "int8", "bfloat16"]),
        ("transcribe --format txt,al", ["txt,alto"]),
        ("segment --format ", ["page", "alto", "json"]),
        ("segment --lines r", ["rapid"]),
    ],
)
def test_completion_completes(drethtr, monkeypatch, typed, offered):
    """As bash asks for it."""
    words = f"drethtr {typed}"
    monkeypatch.setenv("_DRETHTR_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert drethtr().out.split() == offered


def test_a_shortcut_has_the_settings_of_its_command(drethtr, own, monkeypatch):
    own.write_text("[data.synth]\ncount = 'many'\n")
    for words in (("data", "synth"), ("synth",)):
        assert "drethtr.toml: count: 'many' is not a valid int" in drethtr(*words).err
    own.unlink()
    monkeypatch.setenv("DRETHTR_DATA_SYNTH_COUNT", "many")
    for words in (("data", "synth"), ("synth",)):
        assert "'many'" in drethtr(*words, "out.parquet", "--fonts", "fonts", "--text", "a.txt").err


def test_a_variable_lists_texts_by_spaces_and_paths_as_the_system_does(drethtr, lines, tiny_path, monkeypatch):
    monkeypatch.setenv("DRETHTR_LANGUAGE_TEXT", f"{lines / 'one.gt.txt'}{os.pathsep}no one.txt")
    outcome = drethtr("language", tiny_path, lines, "--force")
    assert outcome.err == "drethtr: cannot read the text file no one.txt: No such file or directory\n"
    monkeypatch.delenv("DRETHTR_LANGUAGE_TEXT")
    monkeypatch.setenv("DRETHTR_CALIBRATE_DECODER", "ctc nonsense")
    assert "unknown decoder 'nonsense'" in drethtr("calibrate", tiny_path, lines, "--force").err
