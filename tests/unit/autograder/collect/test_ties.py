"""Of several files that could be a student's notebook the same one counts, however the archive was packed."""

from __future__ import annotations

import unicodedata
import zipfile
from itertools import permutations
from pathlib import Path

import pytest

from autograder.collect.archive import Member
from autograder.collect.lms_names import Owner, Piece
from autograder.collect.plan import plan
from tests.unit.autograder.collect.desk import NEW, Course, collected, folder_of, notebook, roster, said, there, zipped

# --------------------------------------------------------------------------------------------------------------- a tie
EVE = "Eve_903_assignsubmission_file_/"
TIES = {
    ("old/lab.ipynb", "lab.ipynb"): "lab.ipynb",
    ("old/lab.ipynb", "lab (1).ipynb"): "lab (1).ipynb",
    ("old/lab (2).ipynb", "lab.ipynb"): "lab.ipynb",
    ("a/b/lab.ipynb", "z/lab.ipynb"): "z/lab.ipynb",
    ("backup/lab.ipynb", "Lab.ipynb"): "Lab.ipynb",
    ("old/lab.ipynb", "b/lab.ipynb", "a/lab.ipynb"): "a/lab.ipynb",
    ("lab.ipynb", "lab (1).ipynb"): "lab (1).ipynb",
    ("lab (2).ipynb", "lab-10.ipynb"): "lab-10.ipynb",
    ("Lab.ipynb", "lab.ipynb"): "lab.ipynb",
    ("LAB.ipynb", "Lab.ipynb", "lAB.ipynb"): "LAB.ipynb",
}
"""Files of one time, and which of them counts: of those that lie equally deep the last copy, then the name itself."""


@pytest.mark.parametrize(("paths", "counts"), list(TIES.items()))
def test_of_files_of_one_time_the_less_deep_one_counts_however_the_archive_is_packed(
    course: Course, paths: tuple[str, ...], counts: str
) -> None:
    for order in permutations(paths):
        rows = collected(course, [(f"{EVE}{path}", path) for path in order], force=True)
        assert there(course)["Eve/lab/lab.ipynb"] == counts
        assert f"{len(paths)} files are of the same time: {counts} is taken, which " in rows[-1].what.replace(
            "whose", "which"
        )
        assert "newest" not in rows[-1].what


@pytest.mark.parametrize(
    ("paths", "why"),
    [
        (("old/lab.ipynb", "lab.ipynb"), "lab.ipynb is taken, which lies less deep"),
        (("lab (2).ipynb", "lab-10.ipynb"), "lab-10.ipynb is taken, whose name is the last copy's"),
        (("Lab.ipynb", "lab.ipynb"), "lab.ipynb is taken, which is called as in the lab"),
        (("b/lab.ipynb", "a/lab.ipynb"), "a/lab.ipynb is taken, whose path is first in the alphabet"),
    ],
)
def test_of_files_of_one_time_it_is_said_why_one_counts_and_how_to_take_another(
    course: Course, paths: tuple[str, ...], why: str
) -> None:
    what = collected(course, {f"{EVE}{path}": path for path in paths})[-1].what
    assert f"2 files are of the same time: {why}; to take another, collect a folder with that one alone" in what
    other = next(path for path in paths if not why.startswith(path))
    collected(course, {f"{EVE}{other}": "other"}, force=True)
    assert there(course)["Eve/lab/lab.ipynb"] == "other", "as the line says"


def test_an_older_file_beside_two_of_one_time_is_counted_and_no_time_is_said_to_be_none(course: Course) -> None:
    source = folder_of(course) / "in.zip"
    with zipfile.ZipFile(source, "w") as archive:
        for name, when in (("lab.ipynb", NEW), ("lab (1).ipynb", NEW), ("lab (2).ipynb", (2026, 11, 1, 0, 0, 0))):
            archive.writestr(zipfile.ZipInfo(f"{EVE}{name}", when), notebook(name))
    assert "2 of 3 files are of the same time, and none is newer: lab (1)" in said(collected(course, source))["Eve"]
    rows = collected(
        course, zipped(source, {f"{EVE}a/lab.ipynb": "a", f"{EVE}lab.ipynb": "b"}, (1980, 1, 1, 0, 0, 0)), force=True
    )
    assert "2 files say no time: lab.ipynb is taken" in said(rows)["Eve"]


def test_attempts_of_one_time_are_said_to_be() -> None:
    own = [[Piece(Member(f"{n}/lab.ipynb", 1, 5.0, Path(n)), Owner(), n, "lab.ipynb", (5.0,))] for n in ("x", "y")]
    made = plan([piece for pieces in own for piece in pieces], "ada", ["lab"], keep_timestamp=False, room=100)
    assert made.notes[0].startswith("2 attempts are of the same time: y is taken, the last in the alphabet")


def test_a_newer_file_counts_however_deep_it_lies(course: Course) -> None:
    source = folder_of(course) / "in.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr(zipfile.ZipInfo(f"{EVE}lab.ipynb", NEW), "old")
        archive.writestr(zipfile.ZipInfo(f"{EVE}deep/lab.ipynb", (2026, 11, 21, 0, 0, 0)), "new")
    collected(course, source)
    assert there(course) == {"Eve/lab/lab.ipynb": "new"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["lab.ipynb", "data.csv"])
def test_of_two_files_of_one_name_and_time_the_order_in_the_archive_does_not_decide(course: Course, name: str) -> None:
    found = set()
    for texts in permutations(["one", "three"]):
        notebook = [("eve/lab.ipynb", "x")] if name != "lab.ipynb" else []
        collected(course, [*notebook, *((f"eve/{name}", text) for text in texts)], force=True)
        found.add(there(course)[f"eve/lab/{name}"])
    assert len(found) == 1


# ------------------------------------------------------------------------------------------ a name written in two ways
COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))


@pytest.mark.parametrize("form", ["{}/lab.ipynb", "submitted/{}/lab/lab.ipynb", "{}/lab/lab.ipynb"])
@pytest.mark.parametrize("known", [[], [(COMPOSED,), ("bob",)]])
def test_two_folders_of_one_name_are_told_of_and_nothing_is_lost_in_silence(
    course: Course, form: str, known: list[tuple[str]]
) -> None:
    course.known = known
    files = [(form.format(name), text) for name, text in ((COMPOSED, "one"), ("bob", "bob"), (DECOMPOSED, "three"))]
    seen = set()
    for packed in (files, files[::-1]):
        rows = [row for row in collected(course, packed, force=True) if row.student == COMPOSED]
        assert there(course)["bob/lab/lab.ipynb"] == "bob"
        seen.add(there(course)[f"{COMPOSED}/lab/lab.ipynb"])
        said = "two folders, whose names differ only in how an accent is written, are taken for one student's"
        assert [row for row in rows if said in row.what and row.file == "lab.ipynb"]
        assert [row.file for row in rows if row.what == "left out: in another folder of this name, and not newer"]
    assert len(seen) == 1


def test_what_lies_in_one_of_two_folders_of_one_name_is_taken(course: Course) -> None:
    files = [(f"{COMPOSED}/lab.ipynb", "x"), ("bob/lab.ipynb", "b"), (f"{DECOMPOSED}/data.csv", "1")]
    rows = collected(course, files)
    assert there(course)[f"{COMPOSED}/lab/data.csv"] == "1"
    assert "two folders" in said(rows)[COMPOSED]


@pytest.mark.parametrize("form", ["{}_{}_assignsubmission_file_/lab.ipynb", "{}_{}_11_lab.ipynb"])
def test_two_people_of_one_name_are_told_apart_however_it_is_written(course: Course, form: str) -> None:
    rows = collected(course, {form.format(COMPOSED, 1): "one", form.format(DECOMPOSED, 2): "two"})
    assert there(course) == {}
    assert [row.what.partition(" (")[0] for row in rows if row.lost] == [
        f"left out: more than one person has this name; give --roster FILE with a row for the number {number}"
        for number in (1, 2)
    ]
    assert not [row for row in rows if "two folders" in row.what]


def test_and_a_roster_says_who_they_are(course: Course) -> None:
    people = f"Identifier,Full name,Email address\nParticipant 1,{COMPOSED},a@x\nParticipant 2,{DECOMPOSED},b@x\n"
    form = "{}_{}_assignsubmission_file_/lab.ipynb"
    files = {form.format(COMPOSED, 1): "one", form.format(DECOMPOSED, 2): "two"}
    collected(course, files, roster=roster(course, people))
    assert there(course) == {"a@x/lab/lab.ipynb": "one", "b@x/lab/lab.ipynb": "two"}


@pytest.mark.parametrize("name", [COMPOSED, DECOMPOSED])
def test_one_folder_is_one_however_it_is_written(course: Course, name: str) -> None:
    rows = collected(course, {f"{name}/lab.ipynb": "x", f"{name}/é/data.csv": "1", "bob/lab.ipynb": "b"})
    assert said(rows)[COMPOSED] == "new"
