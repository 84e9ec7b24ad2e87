"""A student's own zip file in the archive: opened where the notebook is in it, bounded as the archive is."""

from __future__ import annotations

from typing import Any

import pytest

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
