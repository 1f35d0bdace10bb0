import pickle

import pytest

from drethtr.base.errors import CheckpointError, DataError, MissingExtraError, or_error


def test_an_error_names_its_source():
    assert str(DataError("no such file", "a.png")) == "a.png: no such file"
    assert str(DataError("nothing to read")) == "nothing to read"


def test_an_error_is_put_down_to_another_source():
    """Its first source stays part of what is said, unless it is the same one."""
    error = DataError("no such file", "a.png")
    assert str(error.of("a.png")) == "a.png: no such file"
    assert str(error.of("row 3")) == "row 3: a.png: no such file"
    assert str(CheckpointError("is damaged").of("model")) == "model: is damaged"
    assert str(MissingExtraError("torch", "train").of("model")) == str(MissingExtraError("torch", "train"))


def test_an_error_tells_no_password():
    """Neither that of its source nor one in the words of another program."""
    address = "https://me:secret@host/a.parquet"
    error = DataError(f"GET {address}?X-Amz-Signature=secret refused", address)
    assert "secret" not in repr(error) and str(error.of(address)) == str(error)


@pytest.mark.parametrize("error", [DataError("is damaged", "a.png"), MissingExtraError("pyarrow", "batch")])
def test_errors_travel_between_processes(error):
    other = pickle.loads(pickle.dumps(error))
    assert type(other) is type(error) and str(other) == str(error)


def test_only_what_a_file_is_to_blame_for_is_returned():
    def opened(error):
        if error is not None:
            raise error
        return "content"

    damaged = DataError("is damaged", "a.png")
    assert or_error(opened, None) == "content"
    assert or_error(opened, error=damaged) is damaged
    with pytest.raises(CheckpointError):
        or_error(opened, CheckpointError("is damaged"))
