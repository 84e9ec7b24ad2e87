"""What came of the class: each student's result, and everything that was written down about them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.model import Result

__all__ = ["RedClass"]


@dataclass(frozen=True)
class RedClass:
    """A graded class; `students` is who handed in what, `pages` the feedback of each."""

    root: Path
    students: Mapping[str, str]
    results: Mapping[str, Result]
    to_grade: Mapping[str, int]
    pages: Mapping[str, str]
    said: str
    """What the grader printed."""
    seconds: float
    untouched: bool
    """Whether source, release and submissions are what they were before."""
    left_over: tuple[str, ...]

    def result(self, name: str) -> Result:
        """Return what became of a hand-in; a KeyError tells that the grader did not come that far."""
        return self.results[self.students[name]]

    def page(self, name: str) -> str:
        """Return the student's feedback page."""
        return self.pages[self.students[name]]

    def written(self, name: str) -> Iterator[str]:
        """Yield all that was recorded of one student: but for the instructor's own cells in their notebook."""
        student = self.students[name]
        yield json.dumps(_without_messages(self.results[student].to_dict()), ensure_ascii=False)
        yield self.pages[student]
        for path in (self.root / "autograded" / student).rglob("*"):
            if path.is_file():
                yield path.read_text(errors="replace") if path.suffix != ".ipynb" else "\n".join(_student_text(path))


def _student_text(path: Path) -> Iterator[str]:
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        nbgrader: dict[str, Any] = cell["metadata"].get("nbgrader", {})
        if not nbgrader.get("locked"):
            yield json.dumps(cell["source"], ensure_ascii=False)
        yield json.dumps(_without_messages(cell.get("outputs", [])), ensure_ascii=False)
        yield json.dumps([cell.get("attachments", {}), cell["metadata"]])


def _without_messages(value: Any) -> Any:
    """Return a copy without what hidden cases say to the instructor: it names the value that was expected."""
    if isinstance(value, dict):
        return {k: _without_messages(v) for k, v in value.items() if k != "message" or value.get("hidden") is not True}
    return [_without_messages(item) for item in value] if isinstance(value, list | tuple) else value
