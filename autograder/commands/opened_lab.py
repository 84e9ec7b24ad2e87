"""A lab whose checks are tried on other answers than its own: what prove, fair and inputs begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from rich.progress import track

from autograder.commands.common import stderr
from autograder.course import Course
from autograder.errors import CourseError, counted, listed
from autograder.execution import preloads
from autograder.notebook import metadata_of, read_notebook
from autograder.proof import Mutant, Notes, Prepared, Task, Trial, tasks_of, try_all
from autograder.release.build import to_notebook
from autograder.release.source import read_source

__all__ = ["OpenedLab"]


@dataclass(frozen=True)
class OpenedLab:
    """The instructor's notebook of a lab, what to import before it, and how much memory it may use."""

    name: str
    folder: Path
    notebook: nbformat.NotebookNode
    modules: tuple[str, ...]
    memory_mib: int

    @classmethod
    def of(cls, course: Course, name: str) -> OpenedLab:
        """Return the lab of this name; raise CourseError if the course has none."""
        folder = course.source(name)
        if (folder / "lab.toml").is_file():
            source = read_source(folder)
            notebook, frameworks, memory_mib = to_notebook(source), source.lab.frameworks, source.lab.limits.memory_mib
        else:
            notebook, frameworks, memory_mib = _foreign(folder), (), 0
        for number, cell in enumerate(notebook.cells):
            cell.id = metadata_of(cell).get("grade_id") or cell.get("id") or f"cell-{number}"
        modules = preloads((cell.source for cell in notebook.cells if cell.cell_type == "code"), frameworks)
        return cls(name, folder, notebook, modules, memory_mib)

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """The tasks in code, by the grade_id of their cell, which is the cell's id as well."""
        return {task.name: task for task in tasks_of(self.notebook)}

    def chosen(self, names: Sequence[str]) -> list[Task]:
        """Return these tasks, or all; raise CourseError for a name that none has."""
        if unknown := [name for name in names if name not in self.tasks]:
            raise CourseError(f"{self.name}: no task {unknown[0]!r}", hint=f"known: {listed(list(self.tasks))}")
        if not self.tasks:
            raise CourseError(f"{self.name}: no task in code", hint="a task is a cell with nbgrader's solution: true")
        return [task for name, task in self.tasks.items() if name in names or not names]

    def prepare(self, environment: Mapping[str, str] | None = None) -> Prepared:
        """Start a process that has run the lab."""
        return Prepared(
            self.notebook,
            self.modules,
            memory_mib=self.memory_mib,
            threads=1,
            folder=self.folder,
            environment=environment,
        )

    def tried(self, mutants: Sequence[Mutant], called: str, notes: Path, jobs: int) -> list[Trial]:
        """Try these, with a bar if there is a terminal. called: what they are. notes: where it is written down."""
        cells = {name: name for name in self.tasks}
        found = try_all(self.prepare, cells, mutants, Notes(notes, self.notebook), jobs=jobs)
        return list(track(found, called, len(mutants), console=stderr(), disable=not stderr().is_terminal))


def _foreign(folder: Path) -> nbformat.NotebookNode:
    paths = sorted(folder.glob("*.ipynb"))
    if len(paths) != 1:
        raise CourseError(
            f"{folder}: {'no notebook' if not paths else counted(len(paths), 'notebook')} here",
            hint="a lab is a folder of the source directory with a lab.toml, or with one notebook",
        )
    return read_notebook(paths[0])
