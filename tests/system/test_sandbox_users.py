"""The walls and bounds once more, for an ordinary user and in a container's /proc, where the suite is run by root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox.host_paths import python_paths

pytestmark = pytest.mark.slow

UID = 65_534
HERE = Path(__file__).parent

# What Docker does to /proc: with a part of it covered, the kernel lets no user namespace mount a /proc of its own.
MASKED_PROC = "for each in /proc/scsi /proc/fs /proc/irq; do test ! -d $each || mount -t tmpfs none $each; done\n"


def as_ordinary_user(command: list[str], scratch: Path, preparation: str = "") -> subprocess.CompletedProcess[str]:
    """Run command as UID, in a mount namespace in which that user can read this Python even below /root."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user; the other tests already run as an ordinary one")
    missing = [tool for tool in ("unshare", "setpriv", "mount") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"this system has no {missing[0]} (Debian package util-linux or mount)")
    home = scratch / "home"
    home.mkdir()
    os.chown(home, UID, UID)
    script = f'set -e\n{_open_up(scratch)}{preparation}exec setpriv --reuid {UID} --regid {UID} --clear-groups -- "$@"'
    environment = {"HOME": str(home), "TMPDIR": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *command],
        env=environment,
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def _open_up(scratch: Path) -> str:
    """Return the commands that replace each closed directory by one with only what Python needs in it."""
    needed = {path.resolve() for path in (*python_paths(), HERE.parents[1])}
    closed = {parent for path in needed for parent in path.parents if not parent.stat().st_mode & 0o001}
    lines = ""
    for number, directory in enumerate(sorted(closed)):
        if any(directory != other and directory.is_relative_to(other) for other in closed):
            continue
        inside = sorted(path for path in needed if path.is_relative_to(directory))
        for index, path in enumerate(inside):
            kept = scratch / f"kept{number}-{index}"
            kept.mkdir()
            lines += f"mount --bind '{path}' '{kept}'\n"
        lines += f"mount -t tmpfs -o mode=755 none '{directory}'\n"
        for index, path in enumerate(inside):
            lines += f"mkdir -p '{path}'; mount --bind '{scratch / f'kept{number}-{index}'}' '{path}'\n"
    return lines


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A directory that the user can pass through, as those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="as-user-") as directory:
        Path(directory).chmod(0o711)
        yield Path(directory)


@pytest.mark.parametrize(
    "what", ["walls", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("bounds", "fence", "prewarmed"))]
)
def test_walls_and_bounds_hold_for_an_ordinary_user(what: str, scratch: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not frameworks"]
    done = as_ordinary_user([*command, str(HERE / f"test_sandbox_{what}.py")], scratch)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.thorough
def test_in_a_container_that_covers_proc_two_forks_do_not_meet_either(scratch: Path) -> None:
    options = ["-q", "-p", "no:cacheprovider", "-k", "started_cold or meet or open_in or died"]
    command = [sys.executable, "-m", "pytest", *options, str(HERE / "test_sandbox_prewarmed.py")]
    done = as_ordinary_user(command, scratch, MASKED_PROC)
    assert done.returncode == 0, done.stdout + done.stderr


def test_in_a_container_that_covers_proc_bubblewrap_still_isolates(scratch: Path) -> None:
    source = """
    import os, sys, tempfile
    from pathlib import Path
    from autograder.sandbox import Job, choose
    sandbox = choose("bubblewrap")
    assert not sandbox._way.own_proc, sandbox._way
    program = Path(tempfile.mkdtemp(), "program.py")
    program.write_text('''if True:
        import os, sys
        for name in filter(str.isdecimal, os.listdir("/proc")):
            try:
                if os.path.exists(f"/proc/{name}/root/home") or "SECRET" in open(f"/proc/{name}/environ").read():
                    sys.exit(f"process {name} can be looked into")
            except OSError:
                pass
        try:
            os.kill(int(sys.argv[1]), 0)
        except ProcessLookupError:
            sys.exit("nothing to be found")
    ''')
    room = Path(tempfile.mkdtemp())
    process = sandbox.start(Job(program=program, directory=room, arguments=(str(os.getpid()),)))
    process.wait(20)
    process.close()
    print(process.last_words())
    """.replace("\n    ", "\n")
    command = ["env", "SECRET=1", sys.executable, "-c", source]
    done = as_ordinary_user(command, scratch, MASKED_PROC)
    assert done.stdout.strip() == "nothing to be found", done.stdout + done.stderr
