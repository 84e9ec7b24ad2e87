"""A course of somebody else's with one small lab, as tests of its own kind need it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path

import nbformat

from autograder.course import open_course
from autograder.grading.outcome import Outcome
from tests.system.courses import autograder, grade, points

__all__ = ["ANSWER", "Foreign", "points"]

ANSWER = "def square(x):\n    ### BEGIN SOLUTION\n    return x * x\n    ### END SOLUTION\n"


class Foreign:
    """A course with one lab: locked helpers, an answer, and tests that a dictionary gives by their names."""

    def __init__(
        self,
        root: Path,
        tests: Mapping[str, str],
        *,
        locked: str = "",
        answer: str = ANSWER,
        after: str = "",
        config: str = "",
        points: float = 1,
        beside: Mapping[str, str] | None = None,
    ) -> None:
        """tests: by their names, each worth these points. after: a locked cell below the answer.

        config: more lines of nbgrader_config.py. beside: files beside the notebook, by their names.
        """
        self.root = root
        notebook = nbformat.v4.new_notebook()
        cells = [
            ("given", locked, "locked"),
            ("answer", answer, "solution"),
            ("after", after, "locked"),
            *((n, s, "grade") for n, s in tests.items()),
        ]
        for name, source, kind in cells:
            cell = nbformat.v4.new_code_cell(textwrap.dedent(source).strip(), id=name)
            about = {"grade": kind == "grade", "solution": kind == "solution", "locked": kind != "solution"}
            worth = {"points": points} if kind == "grade" else {}
            cell.metadata["nbgrader"] = {
                **about, **worth, "grade_id": name, "schema_version": 3, "task": False, "cell_type": "code"
            }  # fmt: skip
            notebook.cells.append(cell)
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        (root / "source/hw").mkdir(parents=True)
        nbformat.write(notebook, root / "source/hw/hw.ipynb")
        for name, text in (beside or {}).items():
            (root / "source/hw" / name).write_text(text)
        (root / "nbgrader_config.py").write_text(f"c = get_config()\n{config}\n")
        result = autograder("release", "--skip-solution", "--course", root)
        assert result.exit_code == 0, result.output

    def hand_in(self, student: str, answer: str | None = None) -> None:
        folder = self.root / "submitted" / student / "hw"
        folder.mkdir(parents=True)
        notebook = nbformat.read(self.root / "release/hw/hw.ipynb", as_version=4)
        for cell in notebook.cells:
            if cell.id == "answer" and answer is not None:
                cell.source = textwrap.dedent(answer).strip()
        nbformat.write(notebook, folder / "hw.ipynb")

    def grade(self) -> dict[str, Outcome]:
        return grade(self.root, lab="hw")

    def isolated(self) -> set[str]:
        """Return the tests that ran apart."""
        modes = json.loads((open_course(self.root).state / "hw.modes.json").read_text())
        return set(modes["hw"]["isolated"])

    def page(self, student: str) -> str:
        """Return the page of feedback for this student."""
        result = autograder("feedback", "hw", "--student", student, "--course", self.root)
        assert result.exit_code == 0, result.output
        return (self.root / "feedback" / student / "hw/hw.html").read_text()
