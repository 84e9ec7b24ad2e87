from __future__ import annotations

import sys
from pathlib import Path

import pytest

import labkit
from autograder.sandbox import Policy, host_paths

ROOT = Path(labkit.__file__).parents[1]


def shown(path: Path) -> bool:
    return any(path.is_relative_to(root) for root in (*host_paths.python_paths(), *host_paths.system_paths()))


def test_the_interpreter_and_its_environment_are_shown() -> None:
    for path in (Path(sys.executable), Path(sys.executable).resolve(), Path(pytest.__file__)):
        assert shown(path)


def test_labkit_is_shown_and_of_a_checkout_nothing_else_but_data() -> None:
    assert shown(Path(labkit.__file__))
    if (ROOT / "pyproject.toml").exists():
        assert shown(ROOT / "datasets")
        assert not any(shown(ROOT / name) for name in ("solutions", "autograder", "tests", ".git", "labs"))
        assert not shown(ROOT)


def test_no_home_and_no_secret_of_the_system_is_shown() -> None:
    for path in ("/root", "/home", "/etc/shadow", "/etc/passwd", "/etc/ssh", "/var", "/run", "/tmp", "/usr/src"):
        assert not shown(Path(path))


def test_no_path_is_shown_twice() -> None:
    paths = host_paths.python_paths()
    assert not [path for path in paths for other in paths if path != other and path.is_relative_to(other)]


def test_a_python_in_usr_does_not_show_all_of_usr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    assert Path("/usr") not in host_paths.python_paths()
    assert shown(Path("/usr/lib/python3"))


def test_the_environment_is_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "1")
    variables = host_paths.environment(Policy(threads=2, environment={"LABKIT_DATA": "/data"}), home="/h", tmp="/t")
    assert "SECRET" not in variables and "JPY_PARENT_PID" not in variables
    assert (variables["HOME"], variables["TMPDIR"], variables["LABKIT_DATA"]) == ("/h", "/t", "/data")
    assert variables["OMP_NUM_THREADS"] == variables["TF_NUM_INTRAOP_THREADS"] == "2"
    assert variables["PATH"].startswith(f"{sys.prefix}/bin:")


def test_the_newest_font_list_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    host_paths.font_list.cache_clear()
    for age, name in enumerate(("fontlist-v390.json", "fontlist-v330.json")):
        (tmp_path / name).write_text("{}")
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    assert host_paths.font_list() == tmp_path / "fontlist-v390.json"
    host_paths.font_list.cache_clear()
