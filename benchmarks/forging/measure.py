"""Plays forgers against the watch, and counts those that earn and are not noticed."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import nbformat

from autograder.execution.canary import watched
from autograder.execution.results import Execution
from autograder.markers import strip_hidden
from autograder.protocol import MIME
from benchmarks.forging.cells import CELLS, TestCell
from benchmarks.forging.forgers import FAMILIES, Sight, Trusts
from benchmarks.forging.kernel import checks, run
from labkit import check

__all__ = ["Tally", "attempt", "false_alarms", "play"]


@dataclass(frozen=True)
class Tally:
    """How a family of forgers fared in one cell.

    Attributes:
        real: attempts that would earn points if nobody watched.
        through: of these, those that were not noticed.
    """

    family: str
    cell: str
    attempts: int
    real: int
    through: int


def play(attempts: int, seed: int, cells: Sequence[str] = (), families: Sequence[str] = ()) -> Iterator[Tally]:
    """Yield the tally of each family in each cell; a forger is drawn again for each attempt."""
    rng = random.Random(seed)
    for family in families or FAMILIES:
        for name in cells or CELLS:
            found = [attempt(CELLS[name], FAMILIES[family](rng)) for _ in range(attempts)]
            yield Tally(family, name, attempts, sum(real for real, _ in found), sum(through for _, through in found))


def attempt(cell: TestCell, trusts: Trusts) -> tuple[bool, bool]:
    """Return whether this forger earns more than a table of the visible answers would, and is not noticed either."""
    order: list[str] = []
    true: list[Any] = []

    def kernel(notebook: nbformat.NotebookNode) -> Execution:
        order.append(notebook.cells[0].source)
        execution = _executed(notebook, lambda source: _forged_run(cell, source, trusts, first=len(order) == 1))
        if order[-1] == cell.source:
            true.extend(notebook.cells[0].outputs)
        return execution

    execution = watched(kernel, _notebook(cell), {"test"})
    fair = _earned(_forged_run(cell, cell.source, _known_text, first=True), cell.points)
    real = _earned(true, cell.points) > fair
    return real, real and not execution.forged


def _known_text(node: ast.stmt, sight: Sight) -> bool:
    return ast.unparse(node) in sight.released


def false_alarms(cells: Iterable[str], repeats: int, *, wrong: bool = False) -> int:
    """Return how often somebody who forges nothing is taken for a forger."""
    found = 0
    for name in cells:
        cell = CELLS[name]
        answer = cell.wrong if wrong else cell.right
        for _ in range(repeats):
            execution = watched(
                lambda book, c=cell, a=answer: _executed(book, lambda source: _plain_run(c, a, source)),  # type: ignore[misc]
                _notebook(cell),
                {"test"},
            )
            found += bool(execution.forged)
    return found


# ------------------------------------------------------------------------------------------------------------ one run
def _notebook(cell: TestCell) -> nbformat.NotebookNode:
    about = {"nbgrader": {"grade_id": "test", "grade": True, "points": cell.points}}
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.source, metadata=about)])


def _executed(notebook: nbformat.NotebookNode, outputs: Any) -> Execution:
    for cell in notebook.cells:
        cell.outputs = outputs(cell.source)
    return Execution(notebook, complete=True)


def _names(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(code, names)
    return names


def _plain_run(cell: TestCell, answer: str, source: str) -> Any:
    check.begin()
    return run(source, _names(answer))


def _forged_run(cell: TestCell, source: str, trusts: Trusts, *, first: bool) -> Any:
    tree = ast.parse(source)
    released = {ast.unparse(node) for node in checks(ast.parse(strip_hidden(cell.source)))}
    sight = Sight(tree, released, _known(cell, source), first, cell.points)
    left_out = {ast.unparse(node) for node in checks(tree) if trusts(node, sight)}
    check.begin()
    strip = _Strip(left_out)
    return run(source, _names(cell.wrong), strip.of, lambda value: _shown(value, sight, trusts))


def _known(cell: TestCell, source: str) -> dict[str, Any]:
    """Return the names after a right answer to the cell: who forges may know what comes out, if not exactly."""
    names = _names(cell.right)
    check.begin()
    run(source, names)
    return names


def _shown(value: Any, sight: Sight, trusts: Trusts) -> Any:
    """Show full points for a value that is taken for the points earned."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    asked = ast.parse(f"assert {value!r}").body[0]
    sight.tree.body.append(asked)
    trusted = trusts(asked, sight)
    return type(value)(sight.points) if trusted else value


class _Strip(ast.NodeTransformer):
    def __init__(self, left_out: set[str]) -> None:
        self._left_out = left_out

    def of(self, tree: ast.Module, _: dict[str, Any]) -> ast.Module:
        """Return the program without these statements."""
        self.visit(tree)
        return tree

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt) and ast.unparse(node) in self._left_out:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


def _earned(outputs: Any, points: float) -> float:
    if any(output.output_type == "error" for output in outputs):
        return 0.0
    if not outputs:
        return points
    data = outputs[-1].data
    if MIME in data:
        cases = data[MIME]["cases"]
        return float(points * sum(case["passed"] for case in cases) / len(cases))
    try:
        return float(data["text/plain"])
    except ValueError:
        return points
