"""What stands in a timestamp.txt is a time, or nothing: whatever a student has written there."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.course.moments import moment


def test_a_time_is_read_as_nbgrader_reads_it() -> None:
    assert moment("2026-11-20 13:00:00 UTC") == datetime(2026, 11, 20, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "9" * 29 + "h",
        "1e999",
        "0." + "1" * 400,
        "9" * 5000,
        "12:99",
        "10:00",
        "Friday",
        "2026-11",
        "10000-01-01",
        "+99:99",
        "\0",
        "1" * 60,
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert moment(text) is None


@settings(deadline=None)
@given(st.text(st.sampled_from("0123456789:-+., TZhmsUCapneJ")) | st.text())
def test_nothing_that_somebody_writes_is_an_error(text: str) -> None:
    found = moment(text)
    assert found is None or found.tzinfo is UTC
