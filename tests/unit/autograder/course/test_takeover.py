"""nbgrader's commands handed over: what a configuration says then, and what nbgrader's own pages leave out."""

from __future__ import annotations

import nbformat
import pytest
from traitlets import import_item
from traitlets.config import Config

from autograder.course import hand_over, left_to_nbgrader
from autograder.markers import BEGIN_HIDDEN, END_HIDDEN

SECRET = "assert f(7) == 49"


def _test_cell() -> nbformat.NotebookNode:
    cell = nbformat.v4.new_code_cell(f"assert f(1) == 1\n{BEGIN_HIDDEN}\n{SECRET}\n{END_HIDDEN}")
    cell.outputs = [nbformat.v4.new_output("error", ename="AssertionError", evalue="", traceback=[f"--> {SECRET}"])]
    return cell


def test_a_page_of_nbgraders_own_leaves_hidden_tests_out() -> None:
    config = Config()
    hand_over(config)
    first, *others = map(import_item, config.GenerateFeedback.preprocessors)
    plain = nbformat.v4.new_code_cell("f(7)")
    plain.outputs = [nbformat.v4.new_output("stream", text="48")]
    notebook, _ = first().preprocess(nbformat.v4.new_notebook(cells=[plain, _test_cell()]), {})
    assert SECRET not in nbformat.writes(notebook)
    assert notebook.cells[1].source.strip() == "assert f(1) == 1"
    assert notebook.cells[0].outputs[0].text == "48"
    assert [step.__name__ for step in others] == ["GetGrades", "CSSHTMLHeaderPreprocessor"], "nbgrader's own"


def test_what_cells_print_of_what_hidden_lines_have_made_is_left_out_too() -> None:
    config = Config()
    hand_over(config)
    sources = [
        "table = {1: 1}\ndef f(x): return 48",
        f"f(1)\n{BEGIN_HIDDEN}\ntable[7] = 49\n{END_HIDDEN}",
        "table",
        "f(7)",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    for cell in cells:
        cell.outputs = [nbformat.v4.new_output("stream", text="{1: 1, 7: 49}")]
    step = import_item(config.GenerateSolution.preprocessors[-1])
    notebook, _ = step().preprocess(nbformat.v4.new_notebook(cells=cells), {})
    assert [bool(cell.outputs) for cell in notebook.cells] == [True, False, False, True]


def _configured(*steps: object) -> Config:
    config = Config()
    if steps:
        config.Autograde.autograde_preprocessors = list(steps)
    return config


def test_what_a_course_leaves_to_nbgrader_is_said() -> None:
    outside, tells = left_to_nbgrader(_configured())
    assert "outside any sandbox" in outside
    assert "hidden tests" in tells
    assert left_to_nbgrader(_configured("nbgrader.preprocessors.Execute")) == [outside, tells]


@pytest.mark.parametrize("step", ["autograder.nbgrader_hooks.SandboxedExecute"])
def test_a_course_whose_execute_is_sandboxed_still_prints_hidden_tests(step: str) -> None:
    (tells,) = left_to_nbgrader(_configured(step))
    assert "hidden tests" in tells
    assert left_to_nbgrader(_configured(import_item(step))) == [tells]


def test_a_course_that_has_handed_over_leaves_nothing() -> None:
    config = _configured()
    hand_over(config)
    assert left_to_nbgrader(config) == []
