"""Puts submissions where nbgrader looks for them; what was there before is kept aside and never lost."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from autograder.course import Course
from autograder.errors import CourseError

__all__ = ["place"]


def place(
    course: Course, lab: str, student: str, content: Mapping[str, bytes], when: float, *, force: bool, dry_run: bool
) -> str:
    """Write one submission whole or not at all; return what happened.

    Another one that is there already is replaced only if this one is newer, or with `force`; the old one is then moved
    to .autograder/replaced/LAB/STUDENT/TIME.
    """
    target = course.submitted(student, lab)
    _check(target)
    there = target.exists()
    if there and _same(target, content):
        return "unchanged"
    if there and not force and when <= _when(target):
        return "kept: another one is there that is not older; --force replaces it"
    if dry_run:
        return "would replace an older one" if there else "would be new"
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        _write(new, content, when)
        said = "new"
        if there:
            old = course.state / "replaced" / lab / student / time.strftime("%Y-%m-%d_%H%M%S")
            while old.exists():
                old = old.with_name(f"{old.name}_")
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(target, old)
            said = f"replaced; the one before is in {old.relative_to(course.root)}"
        new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return said


def _check(target: Path) -> None:
    """Refuse a target that is not where it seems to be."""
    for folder in (target, target.parent):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise CourseError(f"{folder}: not a folder, or a link", hint="move it away and collect again")


def _same(folder: Path, content: Mapping[str, bytes]) -> bool:
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if not path.is_dir()}
    if there.keys() != content.keys() or any(path.is_symlink() for path in there.values()):
        return False
    return all(path.stat().st_size == len(content[n]) and path.read_bytes() == content[n] for n, path in there.items())


def _when(folder: Path) -> float:
    """Return when the submission that is there was last changed."""
    found = [*folder.glob("*.ipynb")] or [folder]
    return max(path.lstat().st_mtime for path in found)


def _write(folder: Path, content: Mapping[str, bytes], when: float) -> None:
    folder.mkdir(parents=True)
    for name, data in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
        if when:
            os.utime(path, (when, when))
