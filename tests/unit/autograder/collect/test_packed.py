"""A student's own zip file in the archive: opened where the notebook is in it, bounded as the archive is."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from autograder.collect.plan import plan
from tests.unit.autograder.collect.desk import Course, collected, folder_of, said, there, zipped


def packed_zip(course: Course, files: Any) -> bytes:
    return zipped(folder_of(course) / "inner.zip", files).read_bytes()


def test_a_students_own_zip_is_opened_where_the_notebook_is_in_it(course: Course) -> None:
    inner = packed_zip(
        course, {"work/lab.ipynb": "x", "work/data.csv": "1", "work/timestamp.txt": "2020-01-01 00:00:00 UTC"}
    )
    rows = collected(course, {"ada/work.zip": inner, "bob/lab.ipynb": "y", "bob/more.zip": inner})
    assert there(course) == {"ada/lab/lab.ipynb": "x", "ada/lab/data.csv": "1", "bob/lab/lab.ipynb": "y"}
    assert said(rows)["ada"] == "left out: a student's own timestamp.txt proves nothing"
    assert ("lab.ipynb", "new; was work.zip: lab.ipynb") in [(row.file, row.what) for row in rows]
    assert ("more.zip", "left out: not opened: only a zip file that holds the notebook is") in [
        (row.file, row.what) for row in rows
    ]
    assert not any(row.lost for row in rows)


def test_a_class_that_hands_in_zips_to_canvas_is_collected(course: Course) -> None:
    files = {
        f"submissions/{who}_10{n}_900{n}_work.zip": packed_zip(course, {"lab.ipynb": who}) for n, who in enumerate("ab")
    }
    collected(course, files)
    assert there(course) == {"a/lab/lab.ipynb": "a", "b/lab/lab.ipynb": "b"}


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"inner.zip": "PK"}, "no notebook in it"),
        ({}, "cannot be opened: nothing is in it"),
        (b"PK\x03\x04 and so on", "cannot be opened: no list of contents at its end"),
        ({"../lab.ipynb": "x"}, "nothing of it is taken: ../lab.ipynb: a path that leads out of its folder"),
        ({"lab.ipynb": "\0" * 22_000_000}, "nothing of it is taken: lab.ipynb: looks like a bomb"),
        ({f"{n}/": "" for n in range(5001)}, "cannot be opened: work.zip: more than 5000 files and folders"),
        ({f"{n}.txt": "" for n in range(5001)}, "cannot be opened: work.zip: more than 5000 files and folders"),
    ],
)
def test_what_a_zip_in_the_zip_may_be_is_bounded_as_the_outer_one_is(course: Course, files: Any, why: str) -> None:
    inner = files if isinstance(files, bytes) else packed_zip(course, files)
    rows = collected(course, {"eve/work.zip": inner, "bob/lab.ipynb": "y"})
    assert there(course) == {"bob/lab/lab.ipynb": "y"}
    assert why in "; ".join(row.what for row in rows if row.student == "eve" and row.lost)


def _listed(entries: bytes, count: int, front: bytes, at: int | None) -> bytes:
    """Return a zip file with these entries in its list, in the longer form; at: where its locator says that it ends."""
    size, begin = len(entries), len(front)
    true = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, begin)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, begin + size if at is None else at, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return front + entries + true + locator + end


def _entry(name: bytes, extra: bytes = b"", offset: int = 0) -> bytes:
    sizes = (100, 100) if extra else (0, 0)
    numbers = (20, 3, 20, 0, 0, 0, 0, 0x5A21, 0, *sizes, len(name), len(extra), 0, 0, 0, 0, offset)
    return struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", *numbers) + name + extra


_EMPTY_END = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 0, 0, 0, 0)
_FAR = struct.pack("<HHQ", 1, 8, 2**63 + 5)


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        (_listed(_entry(b"a") * 6000, 6000, _EMPTY_END, 0), "cannot be opened: two ends of its list of contents"),
        (_listed(_entry(b"a") * 6000, 6000, b"PK\x03\x04", None), "work.zip: more than 5000 files and folders"),
        (_listed(_entry(b"lab.ipynb", _FAR, 0xFFFFFFFF), 1, b"PK\x03\x04", None), "left out: damaged: "),
    ],
)
def test_a_zip_that_was_made_to_break_its_reader_costs_nobody_else_anything(
    course: Course, inner: bytes, why: str
) -> None:
    rows = collected(course, {"ada/lab.ipynb": "x", "eve/work.zip": inner, "zoe/lab.ipynb": "z"})
    assert there(course) == {"ada/lab/lab.ipynb": "x", "zoe/lab/lab.ipynb": "z"}
    assert why in "; ".join(row.what for row in rows if row.student == "eve" and row.lost)


def test_whatever_else_fails_is_one_student_s_alone(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(pieces: Any, student: str, *rest: Any, **more: Any) -> Any:
        return plan(pieces, student, *rest, **more) if student != "eve" else 1 / 0

    monkeypatch.setattr("autograder.collect.collect.plan", failing)
    rows = collected(course, {f"{who}/lab.ipynb": who for who in ("ada", "eve", "zoe")})
    assert there(course) == {"ada/lab/lab.ipynb": "ada", "zoe/lab/lab.ipynb": "zoe"}
    assert [row.student for row in rows if row.lost] == ["eve"]
    assert said(rows)["eve"] == "left out: ZeroDivisionError: division by zero"


def test_what_is_packed_in_another_way_is_said_to_stay_closed(course: Course) -> None:
    rows = collected(course, {"ada/work.tar.gz": b"z", "bob/lab.ipynb": "y"})
    assert said(rows)["ada"] == "left out: no notebook in it; not opened: only a zip file that holds the notebook is"
    assert [row.student for row in rows if row.lost] == ["ada"]


def test_the_newest_attempt_counts_also_where_it_is_a_zip(course: Course) -> None:
    files = {
        "lovelaceada_101_9001_lab.ipynb": "old",
        "lovelaceada_101_9002_work.zip": packed_zip(course, {"lab.ipynb": "in the same attempt"}),
    }
    collected(course, files)
    assert list(there(course).values()) == ["old"], "Canvas hands out one attempt: what lies beside the zip file counts"
