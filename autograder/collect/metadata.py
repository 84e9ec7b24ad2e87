"""Gradescope's submission_metadata.yml: who handed in which folder, and when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import yaml

from autograder.collect.layout import Owner
from autograder.errors import CourseError

__all__ = ["read_metadata"]


class _Loader(yaml.SafeLoader):
    """Reads plain data; what Ruby tags as objects of its own becomes plain data, too."""


def _plain(loader: Any, _suffix: str, node: Any) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node)
    return loader.construct_mapping(node)


_Loader.add_multi_constructor("!", _plain)


def read_metadata(data: bytes) -> dict[str, list[tuple[Owner, str]]]:
    """Return the submitters of each folder, and when it was handed in; raise CourseError if it cannot be read."""
    try:
        loaded = yaml.load(data, Loader=_Loader)  # a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        said = str(error).splitlines()[0]
        raise CourseError(
            f"submission_metadata.yml: cannot be read: {said}", hint="download the export again"
        ) from error
    if not isinstance(loaded, dict):
        raise CourseError("submission_metadata.yml: no list of submissions in it", hint="download the export again")
    return {str(folder): list(_owners(entry)) for folder, entry in loaded.items() if isinstance(entry, dict)}


def _owners(entry: dict[Any, Any]) -> Iterator[tuple[Owner, str]]:
    time = _time(entry.get(":created_at"))
    submitters = entry.get(":submitters")
    for submitter in submitters if isinstance(submitters, list) else ():
        if isinstance(submitter, dict):
            name, sid, email = (str(submitter.get(key) or "").strip() for key in (":name", ":sid", ":email"))
            yield Owner(name=name, ids=(sid,) if sid else (), email=email), time


def _time(value: Any) -> str:
    """Return a time as nbgrader writes it, in UTC; empty if it is none."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return ""
    if not isinstance(value, date):
        return ""
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    known = value if value.tzinfo else value.replace(tzinfo=UTC)
    return f"{known.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
