"""The mutants of a lab: its solution with one small change each, in a fixed order, none of them twice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import nbformat

from autograder.boundary.parsing import syntax_tree
from autograder.markers import clear
from autograder.notebook import metadata_of
from autograder.proof import array_rules, python_rules
from autograder.proof.late import LATE, done_late
from autograder.proof.sites import Function, Site, Solution, expressions, header

__all__ = ["RULES", "Mutant", "Task", "heads", "mutants_of", "tasks_of"]

_EXPRESSIONS = {**python_rules.EXPRESSIONS, **array_rules.EXPRESSIONS}
_STATEMENTS = {**python_rules.STATEMENTS, **array_rules.STATEMENTS}
RULES = frozenset(
    (
        *(*_EXPRESSIONS, *_STATEMENTS, LATE),
        *(*array_rules.DECORATORS, *array_rules.OF_METHODS, *array_rules.OF_ARGUMENTS),
    )
)
"""The kinds of change by their names."""
_PRELUDE = "from autograder.proof import fairly, unseen, wrongly\n"
_HEADING = re.compile(r"^#{2,4} ", re.MULTILINE)


@dataclass(frozen=True)
class Task:
    """A solution cell and what students read of it.

    Attributes:
        name: the cell's grade_id.
        text: the prose since the last test or solution.
    """

    name: str
    source: str
    text: str = ""

    @property
    def given(self) -> str:
        """The cell as students receive it."""
        return clear(self.source, "", partial("cell {!r}, line {}".format, self.name))


@dataclass(frozen=True)
class Mutant:
    """A task's solution with one change.

    Attributes:
        rule: the kind of change.
        function: where, "MLP.forward".
        before, after: the changed statement, or its first line, as `ast.unparse` writes it.
        changed: the source of the cell, without what the change imports.
    """

    task: str
    rule: str
    function: str
    before: str
    after: str
    changed: str

    @property
    def source(self) -> str:
        """The cell as it is run."""
        return _PRELUDE + self.changed if self.faulty else self.changed

    @property
    def faulty(self) -> bool:
        """Whether it calls what notes that it met something: `autograder.proof.wrongly`, `unseen` or `fairly`."""
        return any(f"{name}." in self.after for name in ("wrongly", "unseen", "fairly"))

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.task, self.function, self.before, self.after


def tasks_of(notebook: nbformat.NotebookNode) -> list[Task]:
    """Return the tasks in code of an instructor's notebook, in order."""
    found, prose = [], list[str]()
    for cell in notebook.cells:
        nbgrader = metadata_of(cell)
        if cell.cell_type == "markdown":
            prose = [cell.source] if _HEADING.search(cell.source) else [*prose, cell.source]
        elif nbgrader.get("solution") and not nbgrader.get("grade"):
            found.append(Task(nbgrader["grade_id"], cell.source, "\n\n".join(prose)))
    return found


def heads(task: Task) -> list[Function]:
    """Return the functions of a task that students are given the head of; others are an affair of the solution's."""
    names = {function.name for function in Solution(task.given).functions()}
    return [function for function in Solution(task.source).functions() if function.name in names]


def mutants_of(task: Task) -> list[Mutant]:
    """Return the mutants of a task's solution; none that compiles to what another does, or it."""
    solution = Solution(task.source)
    known = {_compiled(task.source)}
    found = []
    for mutant in _all(task, solution):
        code = _compiled(mutant.source)
        if code and code not in known:
            known.add(code)
            found.append(mutant)
    return found


def _all(task: Task, solution: Solution) -> Iterator[Mutant]:
    for function in solution.functions():
        yield from _decorated(task, solution, function)
        yield from _late(task, solution, function)
    for site in solution.sites():
        before = header(site.statement)
        for rule, after in _changes(site):
            if changed := solution.replaced(site.statement, after):
                yield Mutant(task.name, rule, site.function.name, before, after, changed)


def _decorated(task: Task, solution: Solution, function: Function) -> Iterator[Mutant]:
    tables = (array_rules.DECORATORS, array_rules.OF_METHODS if function.method else {})
    faults = [(rule, name) for table in tables for rule, names in table.items() for name in names]
    if not function.parameters:  # all its results are one and the same
        faults = [(rule, name) for rule, name in faults if rule != "result reused"]
    for rule, names in array_rules.OF_ARGUMENTS.items():
        faults += [(rule, f"{name}({arg!r})") for name in names for arg in function.parameters if arg != "self"]
    for rule, name in faults if function.node.name != "__init__" else []:
        changed = solution.decorated(function, name)
        yield Mutant(task.name, rule, function.name, f"def {function.name}", f"@{name}", changed)


def _late(task: Task, solution: Solution, function: Function) -> Iterator[Mutant]:
    own = [site.statement.lineno for site in solution.sites() if site.function.name == function.name]
    for statement, after in done_late(function.node):
        if {statement.lineno, after.lineno} <= set(own) and (changed := solution.moved(statement, after)):
            text = header(statement)
            yield Mutant(task.name, LATE, function.name, text, f"{text}  # after {header(after)}", changed)


def _changes(site: Site) -> Iterator[tuple[str, str]]:
    statement = site.statement
    for rule, change in _STATEMENTS.items():
        yield from ((rule, header(new)) for new in change(statement, site.function))
    for rule, replace in _EXPRESSIONS.items():  # loops and `+=`, which are statements
        yield from ((rule, header(new)) for new in replace(statement) if isinstance(new, ast.stmt))
    for node, put in expressions(statement):
        for rule, replace in _EXPRESSIONS.items():
            for new in replace(node):
                put(new)
                text = header(statement)
                put(node)
                yield rule, text


def _compiled(source: str) -> str:
    """Return what a cell compiles to, without where it stands; empty if it is no Python."""
    try:
        tree = syntax_tree(source)
        return repr(_essence(compile(tree, "<mutant>", "exec")))
    except (SyntaxError, ValueError):
        return ""


def _essence(code: object) -> object:
    constants = tuple(_essence(c) if hasattr(c, "co_code") else (type(c).__name__, repr(c)) for c in code.co_consts)  # type: ignore[attr-defined]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars  # type: ignore[attr-defined]
