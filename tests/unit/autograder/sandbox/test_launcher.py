from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from autograder.sandbox.guest import launcher


def run(tmp_path: Path, *options: str, command: str) -> subprocess.CompletedProcess[str]:
    """Run the launcher as a sandbox would, on the host and without another uid."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as pipe:
        done = subprocess.run(
            [
                *(sys.executable, "-I", "-S", launcher.__file__),
                *(f"ready={writer}", f"work={tmp_path}/work", f"home={tmp_path}/home", *options),
                *("--", "/bin/sh", "-c", command),
            ],
            pass_fds=[writer],
            capture_output=True,
            text=True,
            check=False,
        )
        os.close(writer)
        done.args = pipe.read()
    return done


def test_the_command_starts_in_the_working_directory_once_all_is_ready(tmp_path: Path) -> None:
    done = run(tmp_path, command="pwd; ls ../home; umask")
    assert done.stdout.split() == [f"{tmp_path}/work", "0022"]
    assert done.args == b"ready"


def test_limits_are_set_soft_and_hard(tmp_path: Path) -> None:
    done = run(tmp_path, "NOFILE=77", "CORE=1", command="ulimit -Sn; ulimit -Hn")
    assert done.stdout.split() == ["77", "77"]


def test_it_is_the_first_that_the_out_of_memory_killer_takes(tmp_path: Path) -> None:
    assert run(tmp_path, command="cat /proc/self/oom_score_adj").stdout.strip() == "1000"


def test_what_goes_wrong_is_one_line_and_nothing_is_run(tmp_path: Path) -> None:
    done = run(tmp_path, f"files={tmp_path}/none", command="echo ran")
    assert (done.stdout, done.args) == ("", b"")
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
    done = run(tmp_path, f"fonts={fonts}", command="cat ../home/.cache/matplotlib/fontlist-v1.json")
    assert done.stdout == "{}"


def test_the_launcher_imports_nothing_slow() -> None:
    source = (
        f"import os, sys; sys.path.insert(0, {str(Path(launcher.__file__).parent)!r})\n"
        "before = set(sys.modules); import launcher; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", source], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"__future__", "errno", "launcher", "resource"}
