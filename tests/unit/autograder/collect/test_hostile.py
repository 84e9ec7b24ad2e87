"""One student who chooses names of files, and how many, costs nobody else anything and is nobody else."""

from __future__ import annotations

import errno
import os
import stat
import struct
import time
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from autograder.collect import Row
from autograder.collect.archive import open_archive
from tests.unit.autograder.collect.desk import (
    LAB,
    NEW,
    NOON,
    Course,
    collected,
    folder_of,
    notebook,
    packed,
    roster,
    said,
    text_of,
    there,
    zipped,
)  # fmt: skip
from tests.unit.autograder.deep import deep_folder

WHO = {"ada": ("Lovelace", "Ada"), "bob": ("Hopper", "Bob"), "eve": ("Moth", "Eve")}
NUMBERS = {"ada": 101, "bob": 102, "eve": 103}
CANVAS = "Student,ID,SIS Login ID\n" + "".join(
    f'"{last}, {first}",{NUMBERS[own]},{own}\n' for own, (last, first) in WHO.items()
)
MOODLE = (
    "Identifier,Full name,Email address\nParticipant 101,Ada Lovelace,ada@x\nParticipant 102,Bob Hopper,bob@x\n"
    "Participant 103,Eve Moth,eve@x\n"
)
METADATA = "---\n" + "".join(
    f"submission_{number}:\n  :submitters:\n  - :name: {own}\n    :sid: {own}\n  :created_at: 2026-11-20 13:00:00 Z\n"
    for number, own in ((101, "ada"), (102, "bob"), (103, "eve"))
)
SYSTEMS: dict[str, tuple[Callable[[str, int, str], str], str]] = {
    "canvas": (lambda own, n, name: f"{''.join(WHO[own]).lower()}_{n}_{n}9_{name}", CANVAS),
    "moodle": (lambda own, n, name: f"{' '.join(WHO[own][::-1])}_{n}_assignsubmission_file_/{name}", MOODLE),
    "moodle flat": (lambda own, n, name: f"{' '.join(WHO[own][::-1])}_{n}_assignsubmission_file_{name}", MOODLE),
    "gradescope": (lambda own, n, name: f"assignment_7_export/submission_{n}/{name}", ""),
    "folders": (lambda own, n, name: f"{own}/{name}", ""),
    "submitted": (lambda own, n, name: f"submitted/{own}/lab/{name}", ""),
}
HONEST = {
    "ada/lab/lab.ipynb": b"ada's", "ada/lab/data/x.csv": b"1,2", "bob/lab/lab.ipynb": b"bob's", "bob/lab/x.py": b"x = 1"
}  # fmt: skip


def download(course: Course, system: str, eves: list[tuple[str, bytes]], *, alone: bool = False) -> list[Row]:
    """Collect what two honest students and Eve handed in, of whose files only the names are hers."""
    form, people = SYSTEMS[system]
    own = [] if alone else [(name.split("/")[0], name.split("/", 2)[2], data) for name, data in HONEST.items()]
    if system.startswith("canvas") or system.endswith("flat"):
        own = [(who, name.replace("/", "-"), data) for who, name, data in own]
    files = [(form(who, NUMBERS[who], name), data) for who, name, data in [*own, *(("eve", n, d) for n, d in eves)]]
    if system == "gradescope":
        files.append(("assignment_7_export/submission_metadata.yml", METADATA.encode()))
    path = folder_of(course) / "in.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name, NEW), packed(name, data))
    course.known = [("ada",), ("bob",), ("eve",)]
    return collected(course, path, force=True, roster=roster(course, people) if people else None)


def honest_ones_are_there(course: Course, system: str) -> None:
    found = {
        path.relative_to(course.root / "submitted").as_posix(): text_of(path).encode()
        for own in ("ada", "bob")
        for path in (course.root / "submitted" / own).rglob("*")
        if path.is_file() and path.name != "timestamp.txt"
    }
    flat = "canvas" in system or "flat" in system
    assert found == {name.replace("data/", "data-") if flat else name: data for name, data in HONEST.items()}
    assert {p.name for p in (course.root / "submitted").iterdir()} <= {"ada", "bob", "eve"}


# ------------------------------------------------------------------------------------------ names in the way of ours
@pytest.mark.parametrize(
    "name",
    ["timestamp.txt/x", "TIMESTAMP.TXT/x", "timestamp.txt./x", "timestamp.txt /x", "time\u017ftamp.txt/x",
     "timestamp.txt:x/y",
     "timestamp.txt/lab.ipynb", "timestamp.txt/timestamp.txt", "lab.ipynb/x", "lab.ipynb/lab.ipynb", "LAB.ipynb./x"],
)  # fmt: skip
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_folder_in_the_way_of_ours_stops_nobody(course: Course, system: str, name: str) -> None:
    rows = download(course, system, [("lab.ipynb", b"eve's"), (name, b"y")])
    honest_ones_are_there(course, system)
    assert there(course)["eve/lab/lab.ipynb"] == "eve's"
    assert [row for row in rows if row.lost] == []
    own = {path.name for path in (course.root / "submitted/eve/lab").iterdir()}
    assert own <= {"lab.ipynb", "timestamp.txt"}
    if system == "gradescope":
        assert there(course)["eve/lab/timestamp.txt"] == "2026-11-20 13:00:00 UTC\n"


@pytest.mark.parametrize(
    "name", ["TimeStamp.txt", "timestamp.txt.", "timestamp.txt ", "\uff54imestamp.txt", "timestamp.txt::$DATA"]
)
@pytest.mark.parametrize("system", ["folders", "canvas", "gradescope"])
def test_what_some_file_system_takes_for_timestamp_txt_is_left_out(course: Course, system: str, name: str) -> None:
    rows = download(course, system, [("lab.ipynb", b"eve's"), (name, b"2020-01-01 00:00:00 UTC")])
    assert "left out: a student's own timestamp.txt proves nothing" in [
        row.what for row in rows if row.student == "eve"
    ]
    assert name not in {path.name for path in (course.root / "submitted/eve/lab").iterdir()}


@pytest.mark.parametrize(
    ("one", "other"),
    [("a.csv", "A.csv"), ("a.csv", "a.csv."), ("a.csv", "a.csv "), ("\u00e9.csv", "E\u0301.csv"),
     ("a", "a/b"), ("a.", "a/b"),
     ("\ufb01.csv", "fi.csv"), ("stra\u00dfe", "STRASSE")],
)  # fmt: skip
def test_of_two_names_that_may_be_one_the_first_stays(course: Course, one: str, other: str) -> None:
    rows = download(course, "folders", [("lab.ipynb", b"eve's"), (one, b"1"), (other, b"2")])
    honest_ones_are_there(course, "folders")
    assert len([*(p for p in (course.root / "submitted/eve/lab").rglob("*") if p.is_file())]) == 2
    assert [row.what for row in rows if "its name is another" in row.what]


def test_a_folder_of_a_notebook_that_was_not_handed_in_is_left_out(course: Course) -> None:
    course.names = ["p1", "p2"]
    collected(course, {"ada/p1.ipynb": "x", "ada/p2.ipynb/x": "y", "bob/p1.ipynb": "z"})
    assert there(course) == {"ada/lab/p1.ipynb": "x", "bob/lab/p1.ipynb": "z"}


def test_a_name_that_the_file_system_does_not_take_costs_itself_only(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def strict(path: Path, *more: Any, **named: Any) -> Any:
        if "?" in path.name:
            raise OSError(errno.EINVAL, "Invalid argument", str(path))
        return opened(path, *more, **named)

    monkeypatch.setattr(Path, "open", strict)
    files = {"ada/lab.ipynb": "x", "ada/why?.png": "y", "ada/z.png": "z"}
    rows = collected(course, files)
    assert ("why?.png", "left out: its name cannot stand here: Invalid argument") in [(r.file, r.what) for r in rows]
    assert sorted(there(course)) == ["ada/lab/lab.ipynb", "ada/lab/z.png"]
    assert said(collected(course, files, force=True))["ada"].startswith("left out: its name"), "and again"
    assert not (course.root / ".autograder").exists(), "what is the same is not replaced"


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EACCES, errno.ENAMETOOLONG, errno.EEXIST])
def test_an_error_of_the_file_system_is_a_row_of_its_student_s(
    course: Course, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    mkdir = Path.mkdir

    def fails(path: Path, *more: Any, **named: Any) -> None:
        if "ada" in path.parts:
            raise OSError(number, os.strerror(number), str(path))
        mkdir(path, *more, **named)

    monkeypatch.setattr(Path, "mkdir", fails)
    rows = collected(course, {"ada/lab.ipynb": "x", "bob/lab.ipynb": "y"})
    (lost,) = [row for row in rows if row.lost]
    assert (lost.student, lost.what) == ("ada", f"left out: it cannot be written: {os.strerror(number)}")
    assert lost.error is not None
    assert lost.error.errno == number
    assert there(course) == {"bob/lab/lab.ipynb": "y"}


def test_a_name_that_says_it_is_utf_8_and_is_not_is_its_student_s_alone(course: Course) -> None:
    source = zipped(folder_of(course) / "in.zip", {"ada/lab.ipynb": "x", "eve/é.csv": "1", "eve/lab.ipynb": "y"})
    source.write_bytes(source.read_bytes().replace("é".encode(), b"\xe9\xe8"))
    rows = collected(course, source)
    assert there(course) == {"ada/lab/lab.ipynb": "x", "eve/lab/lab.ipynb": "y"}
    assert [row.student for row in rows if row.what.startswith("left out: damaged: ")] == ["eve"]
    assert not [row for row in rows if row.lost]


_NASTY = st.sampled_from(
    ["timestamp.txt", "TIMESTAMP.TXT", "lab.ipynb", "LAB.IPYNB", "lab", "lab.ipynb.", "a", "A", "a.", "a ", "...",
     ".", "..", "",
     "\u00e9", "e\u0301", "ada", "bob", "submission_101", "submission_metadata.yml",
     "Ada Lovelace_101_assignsubmission_file_", "lovelaceada_101_99999_lab.ipynb", "x\\..\\..\\ada", "con", "nul.txt",
     "~", "-rf", "x" * 250, "\u00e9" * 127, "C:", "a:b",
     ".lab.1.new", ".git", "__init__.py", "d/" * 30, "\u202e", "x\ny"]
)  # fmt: skip
_PATHS = st.lists(st.lists(st.one_of(_NASTY, st.text(max_size=6)), min_size=1, max_size=5).map("/".join), max_size=8)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=60
)
@given(paths=_PATHS, notebook=st.booleans())
@example(paths=["timestamp.txt/x"], notebook=True)
@example(paths=["a", "a/b", "A"], notebook=True)
@pytest.mark.parametrize("system", SYSTEMS)
def test_whatever_one_student_calls_files_the_others_are_collected(
    course: Course, system: str, paths: list[str], notebook: bool
) -> None:
    files = [*([("lab.ipynb", b"eve's")] if notebook else []), *((path.split("\0")[0], b"e") for path in paths)]
    try:
        for name, _ in files:
            name.encode()
    except UnicodeEncodeError:
        return
    download(course, system, files)
    honest_ones_are_there(course, system)
    for path in (course.root / "submitted" / "eve").rglob("*"):
        assert unicodedata.normalize("NFC", path.name) == path.name
        assert path.is_dir() or stat.S_ISREG(path.lstat().st_mode)


# ------------------------------------------------------------------------------------------------------------ how many
def test_one_student_s_many_files_stop_nobody(course: Course) -> None:
    eves = [("lab.ipynb", b"eve's"), *((f"{number}.txt", b"") for number in range(21_000))]
    rows = download(course, "gradescope", eves)
    honest_ones_are_there(course, "gradescope")
    assert there(course)["eve/lab/lab.ipynb"] == "eve's"
    assert len(there(course)) < 2100
    assert ("19000 more", "left out: more than 2000 files beside the notebook") in [(r.file, r.what) for r in rows]
    assert not [row for row in rows if row.lost]


@pytest.mark.parametrize("name", ["{}.ipynb", "x\n{}", "{}.zip", "timestamp.txt/{}"])
def test_a_table_does_not_grow_with_what_is_left_out(course: Course, name: str) -> None:
    rows = download(course, "moodle", [(name.format(number), b"") for number in range(3000)])
    honest_ones_are_there(course, "moodle")
    assert len(rows) < 250
    assert max(len(row.file) for row in rows) < 2000
    if name in {"{}.zip", "timestamp.txt/{}"}:
        assert sum(row.lost for row in rows if row.student == "eve") == 1, "nothing of it was taken"


def test_a_class_of_a_thousand_with_a_hundred_files_each_is_collected(course: Course) -> None:
    path = folder_of(course) / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for student in range(1000):
            archive.writestr(f"assignment_7_export/submission_{student}/lab.ipynb", notebook(f"{student}"))
            for number in range(99):
                archive.writestr(f"assignment_7_export/submission_{student}/a folder of figures/{number:040}.png", b"")
    begin = time.process_time()
    rows = collected(course, path, dry_run=True)
    assert len([row for row in rows if row.what.startswith("would be new")]) == 1000
    assert not [row for row in rows if row.lost]
    assert time.process_time() - begin < 60


def test_what_was_read_of_one_student_does_not_count_for_others(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.collect.archive._MAX_READ", 2000, raising=False)
    files = {f"s{number}/{name}": "x" * 900 for number in range(5) for name in ("lab.ipynb", "a.txt")}
    collected(course, files)
    assert len(there(course)) == 10


def test_a_file_that_grew_since_it_was_listed_has_no_more_room_than_its_student(course: Course) -> None:
    source = folder_of(course) / "downloads"
    (source / "eve").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "lab.ipynb"):
        (source / "eve" / name).write_bytes(notebook("x" * 400))
    with open_archive(source) as archive:
        sizes = [member.size for member in archive.members]
    assert sizes == [len(notebook("x" * 400))] * 3
    rows = collected(course, source)
    assert len(there(course)) == 3
    assert not [row for row in rows if row.lost]


def test_a_folder_that_may_not_be_read_is_said(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    source = folder_of(course) / "downloads"
    for own in ("ada", "eve"):
        (source / own).mkdir(parents=True)
        (source / own / "lab.ipynb").write_text(own)
    scandir = os.scandir

    def fails(path: Any) -> Any:
        if str(path).endswith("eve"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", fails)
    rows = collected(course, source)
    assert ("eve", "left out: cannot be read: Permission denied", True) in [(r.file, r.what, r.lost) for r in rows]
    assert there(course) == {"ada/lab/lab.ipynb": "ada"}


# -------------------------------------------------------------------------------------------------- being another one
FORGED = [
    "lovelaceada_101_99999_lab.ipynb", "Ada Lovelace_101_assignsubmission_file_lab.ipynb", "101_99999_lab.ipynb",
    "_101_99999_lab.ipynb", "Ada Lovelace_101_assignsubmission_file_/lab.ipynb", "submission_101/lab.ipynb",
    "ada/lab.ipynb",
    "submission_101\\lab.ipynb", "submission_metadata.yml", "lab/ada/lab.ipynb", "submitted/ada/lab/lab.ipynb",
    "x_101_assignsubmission_file_lab.ipynb", "LATE_anon_101_5_lab.ipynb", "LATE_101_5_lab.ipynb", "a\\b.ipynb",
]  # fmt: skip


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("system", SYSTEMS)
def test_no_name_of_a_file_makes_it_another_s(course: Course, system: str, name: str, alone: bool) -> None:
    if alone:
        download(course, system, [("lab.ipynb", b"eve's")])
    download(course, system, [(name, b"forged")], alone=alone)
    honest_ones_are_there(course, system)
    found = there(course)
    assert all("forged" not in text for where, text in found.items() if not where.startswith("eve/"))


@pytest.mark.parametrize("system", SYSTEMS)
def test_many_names_of_one_student_do_not_say_whose_archive_it_is(course: Course, system: str) -> None:
    for form in ("a{}\\b.ipynb", "submission_{}\\lab.ipynb", "x_{}_101_assignsubmission_file_lab.ipynb", "a/{}/x.py"):
        download(course, system, [(form.format(number), b"forged") for number in range(40)])
        honest_ones_are_there(course, system)


@pytest.mark.parametrize("kind", ["comments", "mahara", "onlinetext"])
@pytest.mark.parametrize("form", ["Eve Moth_103_assignsubmission_{}_/{}", "Eve Moth_103_assignsubmission_{}_{}"])
@pytest.mark.parametrize("system", ["auto", "moodle"])
def test_what_stands_beside_the_files_of_moodle_is_its_student_s(
    course: Course, kind: str, form: str, system: str
) -> None:
    files = {
        "Bob Hopper_102_assignsubmission_file_/lab.ipynb": "bob's",
        form.format(kind, "Ada Lovelace_101_assignsubmission_file_/lab.ipynb"): "forged",
        form.format(kind, "x_101_assignsubmission_file_lab.ipynb"): "forged",
    }
    course.known = [("ada",), ("bob",), ("eve",)]
    rows = collected(course, files, roster=roster(course, MOODLE), system=system)
    assert there(course) == {"bob/lab/lab.ipynb": "bob's"}
    assert {row.student for row in rows if row.lost} == {"eve" if "/" in form else ""}, (
        "a name with two ends is nobody's"
    )


@pytest.mark.parametrize("known", [[("ada",), ("bob",)], []])
def test_whoever_has_another_s_name_does_not_replace_what_that_one_handed_in(
    course: Course, known: list[tuple[str]]
) -> None:
    course.known = known
    files = {"lovelaceada_101_1_lab.ipynb": "ada's", "lovelaceada_777_999_lab.ipynb": "forged"}
    rows = collected(course, files, roster=roster(course, CANVAS))
    assert there(course) == {"ada/lab/lab.ipynb": "ada's"}
    assert [row.what for row in rows if row.lost] == [
        "left out: more than one person has the name of this student; the roster needs a row for the number 777"
        " (Canvas: column ID; Moodle: Participant 777 in Identifier) with an id or an address"
    ]


def test_a_name_that_is_made_like_a_number_s_is_not_taken_for_it(course: Course) -> None:
    folder = "{}_assignsubmission_file_/lab.ipynb"
    files = {folder.format("Kim_1"): "one", folder.format("KIM_2"): "two", folder.format("Kim_1_3"): "forged"}
    collected(course, files)
    assert there(course) == {"Kim_1/lab/lab.ipynb": "forged"}, "the others have one name, and their numbers are no ids"


# -------------------------------------------------------------------------------------------------------------- when
@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("2026-11-20 12:00:00 UTC", "its timestamp.txt is taken for nbgrader's"),
        ("2026-11-01 12:00:00 UTC", "the notebook was changed after it, on 2026-11-20: have a look"),
        ("2199-11-01 12:00:00 UTC", "has not come yet: have a look"),
        ("whenever", "says no time"),
        ("\udcff", "says no time"),
        ("9" * 400, "says no time"),
    ],
)
def test_a_timestamp_in_a_folder_is_taken_and_what_is_odd_of_it_is_said(course: Course, text: str, note: str) -> None:
    own = folder_of(course) / "downloads" / "ada"
    own.mkdir(parents=True)
    (own / "timestamp.txt").write_bytes(text.encode("utf-8", "surrogateescape"))
    (own / "lab.ipynb").write_text("x")
    os.utime(own / "lab.ipynb", (NOON, NOON))
    (row,) = collected(course, own.parent)
    assert note in row.what
    assert (course.submitted("ada", LAB) / "timestamp.txt").exists()


def test_a_list_of_contents_is_counted_before_anything_is_made_of_it(course: Course) -> None:
    entry = (
        struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0) + b"eve/x"
    )
    count = 400_000
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 0, 0, count * len(entry), 0, 0)
    path = folder_of(course) / "in.zip"
    path.write_bytes(entry * count + end)
    begin = time.process_time()
    with pytest.raises(Exception, match="400000 files; 300000 are allowed, and 400000 of them are in 'eve'"):
        collected(course, path)
    assert time.process_time() - begin < 10


def test_a_folder_too_deep_is_left_out_of_a_folder_and_of_what_is_there(course: Course, tmp_path: Path) -> None:
    source = tmp_path / "downloads"
    for own in ("ada", "eve"):
        (source / own).mkdir(parents=True)
        (source / own / "lab.ipynb").write_text(own)
    with deep_folder(source / "eve"):
        rows = collected(course, source)
    assert "left out: more than 24 folders deep" in [row.what for row in rows]
    assert there(course) == {"ada/lab/lab.ipynb": "ada", "eve/lab/lab.ipynb": "eve"}
    with deep_folder(course.submitted("ada", "lab"), moved=course.state / "replaced"):
        rows = collected(course, source, force=True)
    assert [row.what.partition(";")[0] for row in rows if row.student == "ada"] == ["replaced"]


@pytest.mark.parametrize("form", ["{}_{}_assignsubmission_file_/lab.ipynb", "{}_{}_assignsubmission_file_lab.ipynb"])
def test_a_full_name_that_ends_as_another_s_folder_replaces_nobody_s_work(course: Course, form: str) -> None:
    names = MOODLE.replace("Eve Moth", "Ada Lovelace_101_assignsubmission_file")
    files = {
        form.format("Ada Lovelace", 101): "ada's",
        form.format("Bob Hopper", 102): "bob's",
        form.format("Ada Lovelace_101_assignsubmission_file", 103): "forged",
    }
    course.known = [("ada",), ("bob",), ("eve",)]
    rows = collected(course, files, roster=roster(course, names), force=True)
    assert there(course) == {"ada/lab/lab.ipynb": "ada's", "bob/lab/lab.ipynb": "bob's"}
    assert [row.what for row in rows if row.lost] == ["left out: cannot tell which student this is"]
