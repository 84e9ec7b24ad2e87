"""What is in a gradebook, an SQLite database, that nbgrader does not put there."""

from __future__ import annotations

import re
from functools import cache

import nbgrader.api
from nbgrader.api import Gradebook
from sqlalchemy import Connection, create_engine, text

__all__ = ["alterations"]

_STATISTICS = re.compile(r"sqlite_stat\d", re.IGNORECASE)
_UNUSUAL = re.compile(r"\b(VIRTUAL|COLLATE|ON\s+CONFLICT|WITHOUT\s+ROWID|STRICT)\b", re.IGNORECASE)
_DEFAULTS = {None, "NULL", "'{}'"}
"""The last is what an upgrade gives to a notebook's kernelspec."""
_AFFINITIES = {
    "integers": ("INT",),
    "texts": ("CHAR", "CLOB", "TEXT"),
    "blobs": ("BLOB",),
    "numbers": ("REAL", "FLOAT", "DOUBLE"),
}


def alterations(book: Gradebook) -> list[str]:
    """Return what is in an SQLite gradebook and is none of nbgrader's making, as ends of sentences about it.

    Triggers and views change rows. An index that somebody has made, or that does not agree with its table, answers
    sums with other numbers than the rows.
    """
    if book.engine.dialect.name != "sqlite":
        return []
    connection = book.db.connection()
    checked = connection.execute(text("PRAGMA integrity_check"))
    wrong = [" ".join(said.split()) for (said,) in checked if said != "ok"]
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    found = [f"fails SQLite's own integrity check: {wrong[0]}{more}"] if wrong else []
    return [
        *found,
        *(f"holds {what}, which nbgrader does not make" for what in sorted(_objects(connection) - _own_objects())),
    ]


@cache
def _own_objects() -> frozenset[str]:
    """Return what is in an empty gradebook, in words, also in one that alembic has upgraded."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        nbgrader.api.Base.metadata.create_all(bind=connection)
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        found = frozenset(_objects(connection))
    engine.dispose()
    return found


def _objects(connection: Connection) -> set[str]:
    """Return what is in a gradebook, in words that are the same whichever nbgrader has made or upgraded it."""
    found = set()
    for kind, name, created in connection.execute(text("SELECT type, name, sql FROM sqlite_master")):
        if created is None or (kind == "table" and _STATISTICS.fullmatch(name)):
            continue  # made with a table, or by ANALYZE
        words = [word.upper() for word in _UNUSUAL.findall(created)] if kind == "table" else []
        found.add(f"{'an' if kind == 'index' else 'a'} {kind} {name!r}{''.join(f' with {word}' for word in words)}")
    for table in [*nbgrader.api.Base.metadata.tables, "alembic_version"]:
        columns = connection.execute(
            text("SELECT name, type, hidden, dflt_value FROM pragma_table_xinfo(:t)"), {"t": table}
        )
        for name, kind, hidden, default in columns:
            made = "a generated column" if hidden else "a column"
            usual = "" if default in _DEFAULTS else f" with the default {default}"
            found.add(f"{made} '{table}.{name}' for {_affinity(kind)}{usual}")
        for name, origin in connection.execute(text("SELECT name, origin FROM pragma_index_list(:t)"), {"t": table}):
            own = text("SELECT name, coll FROM pragma_index_xinfo(:i) WHERE key ORDER BY seqno")
            keys = ", ".join(f"{column} {order}" for column, order in connection.execute(own, {"i": name}))
            found.add(f"an index {name!r}" if origin == "c" else f"an index of {table!r} by {keys}")
    return found


def _affinity(declared: str) -> str:
    """Return what SQLite takes a column for by its type."""
    for kind, words in _AFFINITIES.items():
        if any(word in declared.upper() for word in words):
            return kind
    return "numbers and texts" if declared else "anything"
