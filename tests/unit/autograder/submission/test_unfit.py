"""A notebook that was handed in for another lab than its own, or that is no lab's."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from autograder.submission.unfit import NO_METADATA, unfit

OWN = ["setup", "mean", "mean-check", "why"]
OTHERS = {
    "01": frozenset({"setup", "mlp", "mlp-check", "fit", "fit-check"}),
    "02": frozenset({"setup", "graph", "graph-check", "mlp"}),
}


def handed_in(*names: Any) -> nbformat.NotebookNode:
    cells = [nbformat.v4.new_code_cell(metadata={"nbgrader": {"grade_id": name}}) for name in names]
    return nbformat.v4.new_notebook(cells=[*cells, nbformat.v4.new_markdown_cell("x")])


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (OWN, ""),
        (OTHERS["01"], "01"),
        (OTHERS["02"], "02"),
        (["setup", "mlp", "mlp-check", "fit"], "01"),  # a cell was deleted
        (["setup", "mlp"], ""),  # too little to say so
        ([*OWN, *OTHERS["01"]], ""),  # all in one
        (["setup", "mean", "mlp", "mlp-check", "fit"], ""),
        (["setup"], ""),
        ([["setup"], 5, None, {"a": 1}], ""),
    ],
)
def test_it_is_known_by_its_cells(names: Any, found: str) -> None:
    assert unfit(handed_in(*sorted(names, key=str)), OWN, OTHERS) == (found and f"this is the notebook of {found}")


@pytest.mark.parametrize(
    ("names", "known"),
    [(("x", "y"), 0), (("setup", "x", "y"), 1), (("setup",), None), (("setup", "x"), None), ((*OWN, *"uvwxyz"), None)],
)
def test_one_of_a_lab_that_was_not_released_is_known_too(names: tuple[str, ...], known: int | None) -> None:
    found = f"this is the notebook of another lab: of its {len(names)} named cells {known} are this lab's"
    assert unfit(handed_in(*names), OWN, {}) == ("" if known is None else found)


def test_one_that_another_program_has_saved_has_cells_and_no_metadata() -> None:
    assert unfit(handed_in(), OWN, OTHERS) == NO_METADATA
    assert unfit(nbformat.v4.new_notebook(), OWN, OTHERS) == ""
