"""As much of a course as collecting needs, and archives for it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from autograder.collect import Row, collect_lab
from autograder.course import Student

LAB = "lab"
NEW = (2026, 11, 20, 12, 0, 0)
NOON = datetime(*NEW, tzinfo=UTC).timestamp()
_ANSWER = {"nbgrader": {"grade_id": "any", "solution": True, "grade": False, "locked": False, "schema_version": 3}}
_A_NOTEBOOK = b'{"nbformat": 4'


class Course(SimpleNamespace):
    """As much of a course as collecting needs."""

    def submitted(self, student: str, lab: str) -> Path:
        return Path(self.root / "submitted" / student / lab)

    def released(self, lab: str) -> Path:
        return Path(self.root / "release" / lab)

    def submitters(self, lab: str) -> list[str]:
        return sorted({path.parent.name for path in self.root.glob(f"submitted/*/{lab}")} - self.excluded)

    def notebooks(self, lab: str) -> dict[str, list[Any]]:
        assert lab == LAB
        return {name: [SimpleNamespace(source=self.text, grade_id="")] if self.text else [] for name in self.names}

    def source(self, lab: str) -> Path:
        return Path(self.root / "source" / lab)

    def files(self, folder: Path) -> list[str]:
        return self.given if folder == self.source(LAB) else []

    def labs(self) -> list[str]:
        return [LAB]

    def students(self, *, everybody: bool = False) -> list[Student]:
        return [Student(*known) for known in self.known if everybody or known[0] not in self.excluded]


def notebook(text: bytes | str, *cells: str) -> bytes:
    """Return a notebook that says this, with cells of these texts: nothing to collect, as long as it can be graded."""
    said = text.decode("latin-1") if isinstance(text, bytes) else text
    own = [{"cell_type": "markdown", "id": str(n), "metadata": _ANSWER, "source": c} for n, c in enumerate(cells)]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"said": said}, "cells": own}).encode()


def packed(name: str, content: bytes | str) -> bytes | str:
    """Return what stands in an archive for a file with this content."""
    made = isinstance(content, bytes) and content.startswith(_A_NOTEBOOK)
    return notebook(content) if name.lower().endswith(".ipynb") and not made else content


def text_of(path: Path) -> str:
    """Return a file's text; of a notebook what it says."""
    try:
        return str(json.loads(path.read_bytes())["metadata"]["said"])
    except (ValueError, KeyError, TypeError):
        return path.read_text(errors="replace")


def zipped(path: Path, files: Mapping[str, bytes | str] | Sequence[tuple[str, bytes | str]], when: Any = NEW) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items() if isinstance(files, Mapping) else files:
            info = zipfile.ZipInfo(name, when)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, packed(name, content))
    return path


def collected(course: Course, files: Any, **more: Any) -> list[Row]:
    source = files if isinstance(files, Path) else zipped(folder_of(course) / "in.zip", files)
    return list(collect_lab(course, LAB, source, **more))  # type: ignore[arg-type]


def there(course: Course) -> dict[str, str]:
    """Return every file of the submissions and its text; fail if anything stands elsewhere."""
    found = {}
    for path in sorted(course.root.parent.rglob("*")):
        inside = path.relative_to(course.root.parent).parts
        if path.is_file() and inside[:2] == ("course", "submitted"):
            found["/".join(inside[2:])] = text_of(path)
        else:
            assert path.is_dir() or inside[0] != "course" or inside[1] == ".autograder", path
    return found


def folder_of(course: Course) -> Path:
    return Path(course.root).parent


def said(rows: Sequence[Row]) -> dict[str, str]:
    return {row.student or row.file: row.what for row in rows}


def roster(course: Course, content: str) -> Path:
    path = folder_of(course) / "roster.csv"
    path.write_text(content)
    return path
