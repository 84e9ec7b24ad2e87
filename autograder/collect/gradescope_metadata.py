"""Gradescope's submission_metadata.yml: who handed in which folder, and when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import yaml

from autograder.collect.lms_names import Owner
from autograder.errors import CourseError

__all__ = ["read_metadata"]


_MAX_DEPTH = 40
_MAX_GROUP = 100
"""Each file of a group is each member's."""


class _Loader(yaml.SafeLoader):
    """Reads plain data of a bounded depth; what Ruby tags as objects of its own becomes plain data, too.

    A list or a table stands where it stands and nowhere else: aliases of them would let a few lines say a list of lists
    of lists with more entries than there is memory. Ruby writes an alias for a word that comes twice; those are read.
    """

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node; ComposerError for one that is not written out, or stands too deep."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        mark: Any = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            known = self.anchors.get(event.anchor)
            if known is not None and not isinstance(known, yaml.ScalarNode):
                raise yaml.composer.ComposerError(None, None, "an alias of a list or a table", mark)
        if self.depth >= _MAX_DEPTH:
            raise yaml.composer.ComposerError(None, None, f"more than {_MAX_DEPTH} levels deep", mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


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
        said = ", ".join(str(error).split("\n")[:2]).strip()[:200]
        raise CourseError(
            f"submission_metadata.yml: cannot be read: {said}", hint="download the export again"
        ) from error
    if not isinstance(loaded, dict):
        raise CourseError("submission_metadata.yml: no list of submissions in it", hint="download the export again")
    found = {_word(folder): list(_owners(entry)) for folder, entry in loaded.items() if isinstance(entry, dict)}
    for folder, owners in found.items():
        if len(owners) > _MAX_GROUP:
            raise CourseError(
                f"submission_metadata.yml: {folder}: {len(owners)} submitters; a group has at most {_MAX_GROUP}",
                hint="download the export again",
            )
    return found


def _owners(entry: dict[Any, Any]) -> Iterator[tuple[Owner, str]]:
    time = _time(entry.get(":created_at"))
    submitters = entry.get(":submitters")
    for submitter in submitters if isinstance(submitters, list) else ():
        if isinstance(submitter, dict):
            name, sid, email = (_word(submitter.get(key)) for key in (":name", ":sid", ":email"))
            yield Owner(name=name, ids=(sid,) if sid else (), email=email), time


def _word(value: Any) -> str:
    """Return what stands there as text; empty for what is no word, and for a number longer than Python writes."""
    try:
        return "" if isinstance(value, list | dict | set | tuple) or value is None else str(value).strip()
    except ValueError:
        return ""


def _time(value: Any) -> str:
    """Return a time as nbgrader writes it, in UTC; empty if it is not one."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return ""
    if not isinstance(value, date):
        return ""
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not 1970 <= value.year < 9999:  # nobody's: strptime and other zones know fewer years than datetime
        return ""
    known = value if value.tzinfo else value.replace(tzinfo=UTC)
    return f"{known.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
