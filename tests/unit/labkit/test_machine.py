"""What the machine is said to be, on machines made of files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit import _machine, _system

GIB = 1024**3
MEMINFO = "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\n"

Machine = Callable[[dict[str, str]], Path]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Write a machine's files and return its root; it has eight cores."""
    monkeypatch.setattr(_system, "LINUX", True)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)

    def make(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


def test_without_a_container_the_whole_machine_counts(machine: Machine) -> None:
    root = machine({"proc/meminfo": MEMINFO, "proc/self/cgroup": "0::/user.slice\n"})
    assert _machine.cores(root) == 8
    assert _machine.memory_bytes(root) == (16 * GIB, 8 * GIB)


def test_a_container_of_cgroup_2_limits_cores_and_memory(machine: Machine) -> None:
    root = machine(
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/memory.max": f"{4 * GIB}\n",
        }
    )
    assert _machine.cores(root) == 1.5
    assert _machine.memory_bytes(root) == (4 * GIB, 4 * GIB)


def test_the_strictest_of_the_groups_above_counts(machine: Machine) -> None:
    root = machine(
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "0::/course/student\n",
            "sys/fs/cgroup/course/memory.max": f"{2 * GIB}\n",
            "sys/fs/cgroup/course/student/memory.max": "max\n",
            "sys/fs/cgroup/course/student/cpu.max": "max 100000\n",
        }
    )
    assert _machine.cores(root) == 8
    assert _machine.memory_bytes(root) == (2 * GIB, 2 * GIB)


def test_a_container_of_cgroup_1_sees_its_limits_at_the_mount_point(machine: Machine) -> None:
    root = machine(
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{3 * GIB}\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        }
    )
    assert _machine.cores(root) == 3
    assert _machine.memory_bytes(root) == (3 * GIB, 3 * GIB)


def test_cgroup_1_without_a_limit_has_none(machine: Machine) -> None:
    root = machine(
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "4:memory:/\n1:cpu:/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        }
    )
    assert (_machine.cores(root), _machine.memory_bytes(root)[0]) == (8, 16 * GIB)


def test_a_machine_without_proc_still_has_cores_and_memory(tmp_path: Path) -> None:
    assert _machine.cores(tmp_path) >= 1
    total, free = _machine.memory_bytes(tmp_path)
    assert total > 0
    assert 0 < free <= total


def test_the_processor_is_named(machine: Machine, tmp_path: Path) -> None:
    assert _machine.cpu_model(tmp_path)
    assert _machine.cpu_model(machine({"proc/cpuinfo": "processor\t: 0\nmodel name\t: A fast one\n"})) == "A fast one"


def test_a_gpu_without_a_driver_is_seen_on_the_bus(machine: Machine) -> None:
    sound = {"sys/bus/pci/devices/1/vendor": "0x10de\n", "sys/bus/pci/devices/1/class": "0x040300\n"}
    assert not _machine.nvidia_on_bus(machine(sound))
    card = {"sys/bus/pci/devices/2/vendor": "0x10de\n", "sys/bus/pci/devices/2/class": "0x030000\n"}
    assert _machine.nvidia_on_bus(machine(card))


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Install an nvidia-smi of our own, a shell script."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    def install(script: str) -> None:
        program = tmp_path / "bin" / "nvidia-smi"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return install


def test_gpus_are_read_from_the_drivers_table(smi: Callable[[str], None]) -> None:
    smi('[ "$1" ] && echo "Some, GPU, 580.1, 24576" || echo "| Driver Version: 580.1   CUDA Version: 13.0 |"')
    assert _machine.gpus() == [_machine.Gpu("Some, GPU", "580.1", 24576)]
    assert _machine.driver_cuda() == "13.0"


def test_memory_that_the_driver_does_not_know_is_zero(smi: Callable[[str], None]) -> None:
    smi('echo "GB10, 580.1, [N/A]"')
    assert _machine.gpus() == [_machine.Gpu("GB10", "580.1", 0)]
    assert _machine.driver_cuda() == ""


def test_a_driver_that_fails_says_why(smi: Callable[[str], None]) -> None:
    smi('echo "Failed to initialize NVML: Driver/library version mismatch"; exit 18')
    with pytest.raises(RuntimeError, match="Driver/library version mismatch"):
        _machine.gpus()


def test_a_driver_that_fails_without_a_word_has_its_exit_code(smi: Callable[[str], None]) -> None:
    smi("exit 9")
    with pytest.raises(RuntimeError, match="exit code 9"):
        _machine.gpus()


def test_a_driver_that_hangs_is_given_up(smi: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_machine, "_SMI_S", 0.1)
    smi("exec sleep 5")
    with pytest.raises(RuntimeError, match=r"did not answer within 0\.1 s"):
        _machine.gpus()


def test_without_a_driver_there_is_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _machine.gpus() == []
