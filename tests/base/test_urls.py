"""Files by path and by URL; memory:// is a file system of fsspec that lives in this process."""

import sys
from functools import partial
from pathlib import Path
from typing import ClassVar
from zipfile import ZipFile

import fsspec
import pyarrow
import pytest
from bulk_runs import Here, line, table, write_shard
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
from fsspec.registry import _registry

from drethtr import Recognizer
from drethtr.base.errors import DataError
from drethtr.base.urls import as_address, beside, find_files, identity, is_address, local_path
from drethtr.bulk.inputs import Columns, files_of
from drethtr.bulk.job import open_job
from drethtr.bulk.output import Output, columns
from drethtr.datasets import parquet
from drethtr.datasets.open import all_matching, open_all, open_samples


def test_an_address_of_this_machine_is_a_path(monkeypatch):
    assert local_path("file:///a%20b/c") == Path("/a%20b/c")  # as fsspec opens it
    assert local_path("file:///C:/a") == Path("/C:/a") and local_path("s3://a/b") is None
    monkeypatch.setattr("sys.platform", "win32")
    assert local_path("file:///C:/a") == Path("C:/a")


@pytest.fixture
def memory():
    """An empty file system at memory://."""
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


@pytest.fixture
def stored(memory, tmp_path):
    """Put a Parquet file of three lines at a URL; the last one names an image beside it."""

    def store(url):
        cells = {2: {"bytes": None, "path": "images/2.png"}}
        path = write_shard(tmp_path / "a.parquet", range(3), cells, text=["a", "b", "c"])
        memory.pipe(url, (tmp_path / "a.parquet").read_bytes())
        memory.pipe(beside(url, "images/2.png"), line(2))
        return path

    return store


@pytest.mark.parametrize("asked", ["1.png", "*.png", "", "b.zip"])
def test_a_file_in_an_archive_is_named_with_the_archive(tmp_path, asked):
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("1.png", line(0))
        archive.writestr("b.zip", b"no archive")
    found = find_files(f"zip://{asked}::{tmp_path / 'a.zip'}")
    wanted = [asked] if asked in ("1.png", "b.zip") else ["1.png"] if asked else ["1.png", "b.zip"]
    assert found == [f"zip://{name}::{tmp_path / 'a.zip'}" for name in wanted]


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_not_the_current_folder(name):
    with pytest.raises(DataError, match=r"the name of an input is empty; give a file, or \. for this folder"):
        find_files(name)


@pytest.mark.parametrize("content", [None, b"no archive"])
def test_an_archive_that_cannot_be_opened_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(DataError, match=r"zip://\*\.png::.*a\.zip: cannot be opened: "):
        find_files(f"zip://*.png::{tmp_path / 'a.zip'}")


def test_samples_from_a_url(stored):
    stored("memory://lines/train.parquet")
    samples = open_samples("memory://lines/train.parquet")
    assert [(sample.text, sample.image) for sample in samples] == [("a", line(0)), ("b", line(1)), ("c", line(2))]
    assert samples[0].set == "lines" and samples[0].key == "memory://lines/train.parquet row 0"
    assert len(open_all(["memory://lines/*.parquet#train"])) == len(samples)
    [*found] = open_all(["memory://lines/*.parquet"])
    assert [sample.image for sample in found] == [sample.image for sample in samples]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nowhere://a.parquet", "nowhere://a.parquet: Protocol not known: nowhere"),
        ("oci://a/b.parquet", "oci://a/b.parquet: the package for this kind of URL is not installed: Install ocifs"),
        ("memory://gone/*.parquet", r"memory://gone/\*.parquet: matches no file"),
        ("memory://lines/a.tsv", "only .parquet can be read from a URL; download other files first"),
        ("memory://gone/gone.parquet", "gone.parquet: no such file"),
    ],
)
def test_urls_that_cannot_be_used(memory, url, message):
    memory.pipe("memory://lines/a.tsv", b"")
    with pytest.raises(DataError, match=message):
        open_all([url])


def test_an_image_that_is_not_beside_its_table(stored, memory):
    stored("memory://lines/train.parquet")
    memory.rm_file("/lines/images/2.png")
    with pytest.raises(DataError, match=r"train.parquet row 2: image memory://lines/images/2.png does not exist"):
        open_samples("memory://lines/train.parquet")


def test_files_keep_the_form_of_the_name(memory, tmp_path, monkeypatch):
    for name in ("b/2.png", "a.png", ".hidden/3.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
        memory.pipe(f"/scans/{name}", b"")
    monkeypatch.chdir(tmp_path)
    if sys.platform != "win32":  # links need privileges there
        for name in ("b/gone.png", ".#lock"):
            (tmp_path / name).symlink_to("nowhere")
        assert find_files(".") == ["a.png", "b/2.png", "b/gone.png"], "named when it is read, not passed over"
        assert find_files("*/g*") == ["b/gone.png"]
        (tmp_path / "b" / "gone.png").unlink()
    assert find_files(".") == ["a.png", "b/2.png"] and find_files("b") == ["b/2.png"]
    assert find_files("*.png") == find_files("a.png") == ["a.png"]
    assert find_files("memory://scans/b") == ["memory:///scans/b/2.png"]
    assert find_files("memory://scans") == ["memory:///scans/a.png", "memory:///scans/b/2.png"]
    for hidden in ("memory://scans/.hidden", "memory://scans/.hidden/*"):
        assert find_files(hidden) == ["memory:///scans/.hidden/3.png"]
    assert find_files("memory://scans/**") == ["memory:///scans/a.png", "memory:///scans/b/2.png"]
    assert find_files("memory://scans/*.png") == ["memory:///scans/a.png"]
    memory.pipe("/sets/a[1].png", b"")
    assert find_files("memory://sets/a[1].png") == find_files("memory://sets/*") == ["memory:///sets/a[1].png"]
    assert find_files((tmp_path / "b").as_uri()) == [(tmp_path / "b" / "2.png").as_uri()]


class AnswerError(Exception):
    """A web server's answer that is no page, as aiohttp has it: no `OSError`."""

    def __init__(self, status):
        super().__init__(f"{status}, message='as it is today'")
        self.status = status


class CutOff(MemoryFile):
    """A page that ends early."""

    def read(self, size=-1):
        raise AnswerError(200)


class Web(MemoryFileSystem):
    """Pages at http://STATUS/..., whose errors are those of fsspec: every page that fails is said to be missing.

    Tables in `tables` can be fetched.
    """

    protocol = ("http",)
    cachable = False
    tables: ClassVar[dict[str, bytes]] = {}

    @classmethod
    def _strip_protocol(cls, path):
        return path

    def _open(self, path, *arguments, **options):
        if path in self.tables:
            return MemoryFile(self, path, self.tables[path])
        status = int(path.split("/")[2])
        if status == 200:
            return CutOff(self, path, b"")
        try:
            raise AnswerError(status) if status else ConnectionRefusedError("nobody listens")
        except Exception as error:
            raise FileNotFoundError(path) from error

    def find(self, path, **options):
        if path in self.tables:
            return [path]
        raise AnswerError(int(path.split("/")[2]))


@pytest.fixture
def web(monkeypatch):
    monkeypatch.setitem(_registry, "http", Web)
    monkeypatch.setattr(Web, "tables", {})


def table_at(status, tmp_path, *numbers):
    """The URL of a table whose row 1 names an image beside it."""
    cells = {1: {"bytes": None, "path": "1.png"}}
    path = write_shard(tmp_path / "a.parquet", numbers, cells, text=[str(number) for number in numbers])
    url = f"http://{status}/a.parquet"
    Web.tables[url] = Path(path).read_bytes()
    return url


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize("status", [0, 200, 403, 429, 503])
def test_an_image_that_cannot_be_fetched_now_is_waited_for(tiny_path, tmp_path, status):
    """Written down as missing, the row would be bad for good."""
    load, out = partial(Recognizer.load, tiny_path), tmp_path / "out"
    path = table_at(status, tmp_path, 0, 1)
    [outcome] = open_job([path], str(out), load(), Columns()).run(Here(), load)
    assert f"a.parquet row 1: image http://{status}/1.png cannot be read now: " in outcome.failure
    assert "cannot be read as Parquet" not in outcome.failure
    assert [file.name for file in out.iterdir()] == ["_job.json"]
    with pytest.raises(DataError, match=f"row 1: image http://{status}/1.png cannot be read now"):
        open_samples(path)


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize("status", [404, 410])
def test_an_image_that_is_gone_from_the_web_is_a_bad_row(tiny_path, tmp_path, status):
    load = partial(Recognizer.load, tiny_path)
    path = table_at(status, tmp_path, 1)
    [outcome] = open_job([path], str(tmp_path / "out"), load(), Columns()).run(Here(), load)
    assert (outcome.rows, outcome.bad) == (1, 1)
    assert f"image http://{status}/1.png does not exist" in table(tmp_path / "out")[0]["error"]


@pytest.mark.usefixtures("web")
def test_urls_that_cannot_be_reached_are_said_to_be():
    with pytest.raises(DataError, match=r"http://503/a.parquet: cannot be listed: .*503"):
        find_files("http://503/a.parquet")
    with pytest.raises(DataError, match=r"http://503/a.parquet: cannot be read as Parquet: 503"):
        open_samples("http://503/a.parquet")


def test_an_image_without_end_is_not_fetched(stored, memory, monkeypatch):
    """Such as file:///dev/zero."""
    stored("memory://lines/train.parquet")
    size = len(line(2))
    monkeypatch.setattr(parquet, "READ_AHEAD", 100)
    monkeypatch.setattr(parquet, "MAX_IMAGE_BYTES", size)
    assert open_samples("memory://lines/train.parquet")[2].image == line(2)
    monkeypatch.setattr(parquet, "MAX_IMAGE_BYTES", size - 1)
    with pytest.raises(DataError, match=rf"row 2: memory://lines/images/2.png has more than {size - 1:,} bytes"):
        open_samples("memory://lines/train.parquet")


def test_a_file_is_the_same_however_it_is_spelled(memory, tmp_path, monkeypatch):
    """Links are names of their own: stores lend one file to several."""
    (tmp_path / "b").mkdir()
    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / "link.png").symlink_to(tmp_path / "a.png")
    monkeypatch.chdir(tmp_path)
    spellings = ["a.png", "./a.png", "b/../a.png", str(tmp_path / "a.png")]
    assert {identity(name) for name in spellings} == {str(tmp_path / "a.png")}
    for other in spellings[1:]:
        with pytest.raises(DataError, match=f"{other}: is already given, by name"):
            all_matching(["a.png", other])
        with pytest.raises(DataError, match=f"{other} is matched by both a.png and {other}"):
            files_of(["a.png", other])
    assert all_matching(["./a.png", "link.png"]) == files_of(["./a.png", "link.png"]) == ["./a.png", "link.png"]
    assert identity("memory://a/../b") == "memory://a/../b"


class Refusing(MemoryFileSystem):
    """A store with errors of its own, as many have."""

    protocol = "refusing"

    def refuse(self, *arguments, **options):
        raise RuntimeError("no credentials")

    ls = pipe_file = cat_file = rm_file = refuse

    def exists(self, path, **options):
        return True


def test_errors_of_stores_are_named(monkeypatch):
    monkeypatch.setitem(_registry, "refusing", Refusing)
    output = Output("refusing://me:secret@results", columns(pyarrow.schema([])))
    for doing, message in (
        (output.job, r"_job\.json: cannot be read"),
        (output.parts, "cannot be listed"),
        (output.quarantined, "cannot be listed"),
        (lambda: output.part("part-000000"), r"part-000000\.parquet: cannot be read"),
        (lambda: output.write(b"", "a"), "cannot be written"),
        (lambda: output.remove("a"), "cannot be removed"),
    ):
        with pytest.raises(DataError, match=rf"{message}: RuntimeError: no credentials") as error:
            doing()
        assert "secret" not in str(error.value)


def test_reading_in_bulk_from_one_store_to_another(stored, memory, tiny_path, tmp_path):
    """In and out by URL: the same as by path, and what is unfinished goes."""
    path = stored("memory://lines/a.parquet")
    load = partial(Recognizer.load, tiny_path)
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "2.png").write_bytes(line(2))
    tables = []
    for given, folder in ((path, str(tmp_path / "out")), ("memory://lines/*.parquet", "memory://results/out/")):
        for _ in range(2):
            job = open_job([given], folder, load(), Columns(), rows_per_part=2)
            assert len(job.left) == (0 if tables and tables[-1][0] == folder else 2)
            list(job.run(Here(), load))
            tables.append((folder, [row["text"] for row in rows(job)]))
    assert tables[0][1] == tables[-1][1] and len(tables[0][1]) == 3
    assert sorted(memory.ls("/results/out", detail=False)) == [
        f"/results/out/{name}" for name in ("_job.json", "part-000000.parquet", "part-000001.parquet")
    ]


def rows(job):
    """The rows of an output, wherever it is."""
    from pyarrow.parquet import read_table

    names = sorted(name for name in job.output.names() if name.endswith(".parquet"))
    found = []
    for name in names:
        system, path = job.output.at(name)
        with system.open(path, "rb") as file:
            found += read_table(file).to_pylist()
    return found


@pytest.mark.parametrize("name", ["https://a.example/B c", " https://a.example/B c", "HTTPS://a.example/B c\n"])
def test_addresses_as_people_copy_them(name):
    assert is_address(name) and as_address(name) == "https://a.example/B c"


@pytest.mark.parametrize("name", ["scan.png", "ftp://a.example", "https:/a", "a https://a.example", ""])
def test_other_names_are_no_addresses(name):
    assert not is_address(name)
