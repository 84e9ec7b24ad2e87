"""What running a notebook leaves behind: outputs of the student's process, and apart from them the tests' reports."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import nbformat

__all__ = ["Case", "Execution", "Failure", "Report", "read_cases"]

Case = dict[str, Any]
"""One thing that a test checked: title, message, hint, more, error, sort, passed, hidden, essential, weight."""

_MAX_TEXT = 2000
_MAX_CASES = 1000
_MAX_SHOWN = 20_000
_MAX_TRACE = 20
_MAX_NAME = 200
_LINE = re.compile(r"line (\d{1,6}) of the test")


@dataclass(frozen=True)
class Failure:
    """Why a test did not reach its end: an exception's type name and message, and where it came from.

    Attributes:
        line: of the test that was running, 1-based; 0 if it is not known.
        ours: these are the grader's own words, with nothing of the test in them.
    """

    name: str
    value: str = ""
    trace: tuple[str, ...] = ()
    line: int = 0
    ours: bool = False


@dataclass(frozen=True)
class Report:
    """What the process that runs the tests said about one test cell, checked for its form.

    Attributes:
        grade_id: the cell that it is about.
        cases: those of a cell that reached its check.score; None if it did not.
        value: the cell's last value as text; None if it has none.
        printed: by the test, not by what it tests.
        problem: why nothing of it can be counted, in words.
        met: whether the test met an object of the student's that does not travel.
        valued: whether it met one whose class is derived from one of values, and adds to it, or hashed one; or the
            student's code asked an object of the test's for what it shows in one process only.
        altered: whether the student's code changed what the test had handed it, which was a copy.
        rewritten: whether it wrote to what it had returned, of which the test still had a copy.
        nothing: whether an array of no items came as a result of the student's.
        refused: whether the boundary raised an error that a test might expect of the student's code.
        written: whether the test wrote to what it had handed to the student's code, or was given by it.
        believed: what it has asked objects of the student's classes, whose answers nothing else says.
        asked: the names that it asked the student's process for.
        kept: the names of what it has bound, which the tests below find as it left them.
        differ: in the trial, data of locked cells that is another in the instructor's kernel.
        less: of that, what is less than there.
    """

    grade_id: str
    cases: tuple[Case, ...] | None = None
    value: str | None = None
    failure: Failure | None = None
    printed: str = ""
    problem: str = ""
    met: bool = False
    valued: bool = False
    altered: bool = False
    rewritten: bool = False
    nothing: bool = False
    refused: bool = False
    written: bool = False
    believed: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    differ: frozenset[str] = frozenset()
    less: frozenset[str] = frozenset()

    @classmethod
    def failed(cls, grade_id: str, name: str, value: str) -> Report:
        """Return the report of a test that the grader itself says has failed."""
        return cls(grade_id, failure=Failure(name, value, (f"{name}: {value}",), ours=True))

    @classmethod
    def read(cls, grade_id: str, answer: Mapping[str, Any], media_type: str) -> Report:
        """Return what the process answered; AttributeError, KeyError, TypeError or ValueError if it is not one."""
        printed = _text(answer["printed"], 4 * _MAX_SHOWN)
        flags = ("met", "valued", "altered", "rewritten", "nothing", "refused", "written")
        seen: dict[str, Any] = {name: answer[name] is True for name in flags}
        for names in ("believed", "asked", "kept", "differ", "less"):
            seen[names] = frozenset(_text(name, _MAX_NAME) for name in answer[names])
        report = cls(grade_id, printed=printed, **seen)
        if (error := answer["error"]) is not None:
            return replace(report, failure=_read_failure(error))
        bundle = answer["bundle"]
        if not isinstance(bundle, dict):
            raise TypeError("invalid bundle")
        value = _text(bundle["text/plain"], _MAX_SHOWN) if "text/plain" in bundle else None
        cases, problem = read_cases(bundle.get(media_type))
        return replace(report, cases=cases, value=value, problem=problem)


@dataclass(frozen=True)
class Execution:
    """An executed notebook.

    Attributes:
        complete: every cell that should run did.
        forged: test cells that ran in the student's kernel, and in which a check that must fail did not.
        isolated: test cells, by their grade_ids, whose reports alone say what they earned.
        reports: what these reported, by grade_id. They never lay in the notebook, where messages of the student's
            process are written; one that is not there earns nothing.
        starved: something was stopped by the clock though it computed: the machine may have been busy.
        late: something was stopped because its time was over.
        computed_s, waited_s: what it took, in seconds of the processor and by the clock.
    """

    notebook: nbformat.NotebookNode
    complete: bool
    problems: tuple[str, ...] = ()
    forged: tuple[str, ...] = ()
    isolated: frozenset[str] = frozenset()
    reports: Mapping[str, Report] = field(default_factory=dict)
    starved: bool = False
    late: bool = False
    computed_s: float = 0.0
    waited_s: float = 0.0


def read_cases(report: Any) -> tuple[tuple[Case, ...] | None, str]:
    """Return the cases of a report of labkit's, None if there is no report; and why it cannot be read, if it cannot."""
    if report is None:
        return None, ""
    try:
        found = report["cases"]
        if not isinstance(found, list) or len(found) > _MAX_CASES:
            raise TypeError("cases that are none")
        cases = tuple(map(_read_case, found))
        if math.fsum(case["weight"] for case in cases) == 0:
            raise ZeroDivisionError("no cases")
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        return None, f"the checks' report cannot be read ({type(error).__name__})"
    return cases, ""


def _read_failure(error: Any) -> Failure:
    trace = tuple(_text(line, _MAX_SHOWN) for line in error["trace"][:_MAX_TRACE])
    place = _LINE.fullmatch(trace[0]) if trace else None
    return Failure(
        _text(error["name"], 200), _text(error["value"], _MAX_SHOWN), trace, line=int(place[1]) if place else 0
    )


def _read_case(case: Any) -> Case:
    """Return one case, its texts cut to a readable length."""
    weight = float(case["weight"])
    if not 0 < weight < math.inf or not isinstance(case["passed"], bool):
        raise ValueError("weight or passed")
    texts = {key: str(case[key])[:_MAX_TEXT] for key in ("title", "message", "hint", "error")}
    texts |= {key: str(case.get(key, ""))[:_MAX_TEXT] for key in ("more", "sort")}  # not in a labkit from before
    flags = {"hidden": bool(case["hidden"]), "essential": bool(case.get("essential", False))}
    return {**texts, **flags, "passed": case["passed"], "weight": weight}


def _text(value: Any, longest: int) -> str:
    if not isinstance(value, str):
        raise TypeError("invalid text")
    return value[:longest]
