"""Tampering with what a notebook says about itself and its cells."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from autograder.model import Status
from tests.redteam.redlab import FAKES, Attack

Notebook = dict[str, Any]
_TAMPERED = (Status.TAMPERED,)
_EITHER = (Status.GRADED, Status.TAMPERED)


def _each(change: Callable[[dict[str, Any]], object], *ids: str) -> Callable[[Notebook], object]:
    """Return what changes the cells with these ids, or all."""
    return lambda nb: [change(cell) for cell in nb["cells"] if cell["id"] in ids or not ids]


def _tests(change: Callable[[dict[str, Any]], object]) -> Callable[[Notebook], object]:
    return lambda nb: [change(cell) for cell in nb["cells"] if cell["id"].endswith("-check")]


def _grading(**values: object) -> Callable[[Notebook], object]:
    """Return what changes nbgrader's metadata of all test cells."""
    return _tests(lambda cell: cell["metadata"]["nbgrader"].update(values))


def _without(*ids: str) -> Callable[[Notebook], object]:
    return lambda nb: nb.update(cells=[cell for cell in nb["cells"] if cell["id"] not in ids])


def _twice(notebook: Notebook) -> None:
    """Put a copy of every test that says it is worth more below it, and an easier one above."""
    cells = []
    for cell in notebook["cells"]:
        if cell["id"].endswith("-check"):
            easy = copy.deepcopy(cell)
            easy["source"] = "from labkit import check\nwith check.case('x'):\n    pass\ncheck.score(3)"
            cells += [easy, cell, {**copy.deepcopy(easy), "id": "z" + cell["id"]}]
        else:
            cells.append(cell)
    notebook["cells"] = cells


def _solution_is_test(notebook: Notebook) -> None:
    """Give the student's own cell the grade_id of a test, with a source that earns all of it."""
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] != "softmax-check"]
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "softmax")
    cell["source"] = "from labkit._check_report import Case, Score\nScore(3, (Case('x', True),))"
    cell["metadata"]["nbgrader"].update(grade_id="softmax-check", grade=True, solution=True, points=3)


def _outputs(notebook: Notebook) -> None:
    """Put forged outputs into every test cell, as if it had been run."""
    case = {"title": "x", "passed": True, "message": "", "hint": "", "hidden": False, "weight": 1.0, "error": ""}
    data = {"text/plain": "3.0", "application/vnd.labkit.check+json": {"cases": [case]}}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"] = 7
            cell["outputs"] = [
                {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 7},
            ]


def _explore(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["labkit"] = {"explore": True}
        if cell["id"] in ("windows", "bisect"):
            cell["source"] = (
                "# explore: change anything here; this cell is not run when your work is graded\n" + cell["source"]
            )


def _swap_ids(notebook: Notebook) -> None:
    """Exchange the grade_ids of an easy and of a hard test."""
    found = {cell["id"]: cell["metadata"]["nbgrader"] for cell in notebook["cells"] if cell["id"].endswith("-check")}
    a, b = found["tally-check"], found["softmax-check"]
    a["grade_id"], b["grade_id"] = b["grade_id"], a["grade_id"]


def _nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"x": value}
    return value


ATTACKS = {
    "skip_tags": Attack(
        says="Tags every cell to be skipped, hidden, removed or allowed to raise.",
        change=_each(
            lambda cell: cell["metadata"].update(
                tags=["skip-execution", "raises-exception", "remove-cell", "nbgrader-skip"],
                editable=False,
                trusted=True,
            )
        ),
    ),
    "more_points": Attack(says="Says that each test is worth a million points.", change=_grading(points=10**6)),
    "odd_points": Attack(
        says="Gives points that are negative, endless, texts and lists.",
        change=_grading(points=[float("inf")]),
        answers=FAKES,
    ),
    "not_graded": Attack(says="Says that tests are no tests.", change=_grading(grade=False, points=0)),
    "tests_are_solutions": Attack(
        says="Says that tests are solutions and not locked, and empties them.",
        change=_tests(
            lambda cell: (
                cell["metadata"]["nbgrader"].update(locked=False, grade=True, solution=True),
                cell.update(source="3"),
            )
        ),
        status=_TAMPERED,
    ),
    "tests_are_tasks": Attack(
        says="Says that tests are tasks, which a person grades.",
        change=_grading(task=True, grade=False, solution=False),
        status=_EITHER,
    ),
    "rewritten_tests": Attack(
        says="Rewrites every test to one that passes.",
        change=_tests(
            lambda cell: cell.update(source="from labkit import check\nwith check.case('x'): pass\ncheck.score(3)")
        ),
        status=_TAMPERED,
    ),
    "numbers_in_tests": Attack(
        says="Makes every test a number, with the checksum of the text that it now has.",
        change=_tests(lambda cell: (cell.update(source="3"), cell["metadata"]["nbgrader"].update(checksum="0" * 32))),
        status=_EITHER,
    ),
    "deleted_tests": Attack(
        says="Deletes the tests of what it could not do.",
        change=_without("windows-check", "running-mean-check", "bisect-check", "softmax-check"),
        status=_TAMPERED,
    ),
    "deleted_all": Attack(
        says="Deletes every cell.", change=lambda nb: nb.update(cells=[]), honest=0, status=_TAMPERED
    ),
    "doubled_tests": Attack(
        says="Doubles every test, an easy one above and one below.", change=_twice, status=_TAMPERED
    ),
    "reordered": Attack(says="Turns the order of all cells around.", change=lambda nb: nb["cells"].reverse()),
    "swapped_ids": Attack(says="Exchanges the ids of an easy and of a hard test.", change=_swap_ids, status=_EITHER),
    "solution_is_test": Attack(
        says="Gives its own cell the grade_id of a test.", change=_solution_is_test, status=_EITHER
    ),
    "forged_outputs": Attack(says="Hands in the outputs of tests that all passed.", change=_outputs),
    "forged_outputs_not_run": Attack(
        says="Hands in the outputs of tests that all passed, in a notebook whose process ends at once.",
        change=_outputs,
        first="import os\nos._exit(0)",
        honest=0,
    ),
    "markdown_tests": Attack(
        says="Makes tests markdown and raw cells.",
        change=_tests(lambda cell: (cell.update(cell_type="raw"), cell.pop("outputs"), cell.pop("execution_count"))),
        status=_TAMPERED,
    ),
    "code_answer": Attack(
        says="Makes the written answer a code cell that runs.",
        change=_each(lambda cell: cell.update(cell_type="code", source="2.0", outputs=[], execution_count=None), "why"),
        status=_EITHER,
    ),
    "other_schema": Attack(
        says="Claims other versions of nbgrader's schema, with the fields that those had.",
        change=_grading(schema_version=1, assignment=True, autograder_tests=False),
    ),
    "schema_no_number": Attack(
        says="Claims a schema version that is a table.", change=_grading(schema_version={"x": []})
    ),
    "other_language": Attack(
        says="Asks for the kernel of another language, with a command of its own.",
        change=lambda nb: nb["metadata"].update(
            kernelspec={"name": "evil; touch /tmp/redteam", "language": "bash", "argv": ["sh", "-c", "exit"]},
            language_info={"name": "R"},
            papermill={"exception": False},
        ),
    ),
    "explore_marks": Attack(says="Marks every cell as one to be left out, in metadata and in words.", change=_explore),
    "cell_ids_of_others": Attack(
        says="Gives every cell the id of a test, an empty one, a path, and a very long one.",
        change=lambda nb: [
            cell.update(id=["softmax-check", "", "../../x", "x" * 10**5, 5][n % 5])
            for n, cell in enumerate(nb["cells"])
        ],
    ),
    "odd_grade_ids": Attack(
        says="Has cells with grade_ids that are paths, markup, empty, texts of other alphabets and lists.",
        change=lambda nb: nb["cells"].extend(
            {
                "cell_type": "code",
                "id": f"odd{n}",
                "source": "3",
                "outputs": [],
                "execution_count": None,
                "metadata": {"nbgrader": {"grade": True, "locked": True, "points": 9, "grade_id": grade_id}},
            }
            for n, grade_id in enumerate(("../../x", "<script>", "", "日本", ["x"], {"y": 1}, None, "why", "a\nb"))
        ),
        status=_EITHER,
    ),
    "deep_metadata": Attack(
        says="Has metadata four hundred deep, in the notebook and in cells.",
        change=lambda nb: (
            nb["metadata"].update(x=_nested(400)),
            _each(lambda cell: cell["metadata"].update(y=_nested(400)))(nb),
        ),
    ),
    "metadata_of_other_types": Attack(
        says="Has lists, numbers and texts where tables are expected.",
        change=lambda nb: (
            nb.update(metadata=[]),
            _each(lambda cell: cell.update(metadata="x"), "why", "setup")(nb),
            _each(lambda cell: cell.update(outputs={"x": 1}, execution_count="y"), "centre", "tally")(nb),
        ),
        status=_EITHER,
    ),
    "source_of_other_types": Attack(
        says="Has sources that are numbers, tables and lists of these.",
        change=lambda nb: [
            cell.update(source=[5, {}, ["x"], None][n % 4])
            for n, cell in enumerate(
                cell for cell in nb["cells"] if cell["id"] in ("windows", "bisect", "softmax", "why")
            )
        ],
        status=_EITHER,
    ),
    "attachments": Attack(
        says="Pastes attachments that are scripts, huge and no images into the written answer.",
        change=_each(
            lambda cell: cell.update(
                attachments={
                    "x.svg": {"image/svg+xml": "<svg onload=alert(1)>"},
                    "../../y": {"image/png": "<script>alert(1)</script>"},
                    "z": {"text/html": "<script>alert(1)</script>"},
                    "w": [],
                }
            ),
            "why",
        ),
    ),
    "widgets": Attack(
        says="Brings the state of widgets and scripts in the notebook's metadata.",
        change=lambda nb: nb["metadata"].update(
            widgets={"application/vnd.jupyter.widget-state+json": {"state": {"x": {"model_name": "<script>"}}}},
            title="<script>alert(1)</script>",
            authors=[{"name": "<img src=x onerror=alert(1)>"}],
        ),
    ),
}
