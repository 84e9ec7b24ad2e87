"""Several answers of a lab in one run: those of which no check that one fails can see what another changes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

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

    def goes_with(self, other: Answer) -> bool:
        """Return whether each fails the same checks beside the other: none of them sees both."""
        apart = not self.changed & other.changed
        return apart and not (self.seen & set(other.variant.fails) or other.seen & set(self.variant.fails))


def answer_of(whole: nbformat.NotebookNode, variant: Variant) -> Answer:
    """Return the answer with what it changes in the instructor's notebook."""
    notebook = put_answers(copy.deepcopy(whole), variant)
    code = {cell.id: cell.source for cell in notebook.cells if _runs(cell)}
    changed = {cell.id for cell, own in zip(notebook.cells, whole.cells, strict=True) if cell.source != own.source}
    return Answer(variant, frozenset(changed), reached(code, changed, tests_of(notebook)))


def groups(answers: Sequence[Answer]) -> list[list[Answer]]:
    """Return the answers in as few groups as is easily found, in each of which everyone goes with everyone."""
    found: list[list[Answer]] = []
    for answer in sorted(answers, key=lambda answer: -len(answer.seen)):
        group = next((group for group in found if all(answer.goes_with(other) for other in group)), None)
        if group is None:
            found.append([answer])
        else:
            group.append(answer)
    return found


def notebook_of(whole: nbformat.NotebookNode, group: Sequence[Answer]) -> nbformat.NotebookNode:
    """Return the notebook with all of their answers, in which tests that see none of them are empty."""
    notebook = copy.deepcopy(whole)
    for answer in group:
        put_answers(notebook, answer.variant)
    unseen = tests_of(notebook).difference(*(answer.seen for answer in group))
    for cell in notebook.cells:
        if cell.id in unseen:
            cell.source = ""
    return notebook


def tests_of(notebook: nbformat.NotebookNode) -> set[str]:
    """Return the ids of the test cells."""
    return {cell.id for cell in notebook.cells if _runs(cell) and metadata_of(cell).get("grade")}


def _runs(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and not cell.metadata.get("labkit", {}).get("explore")
