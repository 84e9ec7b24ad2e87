"""Grades the submissions of a lab: read, run, store; nobody's trouble stops the others."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from autograder.course import Course, one_transaction, refuse_excluded
from autograder.errors import CourseError
from autograder.execution import Executor
from autograder.grading.attempt import Attempt
from autograder.grading.by_hand import GivenBefore
from autograder.grading.failure import explain
from autograder.grading.grade_one import prepare
from autograder.grading.lock import only_run
from autograder.grading.outcome import Outcome, outcome_of
from autograder.grading.penalties import Penalties
from autograder.grading.since import ANEW, NEVER, changed_since, unlogged
from autograder.grading.staging import Staging
from autograder.grading.workers import Runner, Threads, result_of
from autograder.model import GradebookEntry, Result, Status
from autograder.records.fingerprint import hash_of_files, hashes
from autograder.records.log import Basis, Entry, Log
from autograder.records.verify import basis
from autograder.records.versions import remember
from autograder.submission.handin import Handin, read_handin

__all__ = ["Grading"]


class Grading:
    """The grading of one lab of one course.

    While a submission is being stored its notebooks stand in a staging folder; the folder goes when all of it is in
    the gradebook, in autograded/ and in the log. One that is still there tells the next run that this run was killed.
    """

    def __init__(
        self, course: Course, lab: str, executor: Executor, say: Callable[[str], None] = lambda _line: None
    ) -> None:
        """say: is told what is prepared and takes long."""
        self.course = course
        self.lab = lab
        self.executor = executor
        self.setup = prepare(course, lab, executor, say)
        self.log = Log(course.state / f"{lab}.jsonl")
        self._staging = Staging(course, lab)
        self._done: Mapping[str, Result] = {}
        self._stored: Mapping[str, GradebookEntry] = {}
        self._lines: Mapping[str, Entry] | None = None
        self._penalties: Penalties | None = None
        self._unlogged = ""

    def students(self, only: Sequence[str] = ()) -> list[str]:
        """Return who is to be graded: everybody who handed in and everybody on the roster, or `only` these."""
        refuse_excluded(only, self.course.excluded)
        submitters = self.course.submitters(self.lab)
        everybody = sorted({*submitters, *self.course.roster()})
        if unknown := sorted(set(only) - set(everybody)):
            raise CourseError(
                f"{unknown[0]}: no such student: nothing of theirs in {self.course.submitted(unknown[0], self.lab)}",
                hint=f"handed in for {self.lab}: {len(submitters)}",
            )
        return sorted(set(only)) or everybody

    def run(
        self, students: Sequence[str], *, workers: int = 1, force: bool = False, runner: Runner | None = None
    ) -> Generator[Outcome]:
        """Yield an outcome for each student as it is stored; a runner executes, only this thread writes.

        workers: how many submissions are run side by side on this machine, if no runner is given. Close the iterator to
        stop: kernels are killed, what was yielded is stored.
        """
        with only_run(self.course):
            remember(self.course, self.lab, self.setup.texts)
            self._look_up(force=force)
            runner = runner or Threads(self.setup, workers)
            try:
                yield from self._run(students, runner)
            except BaseException:
                runner.stop()
                raise
            finally:
                runner.close()

    def plan(self, students: Sequence[str], *, force: bool = False) -> Iterator[tuple[str, str]]:
        """Yield each student and what `run` would do with them."""
        self._look_up(force=False)
        for student in students:
            try:
                yield student, self._planned(self._read(student), force=force)
            except Exception as error:  # one student's files, as in _start
                yield student, f"would fail: {explain(error)}"

    def _planned(self, handin: Handin, *, force: bool) -> str:
        student = handin.student
        if handin.empty:
            return "nothing handed in"
        if why := self._why(handin) or ("--force" if force else ""):
            return f"would be graded: {why}"
        if self._penalties and self._penalties.changed(self._done[student], self._stored[student]):
            return "unchanged, not run again; the penalty for being late would be applied again"
        return "unchanged"

    def has_to_run(self, students: Sequence[str], *, force: bool = False) -> bool:
        """Whether a submission of one of these has to be run: whatever is not as it was when it was graded."""
        self._look_up(force=force)
        for student in students:
            with suppress(Exception):  # `run` says so
                handin = self._read(student)
                if not handin.empty and self._earlier(handin) is None:
                    return True
        return False

    def _look_up(self, *, force: bool) -> None:
        self._done = {} if force else self.log.latest()
        self._lines, self._unlogged = None, ""
        self._stored = {stored.student: stored for stored in self.course.scores(self.lab)}
        self._penalties = Penalties(self.course, self.lab, self.log) if self._done else None

    def _run(self, students: Sequence[str], runner: Runner) -> Iterator[Outcome]:
        waiting = list(reversed(students))
        pending: dict[Future[Attempt], Handin] = {}
        done: list[tuple[Handin, Attempt | Exception]] = []
        again: list[tuple[Handin, str]] = []
        while waiting or pending:
            while waiting and len(pending) < runner.at_once:
                started = self._start(waiting.pop())
                if isinstance(started, Outcome):
                    yield started
                else:
                    pending[runner.submit(started)] = started
            # Stored only now: meanwhile the next ones run.
            yield from self._store_all(done)
            finished = wait(pending, return_when=FIRST_COMPLETED).done
            done = []
            for future in finished:
                handin, found = pending.pop(future), result_of(future)
                if isinstance(found, Attempt) and found.crowded:
                    again.append((handin, found.crowded))
                else:
                    done.append((handin, found))
        yield from self._store_all(done)
        for handin, why in again:
            found = result_of(runner.submit(handin))
            if isinstance(found, Attempt):
                found.messages.append(why)
            yield from self._store_all([(handin, found)])

    def _store_all(self, done: Sequence[tuple[Handin, Attempt | Exception]]) -> Iterator[Outcome]:
        for handin, found in done:
            yield self._store(handin, found if isinstance(found, Attempt) else Attempt(handin, failure=explain(found)))

    def _start(self, student: str) -> Outcome | Handin:
        """Return what is to be run, or the outcome if nothing is."""
        try:
            student.encode()
            handin = self._read(student)
            if handin.empty:
                return self._missing(handin)
            if (earlier := self._earlier(handin)) is None:
                return handin
            return self._still_late(earlier)
        except UnicodeEncodeError:
            shown = student.encode("utf-8", "backslashreplace").decode()
            return self._failed(shown, "the name of this folder is not UTF-8; rename it")
        except Exception as error:  # whatever one student's files are, the others are graded
            return self._failed(student, explain(error))

    # ---------------------------------------------------------------------------------------------------- one student
    def _read(self, student: str) -> Handin:
        handin = read_handin(self.course, self.lab, self.setup.rows, student)
        return replace(handin, fingerprint=self.setup.fingerprint(handin))

    def _earlier(self, handin: Handin) -> Outcome | None:
        """Return the outcome of an earlier run if nothing has changed since, and everything of it was stored."""
        if self._why(handin):
            return None
        return outcome_of(self._done[handin.student], self._stored[handin.student], unchanged=True)

    def _why(self, handin: Handin) -> str:
        """Return why a submission is to be run; empty if it is not."""
        student, folder = handin.student, self.course.autograded(handin.student, self.lab)
        earlier, stored = self._done.get(student), self._stored.get(student)
        if self._staging.of(student).exists():
            return "the last run was stopped while it was stored"
        if earlier and earlier.status == Status.FAILED:
            return "the last run failed"
        if earlier is None or earlier.status == Status.MISSING:
            self._unlogged = self._unlogged or unlogged(self.log)
            return (ANEW if earlier else self._unlogged) if stored else NEVER
        if stored is None:
            return "the gradebook has no grade of it any more"
        if not all((folder / f"{name}.ipynb").is_file() for name in self.setup.rows):
            return f"its graded copy in {folder} is gone"
        if earlier.fingerprint == handin.fingerprint:
            return ""
        return changed_since(earlier, self._basis(student), hash_of_files(handin.content()), self.setup.rows)

    def _still_late(self, earlier: Outcome) -> Outcome:
        """Return the outcome with the penalty that it has today; nothing is run for that."""
        stored = self._stored[earlier.result.student]
        if not self._penalties or not (found := self._penalties.apply(earlier.result, stored)):
            return earlier
        return outcome_of(*found, unchanged=True, before=stored)

    def _missing(self, handin: Handin) -> Outcome:
        wanted = ", ".join(f"{name}.ipynb" for name in self.setup.rows)
        message = f"no {wanted}"
        if handin.others:
            message += f"; there is {', '.join(handin.others[:3])}: was it renamed?"
        stored = self._stored.get(handin.student)
        if stored and not handin.others:
            message += " any more"
        if stored:
            message += f"; {stored.kept}"
        result = self._result(handin.student, Status.MISSING, message)
        if (earlier := self._done.get(handin.student)) is None or earlier.status != Status.MISSING:
            self.log.append(result)
        return outcome_of(result, stored) if stored else Outcome(result)

    def _failed(self, student: str, why: str, *messages: str) -> Outcome:
        stored = self._stored.get(student)
        kept = f"; {stored.kept}" if stored else ""
        result = self._result(student, Status.FAILED, why + kept, *messages)
        self.log.append(result)
        return outcome_of(result, stored) if stored else Outcome(result, stored=False)

    def _result(self, student: str, status: Status, *messages: str) -> Result:
        return Result(
            student=student,
            lab=self.lab,
            status=status,
            max_score=self.setup.max_score,
            messages=messages,
            sandbox=self.executor.sandbox.walls or self.executor.sandbox.name,
            isolated=self.executor.sandbox.isolated,
            tests=str(self.setup.modes),
            graded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    # ---------------------------------------------------------------------------------------------------------- store
    def _store(self, handin: Handin, done: Attempt) -> Outcome:
        if done.failure:
            return self._failed(handin.student, done.failure, *done.messages)
        student, rows = handin.student, self.setup.rows
        try:
            staged = self._staging.lay_out(handin, done)
            content = hash_of_files(handin.content())
            with self._staging.replacing(student) as before, one_transaction(self.course):
                whose, then = (self.course, self.lab, student, rows), partial(self._line, student)
                by_hand = GivenBefore.of(*whose, before, then, content) if student in self._stored else None
                self.course.record(student, self.lab, staged, gone=self._gone(handin))
                self.course.give_nothing(self.lab, student, done.worthless(rows), done.waiting(rows))
                if by_hand is not None:
                    done.notes += by_hand.settle(*whose, done.notebooks)
                stored = self.course.score(student, self.lab)
                known = basis(self.course, self.lab, student, rows, content)
        except Exception as error:  # whatever one submission makes nbgrader or nbformat stumble over
            self._staging.clear(student)
            return self._failed(student, explain(error))
        result = replace(
            self._result(student, done.status, *done.messages),
            seconds=round(done.seconds, 2),
            notes=tuple(done.notes),
            cells=tuple(done.cells),
            fingerprint=handin.fingerprint,
            sandbox=done.sandbox,
            isolated=done.isolated,
            notebooks=hashes(self.course.autograded(student, self.lab), done.notebooks),
        )
        outcome = outcome_of(result, stored, before=self._stored.get(student))
        self.log.append(outcome.result, known)
        self._staging.clear(student)
        return outcome

    def _gone(self, handin: Handin) -> str:
        """Return when an earlier submission was handed in by a timestamp.txt that is no longer there; empty if none."""
        stored = self._stored.get(handin.student)
        if handin.timestamp or stored is None or not stored.handed_in:
            return ""
        return self._basis(handin.student).handed_in

    def _basis(self, student: str) -> Basis:
        """Return what this student's last stored result was derived from, as the log says; nothing if there is none."""
        line = self._line(student)
        return (line and line.basis) or Basis()

    def _line(self, student: str) -> Entry | None:
        """Return the log's line of this student's last stored result."""
        if self._lines is None:
            self._lines = self.log.graded()
        return self._lines.get(student)
