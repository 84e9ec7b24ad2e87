"""The folder in which tests run is before each of them what the instructor gave."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.boundary.folder import Folder


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "given"
    (folder / "src/deep").mkdir(parents=True)
    (folder / "cases.json").write_text("[[1, 2]]")
    (folder / "src/helper.py").write_text("def same(a, b): return a == b\n")
    (folder / "src/link.py").symlink_to("helper.py")
    aside = tmp_path / "aside"
    aside.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(aside))
    monkeypatch.chdir(folder)
    return folder


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    } | {f"{path.relative_to(folder)}/": "" for path in folder.rglob("*") if path.is_dir() and not path.is_symlink()}


def rewritten(folder: Path) -> None:
    """Write as many bytes and set the time back: only the time of the last change of the entry tells."""
    about = (folder / "cases.json").stat()
    (folder / "cases.json").write_text("[[9, 9]]")
    os.utime(folder / "cases.json", ns=(about.st_atime_ns, about.st_mtime_ns))


def folder_for_file(folder: Path) -> None:
    (folder / "cases.json").unlink()
    (folder / "cases.json/more").mkdir(parents=True)
    (folder / "cases.json/more").chmod(0)


def file_for_folder(folder: Path) -> None:
    (folder / "src/helper.py").unlink()
    (folder / "src/link.py").unlink()
    (folder / "src/deep").rmdir()
    (folder / "src").rmdir()
    (folder / "src").write_text("no folder")


def links(folder: Path) -> None:
    (folder / "new").symlink_to("/etc")
    (folder / "cases.json").unlink()
    (folder / "cases.json").symlink_to("src/helper.py")
    os.mkfifo(folder / "pipe")


@pytest.mark.parametrize(
    "change",
    [
        rewritten,
        folder_for_file,
        file_for_folder,
        links,
        lambda folder: (folder / "src/helper.py").unlink(),
        lambda folder: (folder / "src/evil.py").write_text("import os"),
        lambda folder: (folder / "cases.json").replace(folder / "moved.json"),
        lambda folder: (folder / "src").chmod(0o500),
        lambda folder: os.chdir(folder / "src"),
        lambda folder: os.link(folder / "cases.json", folder / "twice.json"),
    ],
)
def test_whatever_became_of_it_it_is_put_back(change: Callable[[Path], object], given: Path) -> None:
    before, folder = content(given), Folder(given)
    for _ in range(2):
        change(given)
        folder.restore()
        assert content(given) == before
        assert Path.cwd() == given


def test_what_is_as_it_was_is_left_alone(given: Path) -> None:
    folder = Folder(given)
    before = {path: path.lstat() for path in given.rglob("*")}
    folder.restore()
    assert {path: path.lstat() for path in given.rglob("*")} == before
