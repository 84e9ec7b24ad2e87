"""The class report for the instructor: one self-contained page about a lab, and the same numbers as data."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from autograder.model import CellScore, CellSpec, GradebookEntry, Result, Status

__all__ = ["MARK", "class_page", "class_statistics"]

MARK = '<meta name="generator" content="autograder report">'
"""Stands in every class report, so that no other file is taken for one."""

_TEMPLATE = Path(__file__).with_name("class_report.html")
_BINS = 10
_SLOWEST = 5
_CASES = 3


def class_statistics(
    lab: str,
    rows: Mapping[str, Sequence[CellSpec]],
    results: Mapping[str, Result],
    stored: Iterable[GradebookEntry],
    roster: Iterable[str],
    *,
    titles: Mapping[str, str] | None = None,
    alike: Iterable[Sequence[str]] = (),
) -> dict[str, Any]:
    """Return all numbers of the report. Scores and points are the gradebook's, with those given by hand.

    `results` are each student's last in the log, `titles` headings by notebook/grade_id, and `alike` groups of
    students whose answers are the same.
    """
    scores = {row.student: row for row in stored}
    students = sorted({*roster, *results, *scores})
    statuses = {s: results[s].status if s in results else Status.MISSING for s in students}
    most = math.fsum(row.points for cells in rows.values() for row in cells)
    ran = {student: result for student, result in results.items() if result.cells}
    return {
        "lab": lab,
        "title": (titles or {}).get("") or lab,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "max_score": most,
        "students": len(students),
        "statuses": {str(s): n for s in Status if (n := sum(own == s for own in statuses.values()))},
        "scores": _scores([row.score for row in scores.values()], most),
        "tasks": _tasks(rows, ran, scores, titles or {}),
        "to_grade": {
            "answers": sum(row.to_grade for row in scores.values()),
            "students": sum(row.to_grade > 0 for row in scores.values()),
        },
        "seconds": _seconds(ran.values()),
        "flagged": [
            {
                "student": s,
                "status": str(statuses[s]),
                "messages": [*results[s].messages, *results[s].notes] if s in results else [],
            }
            for s in students
            if statuses[s] != Status.GRADED
        ],
        "alike": [sorted(group) for group in alike],
        "not_isolated": sorted(s for s, result in ran.items() if not result.isolated),
    }


def _scores(scores: Sequence[float], most: float) -> dict[str, Any]:
    """Return the distribution of the scores; bins are as wide as a tenth of the points, above the maximum go last."""
    counts = [0] * _BINS
    for score in scores:
        counts[min(_BINS - 1, int(_BINS * score / most + 1e-9)) if most else 0] += 1
    bins = [
        {"from": round(most * n / _BINS, 4), "to": round(most * (n + 1) / _BINS, 4), "students": count}
        for n, count in enumerate(counts)
    ]
    if not scores:
        return {"count": 0, "bins": bins}
    quartiles = statistics.quantiles(scores, n=4, method="inclusive") if len(scores) > 1 else [scores[0]] * 3
    names = ("lower_quartile", "median", "upper_quartile")
    return {
        "count": len(scores),
        "mean": round(statistics.fmean(scores), 3),
        "standard_deviation": round(statistics.pstdev(scores), 3),
        "lowest": min(scores),
        "highest": max(scores),
        **{name: round(value, 3) for name, value in zip(names, quartiles, strict=True)},
        "bins": bins,
    }


# ------------------------------------------------------------------------------------------------------------ the tasks
def _tasks(
    rows: Mapping[str, Sequence[CellSpec]],
    ran: Mapping[str, Result],
    stored: Mapping[str, GradebookEntry],
    titles: Mapping[str, str],
) -> list[dict[str, Any]]:
    cells: defaultdict[str, list[tuple[str, CellScore]]] = defaultdict(list)
    for student, result in ran.items():
        for cell in result.cells:
            cells[f"{cell.notebook}/{cell.grade_id}"].append((student, cell))
    keys = {f"{name}/{row.grade_id}": row for name, own in rows.items() for row in own if row.grade or row.task}
    return [_task(row, key, cells[key], stored, titles) for key, row in keys.items()]


def _task(
    row: CellSpec,
    key: str,
    cells: Sequence[tuple[str, CellScore]],
    stored: Mapping[str, GradebookEntry],
    titles: Mapping[str, str],
) -> dict[str, Any]:
    kinds: Counter[str] = Counter()
    shares = []
    for student, cell in cells:
        own = stored.get(student)
        points = own.grades.get(key, cell.points) if own else cell.points
        pending = own is not None and key in own.pending
        kinds[_kind(cell, points or 0.0, row.points, pending=pending)] += 1
        if not pending and row.points:
            shares.append((points or 0.0) / row.points)
    return {
        "task": row.grade_id,
        "title": titles.get(key) or row.grade_id.removesuffix("-check").replace("-", " "),
        "max_points": row.points,
        "by_hand": not row.automatic,
        "graded": len(shares),
        "mean_share": round(statistics.fmean(shares), 4) if shares else None,
        "full_marks": kinds["full_marks"],
        "some_points": kinds["some_points"],
        "no_points": kinds["no_points"],
        "blank": kinds["blank"],
        "to_grade": kinds["to_grade"],
        "most_failed": _most_failed(cell for _, cell in cells),
    }


def _kind(cell: CellScore, points: float, most: float, *, pending: bool) -> str:
    if pending:
        return "to_grade"
    if points >= most:
        return "full_marks"
    if points > 0:
        return "some_points"
    return "blank" if _is_blank(cell) else "no_points"


def _is_blank(cell: CellScore) -> bool:
    """Whether it was never begun: the stub is still there, or the answer is."""
    unanswered = cell.points == 0 and not cell.cases and not cell.message
    return cell.not_begun or unanswered


def _most_failed(cells: Iterable[CellScore]) -> list[dict[str, Any]]:
    """Return the cases that fail most; a task that nobody has begun says nothing about its cases."""
    failed: Counter[tuple[str, bool]] = Counter()
    for cell in cells:
        if not _is_blank(cell):
            failed.update(dict.fromkeys((c["title"], bool(c["hidden"])) for c in cell.cases if not c["passed"]).keys())
    return [{"case": t, "hidden": hidden, "students": n} for (t, hidden), n in failed.most_common(_CASES)]


def _seconds(results: Iterable[Result]) -> dict[str, Any]:
    timed = sorted(((r.seconds, r.student) for r in results if r.seconds), reverse=True)
    if not timed:
        return {"total": 0.0, "slowest": []}
    return {
        "total": round(math.fsum(seconds for seconds, _ in timed), 2),
        "median": round(statistics.median(seconds for seconds, _ in timed), 2),
        "slowest": [{"student": student, "seconds": seconds} for seconds, student in timed[:_SLOWEST]],
    }


# ------------------------------------------------------------------------------------------------------------- the page
def class_page(found: Mapping[str, Any]) -> str:
    """Return the report as one HTML page: no script, nothing fetched, plots as SVG, to be printed too."""
    tallest = max((bin_["students"] for bin_ in found["scores"]["bins"]), default=0)
    step = _step(tallest)
    return _template().render(
        **found, top=max(step, step * math.ceil(tallest / step)), step=step, mark=MARK, kinds=_KINDS
    )


_KINDS = {
    "full_marks": "full marks",
    "some_points": "some points",
    "no_points": "no points",
    "blank": "not begun",
    "to_grade": "to be graded by hand",
}


def _step(tallest: int) -> int:
    """Return the distance of the lines behind the bars: 1, 2 or 5 times a power of ten, four lines or so."""
    wanted = max(1.0, tallest / 4)
    power = 10 ** math.floor(math.log10(wanted))
    return int(next(n * power for n in (1, 2, 5, 10) if n * power >= wanted))


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
