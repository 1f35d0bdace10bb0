"""What is shared comes back as it was, from a folder, a file or the hub."""

from dataclasses import replace

import pytest
from huggingface_hub import constants
from sharing_examples import complete

from drethtr import from_pretrained, push_to_hub, save_pretrained
from drethtr.base.errors import CheckpointError, DataError
from drethtr.recognition.decoding.strategies import Greedy
from drethtr.recognition.model.file import load_model, save_model
from drethtr.recognition.model.weights import dequantize, quantize
from drethtr.sharing.folder import MODEL, README, locate

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_folder_gives_the_model_back(tiny_model, tmp_path):
    save_pretrained(complete(tiny_model), tmp_path / "shared")
    assert sorted(path.name for path in (tmp_path / "shared").iterdir()) == [README, MODEL]
    loaded = from_pretrained(tmp_path / "shared", decoder=Greedy())
    assert (loaded.model.hash, loaded.strategy) == (complete(tiny_model).hash, Greedy())
    assert loaded.model.card == complete(tiny_model).card
    assert complete(tiny_model).hash in (tmp_path / "shared" / README).read_text(encoding="utf-8")


def test_weights_are_stored_small_where_that_loses_nothing(tiny_model, tmp_path):
    save_pretrained(tiny_model, tmp_path / "whole")
    model = replace(tiny_model, weights=dequantize(quantize(tiny_model.weights)))
    save_pretrained(model, tmp_path / "small")
    sizes = [(tmp_path / name / MODEL).stat().st_size for name in ("whole", "small")]
    assert sizes[1] < 0.7 * sizes[0]
    assert load_model(tmp_path / "small" / MODEL).hash == model.hash


@pytest.mark.parametrize("text", ["# Letters\n", "---\nlicense: mit\n---\nlibrary_name: drethtr\n", "---\n\xe9"])
def test_a_readme_of_something_else_stays(text, tiny_model, tmp_path):
    (tmp_path / README).write_text(text, encoding="latin-1")
    with pytest.raises(DataError, match=r"README\.md: not a README written by drethtr"):
        save_pretrained(tiny_model, tmp_path)
    assert [(path.name, path.read_text(encoding="latin-1")) for path in tmp_path.iterdir()] == [(README, text)]


def test_weights_of_something_else_stay(tiny_model, tmp_path):
    (tmp_path / MODEL).write_bytes(b"of another project")
    with pytest.raises(DataError, match=r"model\.safetensors: has no README\.md by drethtr beside it"):
        save_pretrained(tiny_model, tmp_path)
    assert (tmp_path / MODEL).read_bytes() == b"of another project"


def test_a_folder_that_cannot_be_written_is_named(tiny_model, tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(CheckpointError, match=r"taken.model\.safetensors: cannot be written"):
        save_pretrained(tiny_model, tmp_path / "taken")
    (tmp_path / README).mkdir()
    with pytest.raises(DataError, match=r"README\.md: cannot be read or written"):
        save_pretrained(tiny_model, tmp_path)


def test_a_readme_of_a_model_is_replaced(tiny_model, tmp_path):
    for repository in ("ada/one", "ada/two"):
        save_pretrained(complete(tiny_model), tmp_path, repository)
    assert "ada/two" in (tmp_path / README).read_text(encoding="utf-8")


def test_a_file_or_the_only_one_in_a_folder_is_the_model(tiny_path, tmp_path):
    assert locate(tiny_path) == locate(str(tiny_path)) == locate(tmp_path) == tiny_path


def test_of_several_files_the_one_of_the_usual_name_is_the_model(tiny_model, tiny_path, tmp_path):
    save_model(tiny_model, tmp_path / "other.safetensors")
    with pytest.raises(CheckpointError, match=r"other\.safetensors, tiny\.safetensors but no model\.safetensors"):
        locate(tmp_path)
    save_model(tiny_model, tmp_path / MODEL)
    assert locate(tmp_path) == tmp_path / MODEL


def test_an_empty_folder_and_a_name_of_nothing_are_named(tmp_path):
    with pytest.raises(CheckpointError, match="no safetensors file"):
        locate(tmp_path)
    with pytest.raises(CheckpointError, match="nowhere: no such file or folder"):
        locate("nowhere")
    with pytest.raises(CheckpointError, match="aaa: no such file or folder"):
        locate("a" * 300)
    with pytest.raises(CheckpointError, match="no such file"):
        locate("https://host/owner/name")


def test_a_revision_of_what_is_here_is_refused(tiny_path):
    with pytest.raises(CheckpointError, match="only repositories on the Hub have revisions"):
        locate(tiny_path, "main")


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """What the hub's own library keeps of repositories that were fetched; no network."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def test_a_repository_that_was_fetched_is_read(hub, tiny_model):
    repository = hub / "models--ada--letters"
    save_pretrained(tiny_model, repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    assert from_pretrained("ada/letters").model.hash == tiny_model.hash
    assert from_pretrained("ada/letters", revision=COMMIT).model.hash == tiny_model.hash


def test_a_repository_that_cannot_be_had_is_named(hub):
    with pytest.raises(CheckpointError, match="ada/nothing: not a local file or folder, nor available from the Hub"):
        from_pretrained("ada/nothing")


def test_a_connection_that_breaks_is_named(hub, monkeypatch):
    """Its errors are those of an HTTP client, which derive from no error of Python's."""

    class TimedOut(Exception):
        pass

    def fails(*arguments, **options):
        raise TimedOut("the read\noperation timed out")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", fails)
    with pytest.raises(CheckpointError, match="nor available from the Hub: the read operation timed out"):
        from_pretrained("ada/letters")


def test_a_hub_that_does_not_answer_is_named(hub, tiny_model):
    with pytest.raises(CheckpointError, match="ada/letters: the Hub rejected the upload"):
        push_to_hub(tiny_model, "ada/letters")
