"""What an instructor should know of a lab before its submissions are graded, and what is being prepared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress

from autograder.commands.common import stderr
from autograder.commands.table import plain
from autograder.course import Course, left_to_nbgrader
from autograder.errors import AutograderError, counted, in_one_line, listed
from autograder.execution import Executor
from autograder.files import write_whole
from autograder.grading.since import since_graded
from autograder.model import GradebookEntry
from autograder.records.removed import GONE, LEFT, removed

__all__ = [
    "lost_by_solution",
    "notes_on",
    "notes_on_changes",
    "notes_on_nbgrader",
    "notes_on_removed",
    "notes_on_scores",
    "nothing_graded",
    "preparing",
]

_HAND_OVER = "write into nbgrader_config.py: from autograder.course import hand_over; hand_over(c)"


@contextmanager
def preparing() -> Iterator[Callable[[str], None]]:
    """Give a function that says what is being prepared: in one line that moves on a terminal, else in a line each."""
    console = stderr()
    if not console.is_terminal:
        yield lambda line: console.print(plain(line), soft_wrap=True, markup=False)
        return
    with console.status("") as status:
        yield lambda line: status.update(plain(line).replace("[", r"\["))


def notes_on(course: Course, lab: str, *, keep: bool = True) -> Iterator[str]:
    """Yield which tests the source, changed after the release, holds otherwise; keep: note if there are none."""
    if changed := _unreleased(course, lab, keep=keep):
        named = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
        yield (
            f"{lab}: {named}: not as in the source, which was changed after the release;"
            f" to grade with the source's: autograder release {lab}"
        )


def notes_on_removed(course: Course, lab: str, students: Collection[str]) -> Iterator[str]:
    """Yield who of these comes back into the gradebook by being graded again."""
    if back := sorted(removed(course) & set(students) & set(course.submitters(lab))):
        known = f"{GONE}: {listed(back)}"
        yield f"{known}; taken in again, for there are files in {course.submitted(back[0], lab)}; {LEFT}"


def notes_on_nbgrader(course: Course) -> Iterator[str]:
    """Yield what nbgrader's own commands, and formgrader's icons, do in this course and should not."""
    if left := left_to_nbgrader(course.app.config):
        yield f"in this course nbgrader's {'; its '.join(left)}; to give both to the autograder {_HAND_OVER}"


def notes_on_scores(scores: Sequence[GradebookEntry]) -> Iterator[str]:
    """Yield what a person should know of these scores before they, or pages with them, go out."""
    for lab in sorted({score.lab for score in scores}):
        own = [score for score in scores if score.lab == lab]
        if waiting := [score.student for score in own if score.pending]:
            whose = counted(len(waiting), "student")
            yield f"{lab}: written answers of {whose} are still to be graded by hand: {listed(waiting)}"
        if again := [score.student for score in own if score.again]:
            whose = counted(len(again), "student")
            what = f"points by hand of {whose} are from before the answer, its test or its maximum was changed"
            yield f"{lab}: {what}: {listed(again)}"
        if above := [f"{s.student} ({s.score:g} of {s.max_score:g})" for s in own if s.score > s.max_score + 1e-9]:
            yield f"{lab}: more than 100 %: {listed(above)}"


def nothing_graded(where: str, lab: str = "LAB") -> str:
    """Return what is said in place of numbers where nothing has been graded, and what to run."""
    return f"{where}: nothing has been graded yet; autograder grade {lab}"


def notes_on_changes(course: Course, lab: str) -> Iterator[str]:
    """Yield whose score, or whose page, is not of what is there now."""
    found = since_graded(course, lab)
    for students, what in (
        (found.anew, "handed in anew since"),
        (found.failed, "graded before, but the last grading failed"),
        (found.never, "handed in, and not graded yet"),
        (found.tested, "graded with tests that have been changed since"),
    ):
        if students:
            yield f"{lab}: {counted(len(students), 'student')} {what}: {listed(students)}; autograder grade {lab}"
    if found.unread:
        whose = counted(len(found.unread), "student")
        what = f"what {whose} handed in could not be read, and nobody has looked at it (0 points by the grader)"
        yield f"{lab}: {what}: {listed(found.unread)}; ask for the file, or give points by hand in formgrader"


def lost_by_solution(course: Course, lab: str, executor: Executor, say: Callable[[str], None]) -> list[str]:
    """Return which tests the source's own solution fails, a line each reason; what is known of it is not run again.

    Of a lab whose source is ours; the trial of any other has found that out. A source that cannot be built or run says
    so when it is released.
    """
    from autograder.grading.solution import Solution  # with what builds a lab half as long to import as nbgrader
    from autograder.release.build import build

    folder = course.source(lab)
    if not (folder / "lab.toml").exists():
        return []
    try:
        solution = Solution(course, lab, build(folder).source_notebook, executor.gpu)
        if (lost := solution.found()) is None:
            say(f"{lab}: grading the source's own solution")
            lost = solution.lost(executor)
    except (AutograderError, OSError, ValueError) as error:
        return [f"its own solution was not graded: {in_one_line(error)}"]
    return lost


def _unreleased(course: Course, lab: str, *, keep: bool = True) -> list[str]:
    """Return the tests that the source holds otherwise; a source that held none is not read again until it changes."""
    folder, kept = course.source(lab), course.state / f"{lab}.source.txt"
    files = [*sorted(folder.glob("*.py")), *sorted(folder.glob("*.ipynb")), *sorted(folder.glob("*.toml"))]
    known = hashlib.sha256(repr(course.notebooks(lab)).encode())
    for path in files:
        known.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    key = known.hexdigest().encode()
    if kept.is_file() and kept.read_bytes() == key:
        return []
    from autograder.release.drift import unreleased

    if not (changed := unreleased(course, lab)) and keep:
        with suppress(OSError):  # a course that may only be read: then it is read again
            kept.parent.mkdir(exist_ok=True)
            write_whole(kept, key)
    return changed
