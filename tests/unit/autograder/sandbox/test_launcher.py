from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.sandbox.guest import launcher, request
from autograder.sandbox.guest.request import ColdStart, ForkStart, pack
from autograder.sandbox.process import memory_file


@dataclass(frozen=True)
class Outcome:
    stdout: str
    stderr: str
    returncode: int
    report: bytes


def run(tmp_path: Path, *, command: str, files: str = "", fonts: str = "", **limits: int) -> Outcome:
    """Run the launcher as a sandbox would, on the host and without another uid."""
    asked = ColdStart(
        command=["/bin/sh", "-c", command],
        work=f"{tmp_path}/work",
        home=f"{tmp_path}/home",
        tmp="",
        files=files,
        fonts=fonts,
        uid=None,
        in_user_namespace=False,
        read_all=False,
        limits=limits,
        filter=b"",
        tmpfs=[],
        inodes=0,
        proc="",
        seal=False,
        supervise=None,
        landlock=None,
    )
    return run_request(pack(asked))


def run_request(packed: bytes) -> Outcome:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as pipe:
        with memory_file(packed) as told:
            done = subprocess.run(
                [sys.executable, "-E", "-s", "-S", launcher.__file__, str(told), str(writer)],
                pass_fds=[told, writer],
                capture_output=True,
                text=True,
                check=False,
            )
        os.close(writer)
        return Outcome(done.stdout, done.stderr, done.returncode, pipe.read())


def test_the_command_starts_in_the_working_directory_once_all_is_ready(tmp_path: Path) -> None:
    done = run(tmp_path, command="pwd; ls ../home; umask")
    assert done.stdout.split() == [f"{tmp_path}/work", "0022"]
    assert done.report == b"ready"


def test_limits_are_set_soft_and_hard(tmp_path: Path) -> None:
    done = run(tmp_path, NOFILE=77, CORE=1, command="ulimit -Sn; ulimit -Hn")
    assert done.stdout.split() == ["77", "77"]


def test_it_is_the_first_that_the_out_of_memory_killer_takes(tmp_path: Path) -> None:
    assert run(tmp_path, command="cat /proc/self/oom_score_adj").stdout.strip() == "1000"


def test_what_goes_wrong_is_one_line_and_nothing_is_run(tmp_path: Path) -> None:
    done = run(tmp_path, files=f"{tmp_path}/none", command="echo ran")
    assert (done.stdout, done.report) == ("", b"")
    assert done.stderr == f"{tmp_path}/none: No such file or directory\n"
    assert done.returncode == 1


def test_files_are_copied_with_modes_and_links_stay_links(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "deep").mkdir(parents=True)
    target.mkdir()
    (source / "deep" / "run.sh").write_text("true")
    (source / "deep" / "run.sh").chmod(0o555)
    (source / "link").symlink_to("/etc/shadow")
    os.mkfifo(source / "pipe")
    launcher.copy_tree(str(source), str(target))
    assert (target / "deep" / "run.sh").read_text() == "true"
    assert (target / "deep" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (target / "link").readlink() == Path("/etc/shadow")
    assert not (target / "pipe").exists()


def test_the_font_list_lands_where_matplotlib_looks(tmp_path: Path) -> None:
    fonts = tmp_path / "fontlist-v1.json"
    fonts.write_text("{}")
    done = run(tmp_path, fonts=str(fonts), command="cat ../home/.cache/matplotlib/fontlist-v1.json")
    assert done.stdout == "{}"


def test_the_launcher_imports_nothing_slow() -> None:
    source = (
        f"import os, sys; sys.path.insert(0, {str(Path(launcher.__file__).parent)!r})\n"
        "before = set(sys.modules); import launcher, request; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", source], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"__future__", "errno", "launcher", "request", "resource"}


def test_a_request_with_an_unknown_or_a_missing_field_starts_nothing(tmp_path: Path) -> None:
    done = run_request(pack({"command": ["/bin/sh", "-c", "echo ran"], "noise": 1}))
    assert (done.stdout, done.report, done.returncode) == ("", b"", 1)
    assert done.stderr.startswith("launcher.py: ColdStart: not as the grader and this file understand it: ")
    assert "noise" in done.stderr and "home" in done.stderr and done.stderr.count("\n") == 1


def test_a_request_is_not_left_open_for_the_command(tmp_path: Path) -> None:
    assert run(tmp_path, command="ls /proc/self/fd").stdout.split() == ["0", "1", "2", "3"]  # 3: the listing's own


def test_a_fork_is_asked_for_with_fields_of_its_own() -> None:
    with memory_file(pack({"work": "/w"})) as told, pytest.raises(OSError, match=r"ForkStart: .*environment"):
        request.read(os.dup(told), ForkStart)
