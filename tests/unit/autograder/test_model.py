"""lab.toml is read or refused by name, and results survive JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import SourceError
from autograder.model import CellScore, CellSpec, Lab, Limits, Result, Status

GOOD = 'title = "T"\nquestion = "Q?"\nhours = 1.5\npoints = 20\n'


def lab(folder: Path, text: str) -> Lab:
    (folder / "lab.toml").write_text(text, encoding="utf-8")
    return Lab.read(folder)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(SourceError) as caught:
        lab(folder, text)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_lab_has_defaults_for_what_it_does_not_say(tmp_path: Path) -> None:
    found = lab(tmp_path, GOOD)
    assert (found.name, found.title, found.hours, found.points) == (tmp_path.name, "T", 1.5, 20)
    assert (found.limits, found.datasets, found.frameworks) == (Limits(), (), ())


def test_a_lab_says_what_it_needs(tmp_path: Path) -> None:
    text = GOOD + 'datasets = ["digits"]\nframeworks = ["torch"]\n[limits]\ncell_time_s = 5\nmemory_mib = 100\n'
    found = lab(tmp_path, text)
    assert (found.datasets, found.frameworks) == (("digits",), ("torch",))
    assert found.limits == Limits(cell_time_s=5, memory_mib=100)


def test_the_example_in_the_docs_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/instructors.md").read_text(encoding="utf-8")
    found = lab(tmp_path, page.partition("```toml\n")[2].partition("```")[0])
    assert (found.hours, found.points, found.frameworks) == (4, 20, ("torch",))
    assert found.limits == Limits()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (GOOD.replace("points = 20", ""), "lab.toml: points is missing\nhint: write it: points = ..."),
        (
            'title = "T"',
            "lab.toml: question, hours, points are missing\nhint: write them: question = ..., hours = ..., points =",
        ),
        (GOOD.replace('"T"', "3"), "lab.toml: title = 3\nhint: title is a text"),
        (GOOD.replace('"T"', '"  "'), "lab.toml: title = '  '"),
        (GOOD.replace("1.5", "true"), "lab.toml: hours = True\nhint: hours is a positive number"),
        (GOOD.replace("20", '"20"'), "lab.toml: points = '20'\nhint: points is a positive number"),
        (GOOD.replace("20", "0"), "lab.toml: points = 0"),
        (GOOD.replace("20", "-1"), "lab.toml: points = -1"),
        (GOOD.replace("20", "nan"), "lab.toml: points = nan"),
        (GOOD.replace("20", "inf"), "lab.toml: points = inf"),
        (GOOD + 'datasets = "digits"', "lab.toml: datasets = 'digits'\nhint: datasets is a list of texts"),
        (GOOD + "frameworks = [1]", "lab.toml: frameworks = [1]"),
        (GOOD + 'titel = "x"', "lab.toml: unknown key 'titel'\nhint: known: title, question, hours, points, limits"),
        (GOOD + 'name = "x"', "lab.toml: unknown key 'name'"),
        (GOOD + "limits = 3", "lab.toml: limits is no table\nhint: write [limits] above its keys"),
        (
            GOOD + "[limits]\ncell_times = 3",
            "lab.toml: unknown key 'cell_times'\nhint: known: cell_time_s, total_time_s",
        ),
        (
            GOOD + "[limits]\nmemory_mib = 1.5",
            "lab.toml: memory_mib = 1.5\nhint: memory_mib is a positive integer",
        ),
        (GOOD + "[limits]\ncell_time_s = 0", "lab.toml: cell_time_s = 0"),
        ("title = ", "lab.toml: Invalid value"),
    ],
)
def test_a_key_that_is_wrong_is_named(tmp_path: Path, text: str, error: str) -> None:
    assert refused(tmp_path, text).startswith(error)


def test_a_lab_toml_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"lab\.toml: missing\nhint: every lab has a lab.toml"):
        Lab.read(tmp_path)
    (tmp_path / "lab.toml").write_bytes(b"\xff")
    with pytest.raises(SourceError, match=r"lab\.toml: 'utf-8' codec can't decode"):
        Lab.read(tmp_path)


CASES = st.fixed_dictionaries({"title": st.text(), "passed": st.booleans(), "weight": st.floats(0.1, 9)})
CELLS = st.builds(
    CellScore,
    notebook=st.text(),
    grade_id=st.text(),
    points=st.none() | st.floats(0, 9),
    max_points=st.floats(0, 9),
    cases=st.lists(CASES, max_size=2).map(tuple),
    message=st.text(),
)
RESULTS = st.builds(
    Result,
    student=st.text(),
    lab=st.text(),
    status=st.sampled_from(Status),
    score=st.floats(0, 20),
    messages=st.lists(st.text(), max_size=2).map(tuple),
    cells=st.lists(CELLS, max_size=2).map(tuple),
)


def test_of_a_result_s_texts_only_so_much_is_kept_whatever_they_come_from() -> None:
    """A student's files and code have a say in them: a line of the log must not grow without bound."""
    many = tuple(f"{number} " + "é" * 10**4 for number in range(10**3))
    cell = CellScore("lab", "a-check", 0.0, 2.0, message="é" * 10**5)
    result = Result("ada", "lab", Status.GRADED, messages=many, notes=many, cells=(cell,))
    assert len(json.dumps(result.to_dict())) < 10**6
    assert result.messages[0].startswith("0 é") and result.messages[0].endswith("é...")
    assert result.messages[-1] == "and 951 more"
    assert result.notes == result.messages
    assert replace(result, messages=result.messages).messages == result.messages
    few = tuple(str(number) for number in range(50))
    assert replace(result, messages=few).messages == few
    assert Result.from_dict({**result.to_dict(), "messages": list(many)}) == result


@given(RESULTS)
def test_a_result_read_back_from_json_is_the_result(result: Result) -> None:
    data = json.loads(json.dumps(result.to_dict()))
    assert Result.from_dict(data) == result
    assert Result.from_dict(data) == result  # reading leaves the data alone


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["student", "cells", "status", "messages", "cases", "x"]), inner)
    ),
)


@given(JSON)
def test_what_is_no_result_is_refused_with_an_ordinary_error(data: Any) -> None:
    with pytest.raises((TypeError, KeyError, ValueError)):
        Result.from_dict(data)


def row(**options: Any) -> CellSpec:
    usual: dict[str, Any] = {
        "grade_id": "a", "cell_type": "code", "source": "x", "checksum": "c",
        "locked": True, "grade": True, "solution": False, "task": False, "points": 2.0,
    }  # fmt: skip
    return CellSpec(**(usual | options))


@pytest.mark.parametrize(
    ("options", "automatic"),
    [({}, True), ({"solution": True}, False), ({"grade": False}, False), ({"cell_type": "markdown"}, False)],
)
def test_only_a_test_cell_is_scored_automatically(options: dict[str, Any], automatic: bool) -> None:
    assert row(**options).automatic is automatic


def test_metadata_is_nbgrader_s_with_points_where_there_are_some() -> None:
    graded = row().metadata()["nbgrader"]
    assert (graded["points"], graded["schema_version"], graded["checksum"]) == (2.0, 3, "c")
    assert "points" not in row(grade=False).metadata()["nbgrader"]
    assert "points" in row(grade=False, task=True).metadata()["nbgrader"]


def case(error: str, title: str = "a case") -> dict[str, Any]:
    return {"title": title, "passed": not error, "error": error, "message": "", "hint": "", "hidden": False}


@pytest.mark.parametrize(
    ("errors", "message", "not_begun"),
    [
        (["NotImplementedError"], "", True),
        (["Guard", "NotImplementedError"], "", True),
        (["NotImplementedError", "Mismatch"], "", False),
        (["NotImplementedError", ""], "", True),
        (["Guard", "Mismatch"], "", False),
        ([""], "", False),
        ([], "NotImplementedError: Task 1", True),
        ([], "", False),
    ],
)
def test_a_task_is_not_begun_while_only_its_stub_fails(errors: list[str], message: str, not_begun: bool) -> None:
    assert CellScore("lab", "task", 0.0, 2.0, tuple(map(case, errors)), message).not_begun is not_begun


def test_guards_stand_last_among_what_failed() -> None:
    cell = CellScore("lab", "task", 0.0, 2.0, (case("Guard", "a"), case("", "b"), case("Mismatch", "c")))
    assert [failed["title"] for failed in cell.failed] == ["c", "a"]
