"""A whole course in a minute: lab 01 released, eight sample submissions handed in, graded, fed back."""

from __future__ import annotations

import copy
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import click
import nbformat
from rich.console import Console

from autograder.commands.common import command
from autograder.commands.feedback import feedback_lab
from autograder.commands.grade import grade_lab
from autograder.errors import CourseError
from autograder.notebook import metadata_of, read_notebook_text
from autograder.release.answers import blank_out, find_variants, put_answers
from autograder.release.build import build
from autograder.release.publish import IGNORE, release_labs

__all__ = ["CONFIG", "LAB", "demo", "handed_in", "make_course", "run_demo"]

LAB = "01_numpy_mlp"
_MISTAKES = {"mistake_no_mean": "softmax_sum_not_mean", "mistake_transposed": "linear_dx_not_transposed"}
_HALF = frozenset({"activate", "softmax-cross-entropy", "numeric-gradient", "linear"})
_ANSWER = "All hidden units start equal and get equal gradients, so they stay equal: the network acts as one unit."
CONFIG = f"""from autograder.course import hand_over

c = get_config()
hand_over(c)
c.CourseDirectory.course_id = "demo"
c.CourseDirectory.ignore = {IGNORE}
"""


@click.command(short_help="Grade eight sample submissions of lab 01.")
@click.option(
    "--course",
    "root",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Checkout of the kit; the current directory if not given.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=lambda: min(2, os.cpu_count() or 1),
    metavar="N",
    help="Submissions run side by side; as many as there are cores, up to 2, if not given.",
)
@command
def demo(root: Path, workers: int) -> None:
    """Build lab 01, hand in eight sample submissions, grade them in a sandbox and show the grades.

    Everything is made in build/demo, from scratch each time.

    \b
    Example:
      autograder demo
    """
    run_demo(root, workers=workers)


def run_demo(root: Path, *, workers: int) -> None:
    """Make build/demo below root, grade it, print the table and what to do next."""
    say = Console(stderr=True, highlight=False, soft_wrap=True)
    target = root.resolve() / "build" / "demo"
    say.print(f"1/4 release   {LAB}: students' notebook from its source")
    make_course(root / "solutions" / LAB, target)
    say.print(f"2/4 hand in   {len(list((target / 'submitted').iterdir()))} sample submissions")
    say.print(
        f"3/4 grade     each in a sandbox, {workers} side by side; one loops forever and is stopped by its time limit"
    )
    outcomes = grade_lab(target, LAB, (), workers=workers, force=False, as_json=False)
    pages = list(feedback_lab(target, LAB, ()))
    say.print(f"4/4 feedback  {len(pages)} pages")
    if any(not outcome.result.isolated for outcome in outcomes if outcome.result.cells):
        say.print("these results are marked as not sandboxed", style="yellow")
    shown = Path("build") / "demo"
    # An image has the commands on its PATH; a checkout's environment is not active.
    own = ".venv/bin/" if (root / ".venv").resolve() == Path(sys.prefix).resolve() else ""
    say.print(
        f"""
Next:
  read one feedback page      {shown}/feedback/half_done/{LAB}/{LAB}.html
  see what students receive   {"make lab" if own else f"labs/{LAB}/{LAB}.ipynb"}
  grade by hand               cd {shown} && {own and f"../../{own}"}jupyter lab   # menu Nbgrader, Formgrader
  export the grades           {own}autograder export --course {shown} --to grades.csv
  write a lab of your own     docs/instructors.md"""
    )


def make_course(source: Path, target: Path) -> None:
    """Make a fresh course directory with the lab released and every sample handed in."""
    if not (source / "lab.toml").exists():
        raise CourseError(f"{source}: no such lab", hint="run the demo in a checkout of the course")
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target / "source" / LAB, ignore=shutil.ignore_patterns("*.ipynb", "cards"))
    (target / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    list(release_labs(target, (LAB,)))
    for student, content in _samples(source).items():
        path = target / "submitted" / student / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)


def _samples(source: Path) -> dict[str, bytes]:
    """Return eight submissions by student: full marks, blank, half done, another way, two mistakes, a loop, rubbish."""
    release = build(source)
    released = read_notebook_text(release.files[f"{LAB}.ipynb"])
    solved = handed_in(release.source_notebook, released)
    wrong = {variant.name: variant for variant in find_variants(source, "wrong")}

    def changed(change: Callable[[nbformat.NotebookNode], object]) -> bytes:
        notebook = copy.deepcopy(solved)
        change(notebook)
        return str(nbformat.writes(notebook)).encode()

    def loop(notebook: nbformat.NotebookNode) -> None:
        cell = next(cell for cell in notebook.cells if cell.id == "numeric-gradient")
        cell.source = cell.source.replace("gradient[index] =", "while True: gradient[index] =")

    samples = {
        "another_way": changed(lambda nb: [put_answers(nb, right) for right in find_variants(source, "right")]),
        "blank": nbformat.writes(released).encode(),
        "endless_loop": changed(loop),
        "full_marks": changed(lambda nb: None),
        "half_done": changed(lambda nb: blank_out(nb, released, _HALF)),
    }
    samples |= {who: changed(lambda nb, f=file: put_answers(nb, wrong[f])) for who, file in _MISTAKES.items()}  # type: ignore[misc]
    return samples | {"unreadable": samples["full_marks"][:5000]}


def handed_in(source_notebook: bytes, released: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the released notebook with every task solved, as a student would have it."""
    solution = {cell.id: cell for cell in read_notebook_text(source_notebook).cells}
    notebook = copy.deepcopy(released)
    for cell in notebook.cells:
        if metadata_of(cell).get("solution"):
            lines = solution[cell.id].source.split("\n")
            written = cell.cell_type == "markdown"
            cell.source = _ANSWER if written else "\n".join(x for x in lines if not x.strip().startswith("### "))
    return notebook
