"""An index elsewhere: in a PostgreSQL of its own, which several fill at once, and in a table."""

import getpass
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from archives import build_index, put_scan
from made_pages import TEXTS

from drethtr.base.errors import DataError
from drethtr.search import open_index, postgres
from drethtr.search.packed import PackedLines
from drethtr.search.postgres import PostgresStore
from drethtr.search.records import PageKey, PageState
from drethtr.search.store import Store
from drethtr.search.targets import Table, target_named

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin")) or [Path(shutil.which("initdb") or "/none").parent]
BIN = PROGRAMS[-1]


@pytest.fixture(scope="module")
def cluster():
    """A database server of this test, which nobody else can reach."""
    pytest.importorskip("psycopg")
    if not (BIN / "initdb").is_file():
        pytest.skip("no PostgreSQL")
    user = "postgres" if os.geteuid() == 0 else getpass.getuser()  # it refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="drethtr-pg-"))
    shutil.chown(folder, user)

    def run(program, *arguments):
        as_user = {"user": user} if os.geteuid() == 0 else {}
        subprocess.run([BIN / program, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=folder, **as_user)

    run("initdb", "-D", folder / "data", "-A", "trust", "-U", "me", "-E", "UTF8", "--locale=C", "--no-sync")
    options = f"-c listen_addresses= -c fsync=off -k {folder}"
    run("pg_ctl", "-D", folder / "data", "-o", options, "-l", folder / "log", "-w", "start")
    yield f"postgresql://me@/{{}}?host={folder}"
    run("pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")
    shutil.rmtree(folder)


@pytest.fixture
def url(cluster, request):
    """An empty database."""
    import psycopg

    name = f"d{abs(hash(request.node.name))}"
    with psycopg.connect(cluster.format("postgres"), autocommit=True) as database:
        database.execute(f"CREATE DATABASE {name}")
    return cluster.format(name)


def fill(url, path):
    with Store.read(path) as store:
        return target_named(url, path).update(store)


def found(place, query):
    with open_index(place, threads=2) as index:
        return [(hit.page.name, hit.line, hit.probability, hit.box, hit.snippet) for hit in index.search(query)]


QUERIES = ("received", "treasure", '"dear sir"', "the -town", "rec*", "~recieved", "zebra", "'; DROP TABLE pages; --")


def test_the_database_finds_what_the_file_finds(built, tmp_path, url):
    assert "8 lines; 2 new pages written" in fill(url, tmp_path / "a.sqlite")
    for query in QUERIES:
        assert found(url, query) == found(tmp_path / "a.sqlite", query)


def test_it_is_kept_up_and_pages_of_others_stay(build, built, archive, recognizer, tmp_path, url):
    other = tmp_path / "other"
    other.mkdir()
    put_scan(other, "three", [TEXTS[0]])
    build_index(other, recognizer, tmp_path / "b.sqlite")
    fill(url, tmp_path / "a.sqlite")
    assert "9 lines; 1 new pages written" in fill(url, tmp_path / "b.sqlite")
    assert "9 lines; 0 new pages written" in fill(url, tmp_path / "a.sqlite")
    for name in ("two.xml", "two.png"):
        (archive / name).unlink()
    build()
    assert "5 lines; 0 new pages written" in fill(url, tmp_path / "a.sqlite")
    assert [hit[0] for hit in found(url, "received")] == ["one.png", "three.png"]


def test_a_page_that_another_index_has_written_since_is_not_removed(url):
    key, nothing = PageKey("/one.png", 1), PackedLines.of([]).content
    with PostgresStore.write(url, {}) as database:
        for origin in ("one", "another"):
            database.put(origin, key, PageState("state", b"digest"), [], nothing)
        database.remove("one", key)
        assert database.size() == (1, 0)
        database.remove("another", key)
        assert database.size() == (0, 0)


def test_several_workers_write_at_once(recognizer, tmp_path, url):
    """Each with an index of its own, and all of them make the tables."""
    paths = []
    for worker in range(4):
        folder = tmp_path / f"w{worker}"
        folder.mkdir()
        for page in range(3):
            put_scan(folder, f"p{page}", [TEXTS[0], f"worker {worker} page {page}"])
        paths.append(tmp_path / f"{worker}.sqlite")
        build_index(folder, recognizer, paths[-1])
    with ThreadPoolExecutor(4) as workers:
        list(workers.map(lambda path: fill(url, path), paths))
    with open_index(url) as index:
        assert index.size == (12, 24) and len(index.search("received")) == 12
        assert len(index.search("worker")) == 12


def test_a_killed_worker_leaves_whole_pages(built, tmp_path, url):
    code = (
        "import os, sys\nfrom drethtr.search import postgres, targets\nfrom drethtr.search.store import Store\n"
        "put = postgres.PostgresStore.put\n"
        "def once(*all):\n    put(*all)\n    os._exit(9)\n"
        "postgres.PostgresStore.put = once\n"
        "targets.Postgres(sys.argv[1]).update(Store.read(sys.argv[2]))\n"
    )
    source = Path(__file__).parents[2] / "src"
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])}
    assert subprocess.run([sys.executable, "-c", code, url, tmp_path / "a.sqlite"], env=variables).returncode == 9
    with open_index(url) as index:
        assert index.size == (1, 4)
    assert "8 lines; 1 new pages written" in fill(url, tmp_path / "a.sqlite")


def test_in_a_large_index_only_similar_texts_are_looked_at(built, tmp_path, url, monkeypatch):
    fill(url, tmp_path / "a.sqlite")
    monkeypatch.setattr(postgres, "PREFILTER_FROM", 0)
    with PostgresStore.open(url) as store:
        (one,), lines = store.select(["receiued"])
        assert store.page(one)[0].scan.endswith("one.png") and lines == 8
        assert len(store.select(["hidden", "receiued"]).ids) == 2 and not store.select(["zzzzzz"]).ids
    assert found(url, "recieved OR received") and not found(url, "zzzzzz")
    assert found(url, "*cei*"), "which has few trigrams of the word"


def test_verdicts_on_hits_are_kept_in_the_database(built, tmp_path, url):
    fill(url, tmp_path / "a.sqlite")
    with open_index(url) as index:
        first, second, *_ = index.search("the")
        for stands in (True, False):
            index.judge(first, stands=stands)
        assert first.line not in [hit.line for hit in index.search("the") if hit.page == first.page]
        assert second.box == index.search("the")[0].box


@pytest.mark.parametrize("judged", [False, True])
def test_a_verdict_in_a_database_of_an_earlier_version_stays_with_its_line(build, archive, tmp_path, url, judged):
    import psycopg

    build()
    fill(url, tmp_path / "a.sqlite")
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("ALTER TABLE verdicts DROP COLUMN place")
        scan = (archive / "one.png").resolve().as_posix()
        database.execute("INSERT INTO verdicts VALUES ('received', %s, 1, 'l1', 0.9, false)", (scan,))
    assert not found(url, "received")
    if judged:
        with open_index(url) as index:
            index.judge(*index.search("thank"), stands=True)
    fill(url, tmp_path / "a.sqlite")
    assert not found(url, "received")
    put_scan(archive, "one", ["We received it"])
    build()
    fill(url, tmp_path / "a.sqlite")
    assert [hit[:2] for hit in found(url, "received")] == [("one.png", "l1")], "it was on another line"


def test_other_models_and_versions_and_no_index_are_refused(build, tmp_path, url, monkeypatch):
    with pytest.raises(DataError, match="no index; create one with drethtr index FOLDER --to URL"):
        open_index(url)
    build()
    with PostgresStore.write(url, {"model": "another"}):
        pass
    with pytest.raises(DataError, match=r"built with model 'another', not 'tiny.*use the same, or another database"):
        fill(url, tmp_path / "a.sqlite")
    monkeypatch.setattr(postgres, "FORMAT", 99)
    with pytest.raises(DataError, match="format 2, but this drethtr reads format 99"):
        open_index(url)
    with pytest.raises(DataError, match=r"postgresql://127\.0\.0\.1:1/none: cannot be reached") as told:
        open_index("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(told.value)


def test_a_table_has_a_row_for_each_line(build, tmp_path):
    read_table = pytest.importorskip("pyarrow.parquet").read_table
    build()
    target = target_named("parquet", tmp_path / "a.sqlite")
    assert target == Table(tmp_path / "a.parquet")
    with Store.read(tmp_path / "a.sqlite") as store:
        assert target.update(store) == f"{tmp_path / 'a.parquet'}: 8 lines"
    rows = read_table(tmp_path / "a.parquet").to_pylist()
    assert [row["text"] for row in rows[:4]] == list(TEXTS[:4]) and all(row["certain"] for row in rows)
    assert rows[0]["page"].endswith("one.png") and rows[0]["right"] > rows[0]["left"] and rows[0]["posteriors"]


def test_a_table_replaces_its_like_but_no_other_file(build, tmp_path):
    """Training data are often called `mine.parquet`, beside an index `mine.sqlite`."""
    pyarrow = pytest.importorskip("pyarrow")
    write_table = pytest.importorskip("pyarrow.parquet").write_table
    build()
    table, index = tmp_path / "a.parquet", tmp_path / "a.sqlite"
    for _ in range(2):
        assert fill("parquet", index) == f"{table}: 8 lines"
    (odd := tmp_path / ("caf\udce9" if sys.platform == "linux" else "caf")).mkdir()  # pyarrow takes no such name
    shutil.copy(index, odd)
    for _ in range(2):
        assert fill("parquet", odd / index.name).endswith(": 8 lines")
    for put in (
        lambda: write_table(pyarrow.table({"image": [b""], "text": ["a"]}), table),
        lambda: table.write_bytes(b"not Parquet"),
        lambda: table.write_bytes(b""),
    ):
        put()
        before = table.read_bytes()
        with pytest.raises(DataError, match=r"a\.parquet: is not a table of an index, so it is not replaced"):
            target_named("parquet", index)
        assert table.read_bytes() == before
