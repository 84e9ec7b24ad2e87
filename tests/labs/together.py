"""Several answers of a lab in one run: those of which no check that one fails can see what another changes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import nbformat

from autograder.notebook import metadata_of
from autograder.proof import reached
from autograder.release.answers import Variant, put_answers

__all__ = ["Answer", "answer_of", "groups", "notebook_of"]


@dataclass(frozen=True)
class Answer:
    """An answer, the cells that it changes, and all that see a change, the tests among them."""

    variant: Variant
    changed: frozenset[str]
    seen: frozenset[str]


def answer_of(whole: nbformat.NotebookNode, variant: Variant) -> Answer:
    """Return the answer with what it changes in the instructor's notebook."""
    notebook = put_answers(copy.deepcopy(whole), variant)
    changed = {cell.id for cell, own in zip(notebook.cells, whole.cells, strict=True) if cell.source != own.source}
    return Answer(variant, frozenset(changed), reached(_code(notebook), changed, _tests(notebook)))


def groups(whole: nbformat.NotebookNode, answers: Sequence[Answer]) -> list[list[Answer]]:
    """Return the answers in as few groups as is easily found, in each of which every one fails what it does alone."""
    found: list[list[Answer]] = []
    for answer in sorted(answers, key=lambda answer: -len(answer.seen)):
        group = next((group for group in found if _go_together(whole, [*group, answer])), None)
        if group is None:
            found.append([answer])
        else:
            group.append(answer)
    return found


def _go_together(whole: nbformat.NotebookNode, group: Sequence[Answer]) -> bool:
    """Return whether they change different cells, and no check that one fails sees, in all their code, another."""
    if sum(len(answer.changed) for answer in group) > len(frozenset().union(*(answer.changed for answer in group))):
        return False
    notebook = _with_all(whole, group)
    code, tests = _code(notebook), _tests(notebook)
    seen = {answer.variant: reached(code, answer.changed, tests) for answer in group}
    return not any(seen[one.variant] & set(other.variant.fails) for one, other in permutations(group, 2))


def notebook_of(whole: nbformat.NotebookNode, group: Sequence[Answer]) -> nbformat.NotebookNode:
    """Return the notebook with all of their answers, in which tests that see none of them are empty."""
    notebook = _with_all(whole, group)
    unseen = _tests(notebook).difference(*(answer.seen for answer in group))
    for cell in notebook.cells:
        if cell.id in unseen:
            cell.source = ""
    return notebook


def _with_all(whole: nbformat.NotebookNode, group: Sequence[Answer]) -> nbformat.NotebookNode:
    notebook = copy.deepcopy(whole)
    for answer in group:
        put_answers(notebook, answer.variant)
    return notebook


def _code(notebook: nbformat.NotebookNode) -> dict[str, str]:
    return {cell.id: cell.source for cell in notebook.cells if _runs(cell)}


def _tests(notebook: nbformat.NotebookNode) -> set[str]:
    return {cell.id for cell in notebook.cells if _runs(cell) and metadata_of(cell).get("grade")}


def _runs(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and not cell.metadata.get("labkit", {}).get("explore")
