"""What is in a gradebook that nbgrader has not put there is named; an older nbgrader's gradebook holds nothing such."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from nbgrader import dbutil

from autograder.course import gradebook
from autograder.course.alterations import alterations
from autograder.errors import CourseError


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gradebook that nbgrader has made, with a lab in it."""
    folder = tmp_path_factory.mktemp("template")
    with gradebook.open_gradebook(_url(folder), "course", create=True) as book:
        gradebook.add_lab(book, "lab")
    return folder / "gradebook.db"


def test_a_new_gradebook_has_the_revision_that_alembic_tells_nbgrader(template: Path) -> None:
    program = Path(sys.executable).with_name("alembic")
    with dbutil._temp_alembic_ini(_url(template.parent)) as ini:
        told = subprocess.run([program, "-c", ini, "current"], capture_output=True, text=True, check=True).stdout
    assert told.split() == [gradebook.newest_revision(), "(head)"]


@pytest.fixture
def database(template: Path, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    shutil.copy(template, tmp_path)
    connection = sqlite3.connect(tmp_path / "gradebook.db", isolation_level=None)
    yield connection
    connection.close()


def _url(folder: Path) -> str:
    return f"sqlite:///{folder}/gradebook.db"


def found(folder: Path) -> list[str]:
    with gradebook.open_gradebook(_url(folder), "course") as book:
        return alterations(book)


def holds(*objects: str) -> list[str]:
    return [f"holds {what}, which nbgrader does not make" for what in objects]


def rewritten(database: sqlite3.Connection, table: str, old: str, new: str) -> None:
    """Change the text from which SQLite knows a table."""
    _in_master(database, "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ?", old, new, table)


def _in_master(database: sqlite3.Connection, statement: str, *values: Any) -> None:
    database.execute("PRAGMA writable_schema = 1")
    assert database.execute(statement, values).rowcount == 1
    (version,) = database.execute("PRAGMA schema_version").fetchone()
    database.execute(f"PRAGMA schema_version = {version + 1}")
    database.close()


@pytest.mark.parametrize("statement", ["SELECT 1", "ANALYZE", "VACUUM", "PRAGMA journal_mode = WAL"])
def test_a_gradebook_as_nbgrader_makes_it_holds_nothing_else(
    database: sqlite3.Connection, tmp_path: Path, statement: str
) -> None:
    database.execute(statement)
    database.close()
    assert found(tmp_path) == []


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return nbgrader's way to upgrade a gradebook, which starts alembic by its bare name."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    upgrade: Callable[[str], None] = dbutil.upgrade
    return upgrade


def test_nor_does_one_that_was_upgraded(
    database: sqlite3.Connection, tmp_path: Path, upgrade: Callable[[str], None]
) -> None:
    database.close()
    upgrade(_url(tmp_path))
    assert found(tmp_path) == []


_OF_0_5 = """
CREATE TABLE student (
    id VARCHAR(128) NOT NULL, first_name VARCHAR(128), last_name VARCHAR(128), email VARCHAR(128), PRIMARY KEY (id));
CREATE TABLE assignment (
    id VARCHAR(32) NOT NULL, name VARCHAR(128) NOT NULL, duedate DATETIME, PRIMARY KEY (id), UNIQUE (name));
CREATE TABLE notebook (
    id VARCHAR(32) NOT NULL, name VARCHAR(128) NOT NULL, assignment_id VARCHAR(32), PRIMARY KEY (id),
    UNIQUE (name, assignment_id), FOREIGN KEY(assignment_id) REFERENCES assignment (id));
CREATE TABLE submitted_assignment (
    id VARCHAR(32) NOT NULL, assignment_id VARCHAR(32), student_id VARCHAR(128), timestamp DATETIME, extension DATETIME,
    PRIMARY KEY (id), UNIQUE (assignment_id, student_id));
CREATE TABLE submitted_notebook (
    id VARCHAR(32) NOT NULL, assignment_id VARCHAR(32), notebook_id VARCHAR(32), flagged BOOLEAN,
    late_submission_penalty FLOAT, PRIMARY KEY (id), UNIQUE (notebook_id, assignment_id), CHECK (flagged IN (0, 1)));
CREATE TABLE source_cell (
    id VARCHAR(32) NOT NULL, name VARCHAR(128) NOT NULL, cell_type VARCHAR(8) NOT NULL, locked BOOLEAN NOT NULL,
    source TEXT, checksum VARCHAR(128), notebook_id VARCHAR(32), PRIMARY KEY (id), UNIQUE (name, notebook_id),
    CONSTRAINT source_cell_type CHECK (cell_type IN ('code', 'markdown')), CHECK (locked IN (0, 1)));
CREATE TABLE grade_cell (
    id VARCHAR(32) NOT NULL, name VARCHAR(128) NOT NULL, max_score FLOAT NOT NULL, cell_type VARCHAR(8) NOT NULL,
    notebook_id VARCHAR(32), PRIMARY KEY (id), UNIQUE (name, notebook_id));
CREATE TABLE solution_cell (
    id VARCHAR(32) NOT NULL, name VARCHAR(128) NOT NULL, notebook_id VARCHAR(32), PRIMARY KEY (id),
    UNIQUE (name, notebook_id));
CREATE TABLE grade (
    id VARCHAR(32) NOT NULL, notebook_id VARCHAR(32), cell_id VARCHAR(32), auto_score FLOAT, manual_score FLOAT,
    needs_manual_grade BOOLEAN NOT NULL, PRIMARY KEY (id), UNIQUE (cell_id, notebook_id),
    CHECK (needs_manual_grade IN (0, 1)));
CREATE TABLE comment (
    id VARCHAR(32) NOT NULL, notebook_id VARCHAR(32), cell_id VARCHAR(32), auto_comment TEXT, manual_comment TEXT,
    PRIMARY KEY (id), UNIQUE (cell_id, notebook_id));
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL);
INSERT INTO alembic_version VALUES ('b6d005d67074');
INSERT INTO notebook VALUES ('n', 'lab', 'a');
INSERT INTO grade_cell VALUES ('c', 'f-check', 2, 'code', 'n');
INSERT INTO grade VALUES ('g', 's', 'c', 1, NULL, 0);
"""
"""What nbgrader 0.5 made, before extra credit."""


@pytest.mark.parametrize("opened_before", [False, True])
def test_a_gradebook_that_was_upgraded_from_an_old_one_holds_nothing_else(
    tmp_path: Path, upgrade: Callable[[str], None], opened_before: bool
) -> None:
    database = sqlite3.connect(tmp_path / "gradebook.db")
    database.executescript(_OF_0_5)
    database.close()
    if opened_before:  # which makes the tables that are not there yet
        with pytest.raises(Exception, match="course"), gradebook.open_gradebook(_url(tmp_path), "course") as book:
            gradebook.lab_names(book)
    upgrade(_url(tmp_path))
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("CREATE TABLE more (a, b)", "a table 'more'"),
        ("CREATE TABLE grade_copy AS SELECT * FROM grade", "a table 'grade_copy'"),
        ("CREATE INDEX ix ON grade (auto_score)", "an index 'ix'"),
        ("CREATE UNIQUE INDEX ix ON grade (auto_score + 1) WHERE auto_score > 1", "an index 'ix'"),
        ("CREATE VIEW v AS SELECT 1", "a view 'v'"),
        ("CREATE TRIGGER t AFTER UPDATE ON grade BEGIN SELECT 1; END", "a trigger 't'"),
        ("ALTER TABLE grade ADD COLUMN bonus FLOAT", "a column 'grade.bonus' for numbers"),
        ("ALTER TABLE grade ADD COLUMN b AS (1)", "a generated column 'grade.b' for anything"),
    ],
)
def test_whatever_else_is_made_is_named(
    database: sqlite3.Connection, tmp_path: Path, statement: str, what: str
) -> None:
    database.execute(statement)
    assert found(tmp_path) == holds(what)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("auto_score FLOAT", "auto_score AS (6.0)", "a generated column 'grade.auto_score' for anything"),
        ("auto_score FLOAT", "auto_score TEXT", "a column 'grade.auto_score' for texts"),
        ("auto_score FLOAT", "auto_score REAL DEFAULT 1", "a column 'grade.auto_score' for numbers with the default 1"),
        ("auto_score FLOAT", "auto_score FLOAT COLLATE NOCASE", "a table 'grade' with COLLATE"),
    ],
)
def test_a_table_that_sqlite_knows_otherwise_is_named(
    database: sqlite3.Connection, tmp_path: Path, old: str, new: str, what: str
) -> None:
    rewritten(database, "grade", old, new)
    assert holds(what)[0] in found(tmp_path)


def test_what_says_of_itself_that_it_is_nbgrader_s_is_an_error(database: sqlite3.Connection, tmp_path: Path) -> None:
    lie = "CREATE TRIGGER t AFTER UPDATE ON grade BEGIN SELECT 1; END"
    _in_master(database, "INSERT INTO sqlite_master VALUES ('table', 'grade', 'grade', 0, ?)", lie)
    with pytest.raises(CourseError, match="malformed database schema"):
        found(tmp_path)


def test_a_table_of_a_program_s_is_named(database: sqlite3.Connection, tmp_path: Path) -> None:
    database.execute("CREATE VIRTUAL TABLE more USING fts4(a)")
    assert holds("a table 'more' with VIRTUAL")[0] in found(tmp_path)


def test_a_key_that_comes_with_a_table_is_named(database: sqlite3.Connection, tmp_path: Path) -> None:
    database.executescript("DROP TABLE comment")
    database.execute(
        "CREATE TABLE comment (id VARCHAR(32) NOT NULL, notebook_id VARCHAR(32), cell_id VARCHAR(32),"
        " auto_comment TEXT, manual_comment TEXT, PRIMARY KEY (id), UNIQUE (manual_comment, notebook_id))"
    )
    assert found(tmp_path) == holds("an index of 'comment' by manual_comment BINARY, notebook_id BINARY")


def test_a_damaged_index_of_nbgrader_s_own_is_found(database: sqlite3.Connection, tmp_path: Path) -> None:
    key = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_student_1'").fetchone()
    empty = database.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_assignment_1'"
    ).fetchone()
    _in_master(database, "UPDATE sqlite_master SET rootpage = ? WHERE rootpage = ?", *key, *empty)
    assert found(tmp_path)[0].startswith("fails SQLite's own integrity check: ")


def test_another_database_than_sqlite_is_not_asked() -> None:
    other: Any = SimpleNamespace(engine=SimpleNamespace(dialect=SimpleNamespace(name="postgresql")))
    assert alterations(other) == []
