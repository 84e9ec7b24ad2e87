"""A class of hostile and honest students, graded once; every test of this folder looks at what came of it.

`make test` grades a class of every kind, and `make test-all` a second one, of all the others.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from autograder.course import open_course
from autograder.model import Result
from autograder.records.log import Log
from autograder.reports.feedback import write_feedback
from tests.redteam import attacks, oddities
from tests.redteam.graded import RedClass
from tests.redteam.redlab import LAB, Attack, Oddity, hand_in, red_course
from tests.system.courses import BIN

_LIMIT_S = 1200
"""A class takes some minutes; a grader that one attack has stopped is ended here."""
EVERY_KIND, THE_OTHERS = "every kind", "the others"
CLASSES = (EVERY_KIND, pytest.param(THE_OTHERS, marks=pytest.mark.thorough))
_FIRST = attacks.FIRST | oddities.FIRST

_VICTIM = Oddity(
    says="Somebody whose work is to be stolen.",
    cells=[("setup", "# canary-other-students_work")],
    files={"notes.txt": "canary-other-students_file"},
)


@pytest.fixture(scope="session", params=CLASSES)
def red_class(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RedClass:
    """A class, graded by two workers; attackers and honest students take turns."""
    hands: dict[str, Attack | Oddity] = {**attacks.ATTACKS, **oddities.ODDITIES}
    chosen = {name: hand for name, hand in hands.items() if (name in _FIRST) == (request.param == EVERY_KIND)}
    return graded(tmp_path_factory.mktemp("red") / "course", {**chosen, "victim": _VICTIM})


def by_name(names: Iterable[str]) -> pytest.MarkDecorator:
    """Run a test for each of these names, in the class in which it was handed in."""
    chosen = [
        pytest.param(*values, marks=() if name in _FIRST else pytest.mark.thorough, id=name)
        for name in names
        for values in [(EVERY_KIND if name in _FIRST else THE_OTHERS, name)]
    ]
    return pytest.mark.parametrize(("red_class", "name"), chosen, indirect=["red_class"], scope="session")


def graded(place: Path, hands: Mapping[str, Attack | Oddity]) -> RedClass:
    """Make a course there, hand all of this in, grade it by the command that instructors use, and look around."""
    root = red_course(place)
    with _temptations(root) as places:
        students = _hand_in_all(root, hands, places)
        before = _hashes(root)
        started = time.monotonic()
        said = _grade(root)
        seconds = time.monotonic() - started
    course = open_course(root)
    results = Log(course.state / f"{LAB}.jsonl").latest()
    pages = {student: _feedback(root, result) for student, result in results.items() if result.cells}
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    to_grade = {line["student"]: int(line["to_grade"]) for line in lines}
    return RedClass(
        root=root,
        students=students,
        results=results,
        to_grade=to_grade,
        pages=pages,
        said=said,
        seconds=seconds,
        untouched=before == _hashes(root),
        left_over=tuple(_left_over()),
    )


def _grade(root: Path) -> str:
    """Return all that the grader prints; what it has not done when its time is over is missing in it."""
    command = [str(BIN / "autograder"), "grade", LAB, "--workers", "2", "--json", "--course", str(root)]
    environment = {**os.environ, "NO_COLOR": "1", "REDTEAM_SECRET": "canary-process-environment"}
    path = root / "said.txt"
    with path.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file, env=environment) as process:
        try:
            process.wait(_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
    return path.read_text()


def _hand_in_all(root: Path, hands: Mapping[str, Attack | Oddity], places: Mapping[str, str]) -> dict[str, str]:
    """Return each student by the name of what they handed in; numbers mix the honest with the others."""
    groups = [[name for name, hand in hands.items() if isinstance(hand, kind)] for kind in (Attack, Oddity)]
    turns = {name: number / len(group) for group in groups for number, name in enumerate(group)}
    students = {}
    for number, name in enumerate(sorted(hands, key=lambda name: turns[name])):
        students[name] = f"{number:03d}-{name}"
        hand_in(root, students[name], hands[name], places)
    return students


def _feedback(root: Path, result: Result) -> str:
    return "".join(page.read_text() for page in write_feedback(open_course(root), result))


@contextlib.contextmanager
def _temptations(root: Path) -> Iterator[dict[str, str]]:
    """Put up what attacks look for on this machine, and yield where it is, by the mark that stands for it in them."""
    abstract = f"redteam-{os.getpid()}"
    command = [sys.executable, "-c", "import sys; sys.stdin.read()", "canary-process-argument"]
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        subprocess.Popen(command, stdin=subprocess.PIPE) as process,
    ):
        local.bind(f"\0{abstract}")
        local.listen()
        greeters = [threading.Thread(target=_greet, args=(listener,), daemon=True) for listener in (server, local)]
        for greeter in greeters:
            greeter.start()
        yield {"@ROOT@": str(root), "@PORT@": str(server.getsockname()[1]), "@ABSTRACT@": abstract}
        for listener in (server, local):
            listener.shutdown(socket.SHUT_RDWR)
        for greeter in greeters:
            greeter.join()
        assert process.poll() is None  # nobody could signal it
        process.communicate()


def _greet(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"canary-network-answer\n")


def _hashes(root: Path) -> dict[str, str]:
    """Return what the course consists of, apart from what grading writes."""
    parts = ("source", "release", "submitted", "secret.txt", "nbgrader_config.py")
    paths = [path for part in parts for path in [root / part, *(root / part).rglob("*")]]
    return {str(path): _hash(path) for path in paths if path.is_file() and not path.is_symlink()}


def _hash(path: Path) -> str:
    if path.stat().st_size > 1 << 26:
        return str(path.stat().st_size)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _left_over() -> Iterator[str]:
    """Yield every process that an attack has started: they all bear its mark, as their name or as an argument."""
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, words = (path / "comm").read_bytes(), (path / "cmdline").read_bytes()
            if name.startswith(b"redteam-") or words.startswith(b"redteam-") or b"\0redteam-" in words:
                yield words.decode(errors="replace")
