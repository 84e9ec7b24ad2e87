"""What a sandbox shows of a GPU, tried with a driver's library that is built here and says what it is told to."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from autograder.errors import SandboxError
from autograder.sandbox import Policy, Prewarmed, choose, find_gpu, gpu
from autograder.sandbox.gpu import Gpu
from autograder.sandbox.host_paths import environment

NODES = ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null")
# As the real one (from version 570 on) it names a thread by writing to /proc, and does not start where it cannot.
DRIVER = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>
int cuInit(unsigned flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/comm", (long) syscall(SYS_gettid));
    int file = open(path, O_RDWR | O_TRUNC);
    if (file < 0 || write(file, "cuda", 4) != 4) return 304;
    close(file);
    return RESULT;
}
int cuDeviceGetCount(int *count) { *count = COUNT; return 0; }
int cuGetErrorString(int code, const char **said)
{
    *said = code == 304 ? "OS call failed" : "no device was found";
    return 0;
}
"""


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    folder = tmp_path / "dev"
    folder.mkdir()
    for name in NODES:
        (folder / name).touch()
    return folder


def driver(folder: Path, *, result: int = 0, count: int = 1) -> Path:
    """Build a libcuda.so.1 in a folder, and return the folder."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    folder.mkdir(parents=True, mode=0o755)
    (folder / "driver.c").write_text(DRIVER.replace("RESULT", str(result)).replace("COUNT", str(count)))
    real = folder / "libcuda.so.580.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", real, folder / "driver.c"], check=True)
    (folder / "libcuda.so.1").symlink_to(real.name)
    return folder


def test_a_gpu_is_its_own_node_and_what_all_share(
    devices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver(tmp_path / "nvidia" / "lib64")))
    assert [path.name for path in find_gpu(1, devices).nodes] == ["nvidia1", "nvidiactl", "nvidia-uvm"]


def test_a_gpu_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"nvidia3: no such GPU \(there: none\)"):
        find_gpu(3, tmp_path)
    (tmp_path / "nvidia0").touch()
    with pytest.raises(SandboxError, match=r"\(there: nvidia0\)"):
        find_gpu(3, tmp_path)


def test_a_driver_that_only_the_loaders_variable_names_is_shown_and_named(
    devices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = driver(tmp_path / "nvidia" / "lib64")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{folder}")
    found = find_gpu(0, devices)
    assert found.folders == (folder,)
    assert found.environment == {"LD_LIBRARY_PATH": str(folder)}  # and not the rest of what stood there


def test_a_link_to_a_driver_elsewhere_is_shown_with_the_place_it_leads_to(
    devices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, links = driver(tmp_path / "store"), tmp_path / "opengl"
    links.mkdir()
    (links / "libcuda.so.1").symlink_to(folder / "libcuda.so.1")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(links))
    assert set(find_gpu(0, devices).folders) == {links, folder}


def test_the_systems_own_driver_needs_nothing(devices: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_folders_of", lambda search: [] if search else [Path("/usr/lib/x86_64-linux-gnu")])
    found = find_gpu(0, devices)
    assert not found.folders
    assert not found.environment


@pytest.mark.skipif(os.path.lexists("/dev/nvidiactl"), reason="there is a driver here")
def test_without_a_driver_one_line_says_so(devices: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    with pytest.raises(SandboxError, match=r"libcuda.so.1: .* not found on this machine\nhint: .*--gpus all"):
        find_gpu(0, devices)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bubblewrap", "landlock", "limits"])
def test_what_a_sandbox_shows_is_enough_to_start_cuda(
    name: str, devices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (*tmp_path.parents, tmp_path, devices):  # another user passes through
        if folder.stat().st_uid == os.getuid() and len(folder.parts) > 2:
            folder.chmod(folder.stat().st_mode | 0o011)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver(tmp_path / "nvidia" / "lib64")))
    try:
        sandbox = choose(name)
    except SandboxError as error:
        pytest.skip(str(error))
    found = find_gpu(0, devices)
    found.works_in(sandbox)
    policy = found.shown_by(Policy())
    with Prewarmed(sandbox, ("json",), policy=policy) as warm:
        found.works_in(warm, policy)
    with pytest.raises(SandboxError, match=r"cannot be used in the sandbox .*: the driver's library does not load"):
        Gpu(found.nodes).works_in(sandbox)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("result", "count", "said"),
    [(100, 1, "cuInit fails with error 100, no device was found"), (0, 0, "the driver sees no GPU")],
)
def test_a_driver_that_does_not_start_is_quoted(
    result: int, count: int, said: str, devices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = driver(tmp_path / "nvidia" / "lib64", result=result, count=count)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    with pytest.raises(SandboxError, match=rf"nvidia0: cannot be used in the sandbox .*{said}\nhint: "):
        find_gpu(0, devices).works_in(choose("limits"))


def test_what_a_policy_had_stays(devices: Path) -> None:
    before = Policy(environment={"A": "1"}, read_only=(Path("/data"),))
    shown = Gpu((devices / "nvidia0",), (Path("/driver"),), {"LD_LIBRARY_PATH": "/driver"}).shown_by(before)
    assert shown.read_only == (Path("/data"), Path("/driver"))
    assert shown.devices == (devices / "nvidia0",)
    assert environment(shown, home="/h", tmp="/t").items() >= {"A": "1", "LD_LIBRARY_PATH": "/driver"}.items()
