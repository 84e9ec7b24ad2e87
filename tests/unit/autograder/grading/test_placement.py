"""Where the tests of a foreign course run is found with the instructor's own notebook, and remembered."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import nbformat
import pytest

from autograder.course import Course
from autograder.execution import Checks, Execution, Executor
from autograder.execution.canary import FORGED
from autograder.grading.along import bound_in
from autograder.grading.placement import Modes, find_modes
from autograder.model import CellSpec, Limits

TESTS = {"a": "assert f() == 1\ntable = f()", "b": "assert table == 1", "c": "assert f() == 2"}
Kernel = Callable[[str, Checks], str]
"""What a test ends in, by its id and where tests run; empty: full marks."""

IN_KERNEL = "lab: in the kernel imports and helpers are what the student makes of them (docs/grading.md, compat)"


class _Executor:
    """Runs nothing: every test ends as it is told."""

    sandbox = SimpleNamespace(name="none")

    def __init__(self, ends: Kernel) -> None:
        self.ends = ends
        self.ran: list[Checks] = []

    def run(self, notebook: nbformat.NotebookNode, *, checks: Checks, **_rest: Any) -> Execution:
        self.ran.append(checks)
        notebook = copy.deepcopy(notebook)
        for cell in notebook.cells:
            if cell.cell_type != "code" or "nbgrader" not in cell.metadata:
                continue
            cell.execution_count = 1
            if why := self.ends(cell.metadata.nbgrader.grade_id, checks):
                name, _, value = why.partition(": ")
                cell.outputs.append(nbformat.v4.new_output("error", ename=name, evalue=value, traceback=[]))
        return Execution(notebook, complete=True)


def _row(grade_id: str, source: str) -> CellSpec:
    return CellSpec(grade_id, "code", source, "", True, True, False, False, 1.0)


def _course(root: Path, tests: Mapping[str, str] = TESTS, source: bytes | None = None) -> Course:
    cells = [nbformat.v4.new_code_cell(text, metadata={"nbgrader": {"grade_id": name}}) for name, text in tests.items()]
    (root / "source").mkdir()
    if source != b"":
        text = nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()
        (root / "source/lab.ipynb").write_bytes(source or text)
    rows = {"lab": [_row(name, text) for name, text in tests.items()]}
    return cast(
        Course, SimpleNamespace(notebooks=lambda _: rows, source=lambda _: root / "source", state=root / ".autograder")
    )


def _find(course: Course, ends: Kernel) -> tuple[Modes, list[Checks]]:
    executor = _Executor(ends)
    return find_modes(course, "lab", cast(Executor, executor), Limits(), {}), executor.ran


def _where(modes: Modes) -> tuple[set[str], set[str]]:
    """Return the tests that run apart, and those that are watched."""
    return set(modes.checks["lab"].isolated), set(modes.checks["lab"].guarded)


def test_tests_that_can_run_apart_do_and_nothing_is_said(tmp_path: Path) -> None:
    modes, ran = _find(_course(tmp_path), lambda *_: "")
    assert (*_where(modes), modes.notes) == (set(TESTS), set(), ())
    assert [checks.guarded for checks in ran] == [set(), {"b"}, set()], "what b asks of a is tried in the kernel, too"
    assert [checks.mirrors for checks in ran] == [set(), set(), {"b"}], "and with what both have as one object"
    assert str(modes) == "isolated"


def test_a_test_that_loses_points_of_the_solution_in_a_second_look_is_named_and_remembered(tmp_path: Path) -> None:
    def ends(name: str, checks: Checks) -> str:
        return "NameError: table" if name == "b" and checks.guarded == {"b"} else ""

    course = _course(tmp_path)
    modes, _ = _find(course, ends)
    assert _where(modes) == (set(TESTS), set())
    assert modes.lowered == {"lab": frozenset("b")}
    (note,) = modes.notes
    assert note.startswith("lab: 'b': the instructor's own notebook loses points in a second look")
    again, ran = _find(course, ends)
    assert (again, ran) == (modes, [])


def test_a_test_whose_names_another_one_uses_goes_with_it(tmp_path: Path) -> None:
    def ends(name: str, checks: Checks) -> str:
        return "NameError: table" if name == "b" and not {"a", "b"} <= checks.guarded else ""

    modes, _ = _find(_course(tmp_path), ends)
    assert _where(modes) == ({"c"}, {"a", "b"})
    assert modes.notes == (
        "lab: 'b': in the student's kernel, watched; apart from it: NameError: table",
        "lab: 'a': in the student's kernel, watched; apart from it: another test there uses its names",
        IN_KERNEL,
    )
    assert str(modes) == "isolated and compat"


def test_where_no_name_tells_which_test_is_needed_all_above_go_along(tmp_path: Path) -> None:
    def ends(name: str, checks: Checks) -> str:
        return "TypeError" if name == "c" and not set(TESTS) <= checks.guarded else ""

    modes, _ = _find(_course(tmp_path), ends)
    assert modes.checks["lab"].guarded == set(TESTS)


def test_what_the_instructors_own_notebook_fails_is_said_once_with_the_reason(tmp_path: Path) -> None:
    modes, ran = _find(_course(tmp_path), lambda name, _: "" if name == "c" else "NameError: f")
    assert modes.notes == ("lab: 'a', 'b': the instructor's own notebook does not get full marks: NameError: f",)
    assert modes.checks["lab"].guarded == {"a", "b"}
    assert len(ran) == 3


def test_where_a_false_check_passes_in_the_instructors_kernel_none_is_made(tmp_path: Path) -> None:
    def ends(name: str, checks: Checks) -> str:
        if name in checks.isolated:
            return "NameError: ip" if name == "c" else ""
        return f"KernelBroken: {FORGED}" if name == "c" and name in checks.guarded else ""

    modes, _ = _find(_course(tmp_path), ends)
    assert _where(modes) == ({"a", "b"}, set())
    assert modes.notes == (
        f"lab: 'c': in the student's kernel, not watched: {FORGED} in the instructor's own",
        IN_KERNEL,
    )


def test_one_false_check_that_passes_in_the_instructors_kernel_is_no_reason_to_make_none(tmp_path: Path) -> None:
    draws = []

    def ends(name: str, checks: Checks) -> str:
        if name in checks.isolated:
            return "NameError: ip" if name == "c" else ""
        if name == "c" and name in checks.guarded:
            draws.append(name)
            return f"KernelBroken: {FORGED}" if len(draws) < 3 else ""
        return ""

    modes, _ = _find(_course(tmp_path), ends)
    assert _where(modes) == ({"a", "b"}, {"c"})
    assert modes.notes == ("lab: 'c': in the student's kernel, watched; apart from it: NameError: ip", IN_KERNEL)


def test_a_cell_magic_is_not_watched_either(tmp_path: Path) -> None:
    course = _course(tmp_path, {"a": "%%capture\nassert f()"})
    modes, _ = _find(course, lambda name, checks: "SyntaxError" if name in checks.isolated else "")
    assert _where(modes) == (set(), set())
    assert modes.notes == (
        "lab: 'a': in the student's kernel, not watched: a cell magic decides what becomes of an error",
        IN_KERNEL,
    )


@pytest.mark.parametrize(("source", "says"), [(b"", "there is no instructor's notebook"), (b"{", "lab.ipynb: ")])
def test_without_the_instructors_notebook_all_is_watched(source: bytes, says: str, tmp_path: Path) -> None:
    modes, ran = _find(_course(tmp_path, source=source), lambda *_: "")
    assert _where(modes) == (set(), set(TESTS))
    (note,) = modes.notes
    assert says in note and note.endswith("they run in the student's kernel, watched")
    assert not ran


def test_what_was_found_is_kept_until_the_notebook_changes(tmp_path: Path) -> None:
    course = _course(tmp_path)
    first, _ = _find(course, lambda name, checks: "NameError: x" if name in checks.isolated and name == "c" else "")
    again, ran = _find(course, lambda *_: "never asked")
    assert (again, ran) == (first, [])
    path = tmp_path / "source/lab.ipynb"
    cell = nbformat.v4.new_code_cell("def helper(): pass")
    path.write_text(_with_cell(path, cell))
    changed, ran = _find(course, lambda *_: "")
    assert changed.notes == ()
    assert ran


def _with_cell(path: Path, cell: nbformat.NotebookNode) -> str:
    """Return a notebook with one cell more, at its top."""
    notebook = nbformat.read(path, as_version=4)
    return str(nbformat.writes(nbformat.v4.new_notebook(cells=[cell, *notebook.cells])))


def test_what_is_not_run_or_not_released_makes_no_other_trial(tmp_path: Path) -> None:
    """A test that was mended in the source, or is new there, is not what is graded until the lab is released."""
    course = _course(tmp_path)
    first, _ = _find(course, lambda *_: "")
    path = tmp_path / "source/lab.ipynb"
    about = {"grade_id": "new", "grade": True, "locked": True, "solution": False, "points": 2}
    for cell in (
        nbformat.v4.new_markdown_cell("A task, in other words."),
        nbformat.v4.new_code_cell("assert False, 'not released yet'", metadata={"nbgrader": about}),
    ):
        path.write_text(_with_cell(path, cell).replace("assert f() == 1", "assert f() == 1  # mended"))
        again, ran = _find(course, lambda *_: "never asked")
        assert (again, ran) == (first, [])
    course.notebooks("lab")["lab"].append(_row("new", "assert False, 'not released yet'"))
    released, ran = _find(course, lambda *_: "")
    assert ran and "new" in released.checks["lab"].isolated


@pytest.mark.parametrize("kept", ["nonsense", "[]", '{"lab": 5}', '{"lab": {"key": 1}}'])
def test_what_was_kept_may_be_anything(kept: str, tmp_path: Path) -> None:
    course = _course(tmp_path)
    course.state.mkdir()
    (course.state / "lab.modes.json").write_text(kept)
    modes, _ = _find(course, lambda *_: "")
    assert modes.checks["lab"].isolated == set(TESTS)
    assert json.loads((course.state / "lab.modes.json").read_text())["lab"]["isolated"] == sorted(TESTS)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import numpy as np, os.path\nfrom a import b", {"np", "os", "b"}),
        ("x = y\nfor i in z: pass\ndef f(a): pass\nclass C: pass", {"x", "i", "f", "C"}),
        ("(a, *b), c = d\nwith e as g: pass\ndel h", {"a", "b", "c", "g", "h"}),
        ("x = !ls", {"x", "ls"}),
    ],
)
def test_names_that_a_cell_gives_a_meaning(source: str, names: set[str]) -> None:
    assert bound_in(source) == names


LOCKED = "import numpy as np\nlimit = 3\n\ndef helper(x):\n    return np.abs(x)"


def _with_locked(course: Course, name: str = "setup") -> Course:
    rows = course.notebooks("lab")["lab"]
    given = CellSpec(name, "code", LOCKED, "", True, False, False, False, 0.0)
    course.notebooks("lab")["lab"] = [given, *rows]
    return course


@pytest.mark.parametrize(("bears", "level"), [(level, level) for level in range(4)])
def test_as_much_of_locked_cells_is_the_graders_as_the_solution_bears(tmp_path: Path, bears: int, level: int) -> None:
    def ends(name: str, checks: Checks) -> str:
        return "TypeError" if name == "a" and checks.levels[name] > bears else ""

    tests = {"a": "assert helper(f()) == 1", "b": "assert f() == 1"}
    modes, _ = _find(_with_locked(_course(tmp_path, tests)), ends)
    checks = modes.checks["lab"]
    assert (checks.isolated, dict(checks.levels)) == (frozenset(tests), {"a": level, "b": 3})
    assert checks.given_to("a")["cells"] == [LOCKED]
    assert checks.defined_again("a", tests["a"])[-1][-1].startswith("def helper")


def test_a_test_that_bears_no_level_goes_to_the_kernel(tmp_path: Path) -> None:
    def ends(name: str, checks: Checks) -> str:
        return "TypeError" if name == "a" and name in checks.isolated else ""

    modes, ran = _find(_with_locked(_course(tmp_path, {"a": "assert helper(f()) == 1", "b": "assert f() == 1"})), ends)
    assert _where(modes) == ({"b"}, {"a"})
    assert len(ran) <= 6
    again, more = _find(
        _with_locked(cast(Course, SimpleNamespace(**{**vars(_Again(tmp_path)), "state": tmp_path / ".autograder"}))),
        ends,
    )
    assert (_where(again), more) == (_where(modes), [])


class _Again:
    """The same course, opened once more."""

    def __init__(self, root: Path) -> None:
        tests = {"a": "assert helper(f()) == 1", "b": "assert f() == 1"}
        rows = {"lab": [_row(name, text) for name, text in tests.items()]}
        self.notebooks = lambda _: rows
        self.source = lambda _: root / "source"


def test_names_that_the_students_cells_bind_are_theirs_and_their_imports_are_not(tmp_path: Path) -> None:
    course = _course(tmp_path, {"answer": "import math as m\nanswer = 42", "a": "assert answer == m.pi"})
    rows = course.notebooks("lab")["lab"]
    rows[0] = CellSpec("answer", "code", "answer = None", "", False, False, True, False, 0.0)
    modes, _ = _find(course, lambda *_: "")
    told = modes.checks["lab"].given_to("a")
    assert (told["theirs"], told["cells"]) == (["answer"], ["import math as m"])
