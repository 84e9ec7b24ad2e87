"""What the runs of the instructor's notebook have reported of its tests, for the trial to decide by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.execution.results import Report

__all__ = ["MET", "Heard", "asked_in"]

MET = "an object that does not travel"
"""Among what a test has asked, where it met one at all: what it asked of it may be nothing."""


@dataclass
class Heard:
    """Reports of the runs so far.

    Attributes:
        asked: the names that each test asked the notebook's process for, in the last run.
        met: the tests that met an object which does not travel, in the last run.
        drift: in the last run, data of locked cells that is another, and of that what is less, for each test.
        nothing: the tests in which a call returned what has no items, in any run.
        believed: what each test has asked objects of the solution's classes, in the last run of it, and MET.
    """

    asked: Mapping[str, frozenset[str]] = field(default_factory=dict)
    met: frozenset[str] = frozenset()
    drift: Mapping[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)
    nothing: set[str] = field(default_factory=set)
    believed: dict[str, frozenset[str]] = field(default_factory=dict)

    def hear(self, reports: Mapping[str, Report]) -> None:
        """Take the reports of one more run."""
        self.asked = asked_in(reports)
        self.met = frozenset(name for name, report in reports.items() if report.met)
        self.drift = {name: (report.differ, report.less) for name, report in reports.items() if report.differ}
        self.nothing |= {name for name, report in reports.items() if report.nothing}
        self.believed |= {name: report.believed | ({MET} if report.met else set()) for name, report in reports.items()}


def asked_in(reports: Mapping[str, Report]) -> dict[str, frozenset[str]]:
    """Return the names that each test asked the notebook's process for."""
    return {name: report.asked for name, report in reports.items()}
