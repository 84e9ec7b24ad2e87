"""What a pre-warmed process imports, so that no submission of a lab has to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.util import find_spec

import nbformat

from autograder.errors import CourseError

__all__ = ["RANKS", "has_collectives", "preloads"]

RANKS = "torch.distributed"
"""What a lab imports whose processes talk with each other."""

_ALWAYS = ("numpy", "labkit.check", "autograder.boundary.student", "autograder.boundary.cells")
_KNOWN = ("matplotlib", "scipy", "pandas", "sklearn", "torch", "tensorflow", "keras")
_IMPORT = re.compile(r"^\s*(?:import|from)\s+(.+)$", re.MULTILINE)
_LAUNCH = re.compile(r"(?<![.\w])(?:launch|in_fresh_process)\(")
_RANKS = re.compile(r"(?<![.\w])launch\(|\btorch\.distributed\b|^\s*from torch import .*\bdistributed\b", re.MULTILINE)
_APART = re.compile(r"collective|\bonly_compute\b")
_NAME = re.compile(r"[A-Za-z_]+")


def has_collectives(notebook: nbformat.NotebookNode) -> bool:
    """Whether tests of a notebook may call for processes that the student's does not start: a cell names how."""
    return any(cell.cell_type == "code" and _APART.search(cell.source) for cell in notebook.cells)


def preloads(sources: Iterable[str], frameworks: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the modules to import before the first submission: what the grader needs, and frameworks that are used.

    sources: code of the lab's cells. Keras reads its backend when it is imported: where a notebook chooses one, only
    the backends are imported here. Where functions are launched in other processes, those are forked off this one too;
    RANKS is among the modules where these talk with each other. Raises CourseError if one of `frameworks` is not
    installed: everybody would be marked down.
    """
    sources, frameworks = list(sources), list(frameworks)
    if missing := [name for name in frameworks if not find_spec(name)]:
        raise CourseError(
            f"lab.toml: the lab needs {', '.join(missing)}, which this environment does not have",
            hint="pip install 'dl-scale-practicum[labs]'",
        )
    named = {name for text in sources for line in _IMPORT.findall(text) for name in _NAME.findall(line)}
    wanted = [name for name in _KNOWN if name in named | set(frameworks) and find_spec(name)]
    if any("KERAS_BACKEND" in text for text in sources) and "keras" in wanted:
        wanted.remove("keras")
    if any(_LAUNCH.search(text) for text in sources):
        wanted += ["torch"] if "torch" not in wanted and find_spec("torch") else []
        wanted.append("labkit._launch.prefork")
    if any(_RANKS.search(text) for text in sources) and "torch" in wanted:
        wanted.append(RANKS)
    if any(_APART.search(text) for text in sources):
        wanted.append("autograder.boundary.kept_libraries")
    return (*_ALWAYS, *wanted)
