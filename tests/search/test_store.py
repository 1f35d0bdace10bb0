"""An index file: what is read again, who may write it, and what else may be in its place."""

import lzma
import os
import shutil
import sqlite3
import sys
from contextlib import closing, suppress

import pytest
from archives import build_index, contents, put_scan
from conftest import TINY, fresh_model
from drives import needs_compiler, run_without_locks
from hostile_files import in_circles, journal_of_several
from made_pages import TEXTS, blank, write

from drethtr.base.database import connect
from drethtr.base.errors import DataError
from drethtr.images.prepare import Preparation
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.source import open_originals
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.build import Builder, open_builder
from drethtr.search.index import open_index
from drethtr.search.schema import FORMAT
from drethtr.search.store import Store
from drethtr.search.targets import rows_of
from drethtr.text.tokenizer import Characters


def test_only_what_is_new_or_changed_is_read(build, archive, tmp_path):
    assert (build(), build()) == (2, 0)
    os.utime(archive / "one.png")
    assert build() == 0, "another time, but the same content"
    text = (archive / "one.xml").read_text(encoding="utf-8")
    (archive / "one.xml").write_text(text.replace("received", "perceived"), encoding="utf-8")
    assert build() == 1
    with open_index(tmp_path / "a.sqlite") as index:
        assert index.search("perceived") and not index.search("received")
    for name in ("two.xml", "two.png"):
        (archive / name).unlink()
    assert build() == 0
    with open_index(tmp_path / "a.sqlite") as index:
        assert index.size == (1, 4)


def test_pages_that_a_scan_has_no_more_are_removed(recognizer, tmp_path):
    scan, segmentation = tmp_path / "book.tif", segmentation_named("projection")
    images = [write(blank(700, 400), [text]).image for text in TEXTS[:3]]

    def build(pages, chosen=3):
        images[0].save(scan, save_all=True, append_images=images[1:pages])
        with open_builder(tmp_path / "a.sqlite", recognizer, segmentation) as builder:
            for original in list(builder.waiting(open_originals(scan)[:chosen])):
                builder.read(original)
            return builder.remove_deleted(), builder.store.size()[0]

    assert [build(3), build(3, chosen=1), build(1), build(2)] == [(0, 3), (0, 3), (2, 1), (0, 2)]
    images[0].save(scan)
    with open_builder(tmp_path / "a.sqlite", recognizer, segmentation) as builder:
        list(builder.waiting(open_originals(scan)))
        scan.unlink()
        assert builder.remove_deleted() == 2, "the second page has gone for two reasons"


@pytest.mark.parametrize("left", [True, False])
def test_pages_on_a_drive_that_is_not_connected_stay(left, build, archive, recognizer, tmp_path):
    """Their folder is empty, as a mount point is, or gone."""
    assert build() == 2
    shutil.move(archive, tmp_path / "drive")
    if left:
        archive.mkdir()
    with open_builder(tmp_path / "a.sqlite", recognizer, segmentation_named("auto")) as builder:
        assert builder.remove_deleted() == 0 and len(builder.missing()) == 2
    shutil.copytree(tmp_path / "drive", archive, dirs_exist_ok=True)
    assert build() == 0
    (archive / "two.png").unlink()
    with open_builder(tmp_path / "a.sqlite", recognizer, segmentation_named("auto")) as builder:
        assert builder.remove_deleted() == 1 and not builder.missing()


def test_pages_that_were_moved_are_found_once(build, archive, recognizer, tmp_path):
    assert build() == 2
    archive.rename(tmp_path / "other")
    assert build_index(tmp_path / "other", recognizer, tmp_path / "a.sqlite") == 2
    with open_builder(tmp_path / "a.sqlite", recognizer, segmentation_named("auto")) as builder:
        assert builder.store.size()[0] == 4 and builder.remove_deleted() == 2 and not builder.missing()


def test_of_a_corrected_page_only_the_corrected_line_is_read(build, archive, recognizer, tmp_path, monkeypatch):
    read, read_lines = [], Recognizer.read_lines
    build()
    text = (archive / "one.xml").read_text(encoding="utf-8")
    (archive / "one.xml").write_text(text.replace("received", "perceived"), encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(Recognizer, "read_lines", lambda self, lines: read.append(len(lines)) or read_lines(self, lines))
        assert build() == 1
    assert read and set(read) == {1}, "the line, and perhaps the line upside down"
    build_index(archive, recognizer, tmp_path / "afresh.sqlite")
    pages = {name: sorted(row[1:] for row in contents(tmp_path / name)[0]) for name in ("a.sqlite", "afresh.sqlite")}
    assert pages["a.sqlite"] == pages["afresh.sqlite"]


def test_a_page_that_could_not_be_read_leaves_nothing_to_the_next(archive, recognizer, tmp_path):
    described = archive / "one.xml"
    described.write_text(described.read_text(encoding="utf-8").replace('id="l', 'id="r1l'), encoding="utf-8")
    write(blank(700, 400), TEXTS[4:6]).image.save(archive / "three.png")

    def fail(lines):
        raise DataError("too dark")

    with open_builder(tmp_path / "a.sqlite", recognizer, segmentation_named("auto")) as builder:
        builder.read(*open_originals(archive / "three.png"))
        expected = builder.store.page(1)[1]
        builder.read(*open_originals(described))
        described.write_text(described.read_text(encoding="utf-8").replace("received", "got"), encoding="utf-8")
        with pytest.raises(DataError, match="too dark"):
            builder.read(*open_originals(described), fail)
        builder.read(*open_originals(archive / "three.png"))
        assert builder.store.page(3)[1] == expected


def test_hits_at_a_url_name_it(build, tmp_path):
    build()
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as database, database:
        database.execute("UPDATE pages SET scan = 's3://lines/' || scan")
    with open_index(tmp_path / "a.sqlite") as index, Store.read(tmp_path / "a.sqlite") as store:
        hit = index.search("received")[0]
        row = next(rows_of(store, hit.key))
    assert hit.file == hit.to_json()["page"] == row["page"] == hit.key.scan


def test_what_changes_while_it_is_read_is_read_again(build, archive, tmp_path, monkeypatch):
    described, take = archive / "one.xml", Builder.on_line

    def change(self, *line):
        described.write_text(described.read_text(encoding="utf-8").replace("received", "perceived"), encoding="utf-8")
        take(self, *line)

    with monkeypatch.context() as patch:
        patch.setattr(Builder, "on_line", change)
        assert build() == 2
    assert (build(), build()) == (1, 0)
    with open_index(tmp_path / "a.sqlite") as index:
        assert index.search("perceived")


def test_the_archive_may_move_with_its_index(built, archive, tmp_path):
    shutil.move(tmp_path / "a.sqlite", archive / "a.sqlite")
    shutil.move(archive, tmp_path / "elsewhere")
    with open_index(tmp_path / "elsewhere" / "a.sqlite") as index:
        assert index.search("received"), "it can be searched"


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_scans_are_found_through_a_link_to_the_folder_of_the_index(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "drive" / "index").mkdir(parents=True)
    (tmp_path / "home" / "index").symlink_to(tmp_path / "drive" / "index")
    with Store.write(tmp_path / "home" / "index" / "a.sqlite", {}) as store:
        for scan in (tmp_path / "drive" / "one.png", tmp_path / "drive" / "index" / "two.png"):
            assert store.scan(store.key(scan, 1)).resolve() == scan


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_scans_beside_the_index_are_named_as_it_is(tmp_path):
    """On a drive or in a home that is a link, their names were those of the folder that it leads to."""
    (tmp_path / "drive" / "index").mkdir(parents=True)
    (tmp_path / "home").symlink_to(tmp_path / "drive")
    with Store.write(tmp_path / "home" / "index" / "a.sqlite", {}) as store:
        for scan in (tmp_path / "home" / "one.png", tmp_path / "home" / "index" / "two.png"):
            assert store.scan(store.key(scan, 1)) == scan


def test_a_finished_index_is_one_file(build, tmp_path):
    build()
    assert [path.name for path in tmp_path.glob("a.sqlite*")] == ["a.sqlite"]


def test_an_index_whose_maker_was_killed_at_once_is_made_again(build, tmp_path):
    """It has a head, and no tables."""
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as database:
        database.execute("PRAGMA journal_mode = WAL")
    assert (tmp_path / "a.sqlite").stat().st_size > 0
    assert build() == 2


def test_a_new_index_for_which_the_disk_is_too_full_leaves_no_file(recognizer, tmp_path, monkeypatch):
    def on_a_full_disk(*given, **options):
        database = connect(*given, **options)
        database.execute("PRAGMA max_page_count = 1")
        return database

    monkeypatch.setattr("drethtr.search.store.connect", on_a_full_disk)
    with pytest.raises(DataError, match="disk is full; make room on it"):
        open_builder(tmp_path / "a.sqlite", recognizer, segmentation_named("projection"))
    assert not list(tmp_path.glob("a.sqlite*"))


def test_one_process_writes_while_others_read(built, recognizer, tmp_path):
    path = tmp_path / "a.sqlite"
    with open_builder(path, recognizer, segmentation_named("auto")):
        with pytest.raises(DataError, match="another process is writing it"):
            open_builder(path, recognizer, segmentation_named("auto"))
        with open_index(path) as index:
            [hit] = index.search("received")
    with open_index(path) as index:
        index.judge(hit, stands=True)


def test_between_pages_of_a_writer_that_is_not_alone_others_write(built, recognizer, tmp_path):
    path, lines = tmp_path / "a.sqlite", segmentation_named("auto")
    with open_builder(path, recognizer, lines, alone=False) as builder, builder.store.writing():
        builder.store.remove(list(builder.store.states())[1])
        with pytest.raises(DataError, match="another process is writing it"):
            open_builder(path, recognizer, lines)
    with open_builder(path, recognizer, lines, alone=False) as builder:
        with open_index(path) as index:
            index.judge(*index.search("received"), stands=True)
        with (
            open_builder(path, recognizer, lines),
            pytest.raises(DataError, match="another process is writing it"),
            builder.store.writing(),
        ):
            pass
        assert builder.remove_deleted() == 0 and builder.store.size()[0] == 1
        assert len(builder.store.verdicts()) == 1


def test_a_writer_that_is_not_alone_adds_nothing_once_the_index_has_other_settings(built, recognizer, tmp_path):
    path = tmp_path / "a.sqlite"
    with open_builder(path, recognizer, segmentation_named("auto"), alone=False) as builder:
        open_builder(path, recognizer, segmentation_named("projection"), rebuild=True).store.close()
        with pytest.raises(DataError, match="built with lines 'projection'"):
            builder.remove_deleted()


def test_what_an_error_interrupts_is_not_written(built, recognizer, tmp_path):
    path = tmp_path / "a.sqlite"
    with open_builder(path, recognizer, segmentation_named("auto")) as builder:
        first, second = builder.store.states()
        with suppress(DataError), builder.store.writing():
            builder.store.remove(first)
            raise DataError("a scan is damaged")
        with builder.store.writing():
            builder.store.remove(second)
    with open_index(path) as index:
        assert list(index.store.states()) == [first]


WITHOUT_READINGS = "DROP TABLE readings; PRAGMA user_version = 2"
WITHOUT_PLACES = """DROP TABLE verdicts; PRAGMA user_version = 3; CREATE TABLE verdicts (
    query TEXT NOT NULL,
    scan TEXT NOT NULL,
    number INTEGER NOT NULL,
    line TEXT NOT NULL,
    probability REAL NOT NULL,
    stands INTEGER NOT NULL,
    PRIMARY KEY (query, scan, number, line)
) WITHOUT ROWID; INSERT INTO verdicts VALUES ('received', 'archive/one.png', 1, 'l1', 0.9, 0)"""


@pytest.mark.parametrize("lacking", [[WITHOUT_PLACES], [WITHOUT_PLACES, WITHOUT_READINGS]])
@pytest.mark.parametrize("judged", [False, True])
def test_an_index_of_an_earlier_version_is_searched_and_completed(build, built, archive, tmp_path, lacking, judged):
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(";".join(lacking))
    with open_index(path) as index:
        assert not index.search("received")
        [hit] = index.search("received", rejected=True)
        assert index.store.reading(index.store.key(tmp_path / "none.png", 1)) is None
        if judged:
            index.judge(*index.search("thank"), stands=True)
    put_scan(archive, "one", ["We received it"])
    assert build() == 1
    with open_index(path) as index:
        assert places_of(index.search("received")) == places_of([hit]), "the verdict was on another line"
        assert len(index.store.verdicts()) == 1 + judged
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (FORMAT,)


def places_of(hits):
    return [(hit.page, hit.line) for hit in hits]


@pytest.mark.parametrize("content", [b"no archive", lzma.compress(b"<PcGts/>")[:-20]])
def test_a_damaged_reading_is_told(built, archive, tmp_path, content):
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as database, database:
        database.execute("INSERT INTO readings SELECT min(id), ? FROM pages", (content,))
    with open_index(tmp_path / "a.sqlite") as index:
        key = index.store.key(archive / "one.png", 1)
        with pytest.raises(DataError, match="damaged"):
            index.store.reading(key)


def test_an_index_of_another_model_is_refused(built, tmp_path):
    other = Recognizer(
        fresh_model(TINY, Characters.learn(["xyz"]), Preparation(height=48), {"name": "other"}), posteriors=True
    )
    with pytest.raises(DataError, match=r"built with model 'tiny [0-9a-f]+', not 'other .*drethtr index --force"):
        open_builder(tmp_path / "a.sqlite", other, segmentation_named("auto"))
    with open_builder(tmp_path / "a.sqlite", other, segmentation_named("auto"), rebuild=True) as builder:
        assert builder.store.size() == (0, 0)


def not_there(path):
    path.unlink()


def folder(path):
    path.unlink()
    path.mkdir()


def another_file(path):
    path.write_bytes(b"no database at all" * 100)


def empty(path):
    path.write_bytes(b"")


def another_database(path):
    path.unlink()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE mine (a)")


def another_version(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")


def cut_short(path):
    path.write_bytes(path.read_bytes()[:5000])


def broken_posteriors(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE pages SET posteriors = x'00'")
        database.commit()


def changed(*statements):
    """Spoils an index as a stranger may do it."""

    def change(path):
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            for statement in statements:
                database.execute(statement)

    return change


ENDLESS = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n"
STRANGE = [
    (changed("DROP TABLE pages", f"CREATE VIEW pages AS {ENDLESS}"), "its tables are not those of an index"),
    (changed("ALTER TABLE pages ADD COLUMN more AS (zeroblob(1000000000))"), "its tables are not those of an index"),
    (changed("CREATE TRIGGER t AFTER INSERT ON pages BEGIN DELETE FROM lines; END"), "tables are not those of"),
    *((changed(f"UPDATE pages SET {name} = {value}"), "values of unexpected types") for name, value in [
        ("confidences", "7"), ("posteriors", "'text'"), ("scan", "CAST(scan AS BLOB)"),
    ]),
    (changed("UPDATE lines SET text = x'ff'"), "values of unexpected types"),
    (changed("UPDATE lines SET text = CAST(x'ff' AS TEXT)"), "cannot be used: Could not decode to UTF-8"),
    (changed("UPDATE about SET value = '{'"), "a damaged index"),
    (changed(f"UPDATE about SET value = '{'[' * 3000}'"), "a damaged index"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        *STRANGE,
        (not_there, "no such index; create one"),
        (folder, "is a folder; give the file"),
        (another_file, "not an index"),
        (empty, "not an index"),
        (another_database, "not an index"),
        (another_version, f"format 99, but this drethtr reads format {FORMAT}"),
        (cut_short, "a damaged index"),
        (broken_posteriors, "damaged"),
    ],
)
def test_what_is_no_index_is_refused(built, tmp_path, spoil, reason):
    spoil(tmp_path / "a.sqlite")
    with pytest.raises(DataError, match=reason) as told, open_index(tmp_path / "a.sqlite") as index:
        index.search("received")
    assert "a.sqlite" in str(told.value)


def test_a_database_of_someone_else_is_left_alone(recognizer, tmp_path):
    another = tmp_path / "mine.sqlite"
    another.touch()
    another_database(another)
    before = another.read_bytes()
    with pytest.raises(DataError, match="not an index"):
        open_builder(another, recognizer, segmentation_named("auto"))
    assert another.read_bytes() == before


@needs_compiler
def test_a_drive_without_locks_is_named_as_such(tmp_path):
    """SQLite reports it as a lock of another process, for which one would wait for ever."""
    program = f"from drethtr.search.store import Store\nStore.write({str(tmp_path / 'i.sqlite')!r}, {{}})"
    told = run_without_locks(tmp_path, program)
    assert f"{tmp_path}: its drive has no file locks; use a copy on a local drive" in told


def test_searching_removes_no_file_that_a_journal_names(built, tmp_path):
    (tmp_path / "thesis").write_text("years")
    (tmp_path / "a.sqlite-journal").write_bytes(journal_of_several(tmp_path / "a.sqlite", tmp_path / "thesis"))
    with pytest.raises(DataError, match="would make SQLite delete another file"):
        open_index(tmp_path / "a.sqlite")
    assert (tmp_path / "thesis").exists()


def test_an_index_that_leads_in_circles_is_damaged(built, tmp_path):
    in_circles(tmp_path / "a.sqlite", 1)
    with pytest.raises(DataError, match=r"cannot be used|a damaged index"):
        open_index(tmp_path / "a.sqlite")


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_an_index_elsewhere_is_not_written_through_a_link(built, recognizer, tmp_path):
    (tmp_path / "received").mkdir()
    link = tmp_path / "received" / "archive.drethtr.sqlite"
    link.symlink_to(tmp_path / "a.sqlite")
    with pytest.raises(DataError, match="is a link out of its folder"):
        open_builder(link, recognizer, segmentation_named("projection"))
    with open_index(link) as index:
        assert index.search("received")
