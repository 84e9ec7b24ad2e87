"""What nbgrader says about cells is read as it is meant."""

from __future__ import annotations

from typing import Any

from nbformat.v4 import new_markdown_cell

from autograder.notebook import below_tasks


def _cell(text: str, grade_id: str = "", *, task: bool = False, **more: Any) -> Any:
    about = {"nbgrader": {"grade_id": grade_id, "task": task}} if grade_id else {}
    return new_markdown_cell(text, metadata=about, **more)


def test_an_empty_cell_below_a_task_is_no_part_of_the_answer() -> None:
    task, answer, next_task = (
        _cell("Draw.", "draw", task=True),
        _cell("Here it is."),
        _cell("Write.", "write", task=True),
    )
    picture = _cell("", attachments={"a.png": {"image/png": "x"}})
    cells = [_cell("Read."), task, answer, _cell(" \n"), picture, next_task, _cell("")]
    assert below_tasks(cells) == {"draw": [answer, picture], "write": []}
