"""The process that runs a lab's solution runs any course's, and forks for other answers."""

from __future__ import annotations

import nbformat

from autograder.proof import Prepared


def test_lines_that_only_ipython_reads_are_passed_over() -> None:
    sources = {
        "setup": "%matplotlib inline\nfiles = !ls\nimport math",
        "root": "def root(x):\n    return math.sqrt(x)",
        "text": 'text = """\n%a = 1\n! no command\n"""',
        "root-check": "%%time\nassert root(9) == 3 and len(text.split()) == 6",
    }
    cells = [nbformat.v4.new_code_cell(source, id=key) for key, source in sources.items()]
    cells[3].metadata = nbformat.from_dict({"nbgrader": {"grade_id": "root-check", "grade": True, "solution": False}})
    notebook = nbformat.v4.new_notebook(cells=cells)
    with Prepared(notebook) as prepared:
        assert prepared.outcomes(notebook, only=["root-check"]) == {}
        (outcome,) = prepared.answer({"root": "def root(x):\n    return x / 3"}).tests.values()
        assert outcome.full
        (outcome,) = prepared.answer({"root": "def root(x):\n    return x"}).tests.values()
        assert not outcome.full
