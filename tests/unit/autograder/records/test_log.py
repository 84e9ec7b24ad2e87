"""The record keeps every result whole, whatever happened to the file, and equal work has one fingerprint."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.model import CellScore, CellSpec, Limits, Result, Status
from autograder.records import fingerprint as fingerprint_module
from autograder.records.chain import check_chain
from autograder.records.fingerprint import environment, fingerprint, hashes
from autograder.records.log import Log


def result(student: str = "ada", **more: Any) -> Result:
    cell = CellScore("lab", "a-check", 1.0, 2.0, ({"title": "t", "passed": True},))
    return replace(Result(student, "lab", Status.GRADED, 1.0, 2.0, cells=(cell,)), **more)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "lab.jsonl")


# ------------------------------------------------------------------------------------------------------------- the log
def test_a_full_disk_leaves_no_half_line(log: Log) -> None:
    """A limit on the size of files stands in for the disk: the system writes as much as fits, and refuses the rest."""
    log.append(result("ada"))
    before = log.path.read_bytes()
    program = f"""
import resource, signal
from pathlib import Path
from autograder.records.log import Log
from tests.unit.autograder.records.test_log import result
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 100}, {len(before) + 100}))
Log(Path({str(log.path)!r})).append(result("bob"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "File too large" in done.stderr, done.stderr
    assert log.path.read_bytes() == before
    log.append(result("bob"))
    assert [entry.result and entry.result.student for entry in log.entries()] == ["ada", "bob"]


def test_the_last_result_of_each_student_counts(log: Log) -> None:
    log.append(result("ada", score=1.0))
    log.append(result("bob"))
    log.append(result("ada", score=2.0))
    assert {student: r.score for student, r in log.latest().items()} == {"ada": 2.0, "bob": 1.0}
    assert len(log.path.read_text().splitlines()) == 3


def test_a_log_that_is_not_there_is_empty(log: Log) -> None:
    assert log.latest() == {}
    assert not log.path.exists()


def test_two_labs_have_two_logs(tmp_path: Path) -> None:
    one, two = Log(tmp_path / "01_a.jsonl"), Log(tmp_path / "02_b.jsonl")
    one.append(result("ada"))
    assert two.latest() == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(st.characters(), min_size=1), st.text(st.characters()))
def test_any_text_survives(log: Log, student: str, message: str) -> None:
    written = result(student, messages=(message + "\u2028\u0085\x0b\ud800\n",))
    log.append(written)
    assert log.latest()[student] == written
    log.path.read_text(encoding="ascii")


@pytest.mark.parametrize(
    "damage",
    [
        b'{"student": "eve", "score": 2',
        b"\xff\xfe\x00garbage",
        b"{}",
        b"[]",
        b"3",
        b"null",
        b'"text"',
        b'{"student": "eve", "cells": 3, "status": "graded", "messages": []}',
        b'{"student": "eve", "lab": "lab", "cells": [], "status": "perfect", "messages": []}',
        b'{"student": "eve", "lab": "lab", "cells": [], "status": "graded", "messages": [], "extra": 1}',
        b"[" * 10**5,
        b"",
    ],
)
def test_a_line_that_cannot_be_read_counts_as_not_there(log: Log, damage: bytes) -> None:
    log.append(result("ada"))
    with log.path.open("ab") as file:
        file.write(damage)
    assert list(log.latest()) == ["ada"]
    log.append(result("bob"))
    assert list(log.latest()) == ["ada", "bob"]


def test_every_prefix_of_the_file_gives_the_results_that_are_whole(log: Log) -> None:
    for student in ("ada", "bob", "cy"):
        log.append(result(student))
    content = log.path.read_bytes()
    for length in range(0, len(content), 7):
        log.path.write_bytes(content[:length])
        assert len(log.latest()) in {content[:length].count(b"\n"), content[:length].count(b"\n") + 1}
        log.append(result("next"))
        assert "next" in log.latest()


def test_a_writer_that_is_killed_loses_at_most_the_line_it_was_writing(log: Log) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from autograder.records.log import Log; from autograder.model import Result, Status\n"
        "log = Log(Path(sys.argv[1]))\n"
        "for n in range(10**6):\n"
        "    log.append(Result(f's{n}', 'lab', Status.GRADED, messages=('x' * 5000,))); print(n, flush=True)"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(log.path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(0.2)
    writer.send_signal(signal.SIGKILL)
    told = 1 + writer.stdout.read().count(b"\n")
    writer.wait()
    writer.stdout.close()
    log.append(result("next"))
    found = log.latest()
    assert told <= len(found) - 1 <= told + 1
    assert found["next"] == result("next")


def test_a_result_is_on_the_disk_before_append_returns(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    log.append(result())
    assert synced == [log.path.stat().st_size]


def test_earlier_lines_are_never_changed(log: Log) -> None:
    log.append(result("ada"))
    before = log.path.read_bytes()
    log.append(result("ada", score=2.0))
    assert log.path.read_bytes().startswith(before)
    assert json.loads(before)["student"] == "ada"


# ------------------------------------------------------------------------------------------------------------ the chain
def test_each_line_carries_its_hash_and_that_of_the_line_before(log: Log) -> None:
    for student in ("ada", "bob", "cy"):
        log.append(result(student))
    first, second, third = log.entries()
    assert (first.previous, second.previous, third.previous) == ("0" * 64, first.hash, second.hash)
    assert log.head == third.hash
    lines = log.path.read_bytes().splitlines()
    for line, entry in zip(lines, log.entries(), strict=True):
        body, _, seal = line.rpartition(b', "hash": ')
        assert hashlib.sha256(body + b"}").hexdigest() == entry.hash == json.loads(seal[:-1])
        assert json.loads(line)["previous"] == entry.previous


def test_the_chain_goes_on_in_another_process_and_past_half_a_line(log: Log) -> None:
    log.append(result("ada"))
    with log.path.open("ab") as file:
        file.write(b'{"student": "half')
    Log(log.path).append(result("bob"))
    log.append(result("cy"))
    ada, half, bob, cy = log.entries()
    assert (bob.previous, cy.previous) == (ada.hash, bob.hash)
    assert (half.result, half.hash) == (None, "")
    assert check_chain(log.entries())[0] == []


def test_a_whole_line_of_which_only_the_end_is_missing_counts(log: Log) -> None:
    log.append(result("ada"))
    log.path.write_bytes(log.path.read_bytes()[:-1])
    log.append(result("bob"))
    assert list(log.latest()) == ["ada", "bob"]
    assert check_chain(log.entries()) == ([], [])


def test_a_log_of_an_older_version_is_read_and_sealed_by_the_next_line(log: Log) -> None:
    old = "".join(json.dumps(result(s).to_dict(), sort_keys=True) + "\n" for s in ("ada", "bob"))
    log.path.write_text(old)
    assert list(log.latest()) == ["ada", "bob"]
    assert log.head == ""
    assert check_chain(log.entries()) == ([], ["2 lines of an older version without hashes: they cannot be checked"])
    log.append(result("cy"))
    assert log.path.read_text().startswith(old)
    assert log.entries()[2].previous == hashlib.sha256(old.encode()).hexdigest()
    assert check_chain(log.entries()) == ([], [])
    log.path.write_bytes(log.path.read_bytes().replace(b'"score": 1.0', b'"score": 2.0', 1))
    assert check_chain(log.entries())[0] == ["line 3 (cy): what stood above it is not there, or was changed"]


def test_a_line_that_is_not_what_its_hash_says_counts_as_not_there(log: Log) -> None:
    log.append(result("ada"))
    log.append(result("ada", score=0.5))
    log.path.write_bytes(log.path.read_bytes().replace(b'"score": 0.5', b'"score": 2.0'))
    assert log.latest()["ada"].score == 1.0


def test_a_reader_beside_the_writer_always_sees_whole_results(log: Log) -> None:
    stop = threading.Event()
    wrong: list[str] = []

    def read() -> None:
        while not stop.is_set():
            wrong.extend(check_chain(Log(log.path).entries())[0])

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(60):
        log.append(result(f"s{number}", messages=("x" * 20_000,)))
    stop.set()
    reader.join()
    assert wrong == []
    assert len(log.latest()) == 60


def test_hashes_are_of_the_notebooks_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(b"{}")
    assert hashes(tmp_path, ["a", "b"]) == {"a": hashlib.sha256(b"{}").hexdigest()}


# --------------------------------------------------------------------------------------------------------- fingerprints
FILES = [("lab.ipynb", b"{}"), ("data.csv", b"1,2")]
ROW = CellSpec("a-check", "code", "assert f(1)", "sum", True, True, False, False, 2.0)
ROWS = {"lab": [ROW]}
USUAL: dict[str, Any] = {"files": FILES, "rows": ROWS, "limits": Limits(), "sandbox": "bubblewrap"}


def print_of(**changes: Any) -> str:
    return fingerprint(**(USUAL | changes))


def test_equal_work_has_one_fingerprint() -> None:
    assert print_of() == print_of(files=list(reversed(FILES)), rows={"lab": [replace(ROW)]}, limits=Limits())
    assert len(print_of()) == 64


@pytest.mark.parametrize(
    "changes",
    [
        {"files": [("lab.ipynb", b"{ }"), FILES[1]]},
        {"files": [("lab2.ipynb", b"{}"), FILES[1]]},
        {"files": FILES[:1]},
        {"files": [*FILES, ("more.txt", b"")]},
        {"files": [("lab.ipynb", b""), ("{}data.csv", b"1,2")]},
        {"files": [("lab.ipynb", b"{}1"), ("data.csv", b",2")]},
        {"rows": {"lab": [replace(ROW, source="assert f(2)")]}},
        {"rows": {"lab": [replace(ROW, points=3.0)]}},
        {"rows": {"lab": [replace(ROW, grade_id="b-check")]}},
        {"rows": {"lab": [ROW, replace(ROW, grade_id="b-check")]}},
        {"rows": {"other": [ROW]}},
        {"limits": Limits(cell_time_s=1)},
        {"limits": Limits(memory_mib=1)},
        {"sandbox": "none"},
    ],
)
def test_each_ingredient_changes_the_fingerprint(changes: dict[str, Any]) -> None:
    assert print_of(**changes) != print_of()


@pytest.mark.parametrize("key", ["numpy", "python", "labkit", "dl-scale-practicum"])
def test_the_environment_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    assert key in environment()
    before = print_of()
    other = {**environment(), key: "another"}
    monkeypatch.setattr(fingerprint_module, "environment", lambda: other)
    assert print_of() != before


def test_a_file_name_that_is_not_text_has_a_fingerprint() -> None:
    assert print_of(files=[(os.fsdecode(b"\xff.txt"), b"")]) != print_of(files=[("x.txt", b"")])


def test_code_of_ours_that_was_edited_is_another_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pretend").mkdir()
    (tmp_path / "pretend" / "__init__.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = fingerprint_module._code("pretend")
    assert fingerprint_module._code("pretend") == before
    (tmp_path / "pretend" / "check.py").write_text("x = 2\n")
    assert fingerprint_module._code("pretend") != before
    assert fingerprint_module._code("no_such_package") != before
