"""A course with a small lab to be attacked, and the notebooks that are handed in."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from autograder.model import Status
from autograder.release.publish import release_labs
from tests.redteam.lab import CONFIG, FAKES, SOLVED, SOURCE, TOML

__all__ = ["ALL", "CANARY", "FAKES", "HONEST", "LAB", "SOLVED", "Attack", "Oddity", "hand_in", "notebook", "red_course"]

LAB = "07_red"
HONEST, ALL = 4.0, 16.0
"""The points of the two tasks that every hostile notebook solves, and of all that are checked by code."""

CANARY = re.compile(r"canary[-_](?:hidden|secret|other|process|network)[-_]\w+|62348980185873")
"""What stands in hidden tests (their last number is an expected value), in the course's files and in others' work."""

_HONEST_PART = {"centre": SOLVED["centre"], "tally": SOLVED["tally"], "why": "I have no idea."}


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One hostile hand-in: an honest part that earns so many points, and what it does besides.

    Attributes:
        says: the technique, in one sentence.
        code: a cell of its own, below the two tasks that are solved and above those that are not.
        first: a cell of its own above all others.
        answers: what stands in the cells of tasks.
        change: alters the notebook's JSON in place.
        content: the file itself, where it is not made from the notebook.
        files: what is handed in beside the notebook.
        place: alters the folder that was handed in.
        forges: whether it earns points in a grader whose tests run in the student's process.
        spies: whether it shows hidden tests in such a grader.
    """

    says: str
    code: str = ""
    first: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    change: Callable[[dict[str, Any]], object] | None = None
    content: Callable[[str], bytes] | None = None
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    place: Callable[[Path], object] | None = None
    honest: float = HONEST
    status: tuple[Status, ...] = (Status.GRADED, Status.PARTLY_GRADED)
    forges: bool = False
    spies: bool = False
    isolated: bool = False
    """Whether it can only be held back where the sandbox isolates."""


@dataclass(frozen=True, kw_only=True)
class Oddity:
    """One unusual, right hand-in. `cells` are cells of its own, by the id of the cell that each stands above."""

    says: str
    answers: Mapping[str, str] = field(default_factory=dict)
    cells: Sequence[tuple[str, str]] = ()
    change: Callable[[dict[str, Any]], object] | None = None
    content: Callable[[str], bytes] | None = None
    files: Mapping[str, str | bytes] = field(default_factory=dict)


def red_course(root: Path) -> Path:
    """Make the course, released; secrets lie about in it, and nobody has handed in."""
    folder = root / "source" / LAB
    folder.mkdir(parents=True)
    (folder / "lab.toml").write_text(TOML)
    (folder / f"{LAB}.py").write_text(SOURCE.lstrip())
    (folder / "table.csv").write_text("1,2\n3,6\n")
    (root / "secret.txt").write_text("canary-secret-of_the_course\n")
    (root / "nbgrader_config.py").write_text(f"{CONFIG}# canary-secret-of_the_configuration\n")
    list(release_labs(root, (LAB,)))
    return root


def notebook(root: Path, hand: Attack | Oddity) -> str:
    """Return the text of the notebook that is handed in, if it is one."""
    raw = json.loads((root / "release" / LAB / f"{LAB}.ipynb").read_text())
    extra: list[tuple[str, str]]
    if isinstance(hand, Attack):
        answers, extra = {**_HONEST_PART, **hand.answers}, [("setup", hand.first), ("windows", hand.code)]
    else:
        answers, extra = {**SOLVED, **hand.answers}, list(hand.cells)
    for cell in raw["cells"]:
        cell["source"] = textwrap.dedent(answers.get(cell["id"], "".join(cell["source"]))).strip()
    for above, code in filter(lambda pair: pair[1].strip(), extra):
        number = next((n for n, cell in enumerate(raw["cells"]) if cell["id"] == above), len(raw["cells"]))
        raw["cells"].insert(number, _cell(code, f"own-{len(raw['cells'])}"))
    if hand.change:
        hand.change(raw)
    return json.dumps(raw, ensure_ascii=True)


def _cell(code: str, cell_id: str) -> dict[str, Any]:
    kind = "markdown" if code.startswith("[markdown]") else "code"
    source = textwrap.dedent(code.removeprefix("[markdown]")).strip()
    node = nbformat.v4.new_code_cell(source) if kind == "code" else nbformat.v4.new_markdown_cell(source)
    return {**node, "id": cell_id}


def hand_in(root: Path, student: str, hand: Attack | Oddity, places: Mapping[str, str]) -> None:
    """Put a hand-in into the course; `places` are what an attack is told about this machine, by its mark."""
    folder = root / "submitted" / student / LAB
    folder.mkdir(parents=True)
    text = notebook(root, hand)
    for mark, value in places.items():
        text = text.replace(mark, value)
    content = hand.content(text) if hand.content else text.encode()
    (folder / f"{LAB}.ipynb").write_bytes(content)
    for name, data in hand.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    if isinstance(hand, Attack) and hand.place:
        hand.place(folder)
