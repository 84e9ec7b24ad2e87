"""What this machine is: processor, cores, memory and GPUs, as far as this process may use them."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labkit import _system

__all__ = ["Gpu", "cores", "cpu_model", "driver_cuda", "gpus", "memory_bytes", "nvidia_on_bus"]

_SMI_S = 5.0
_ROOT = Path("/")


@dataclass(frozen=True)
class Gpu:
    """A GPU that the NVIDIA driver reports."""

    name: str
    driver: str
    memory_mib: int


def cpu_model(root: Path = _ROOT) -> str:
    """Return the processor's name."""
    text = _system.text(root / "proc/cpuinfo")
    found = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    other = _system.processor_name() or platform.processor() or platform.machine() or "unknown"
    return found[1].strip() if found else other


def cores(root: Path = _ROOT) -> float:
    """Return how many cores this process may use: its affinity, or a container's quota where that is less."""
    quotas = [float(_system.cores_of_this_process())]
    for text in _cgroup(root, "", "cpu.max"):  # "200000 100000", or "max 100000"
        quota, period = text.split()
        if quota != "max":
            quotas.append(int(quota) / int(period))
    periods = _cgroup(root, "cpu", "cpu.cfs_period_us")
    for quota, period in zip(_cgroup(root, "cpu", "cpu.cfs_quota_us"), periods, strict=False):
        if int(quota) > 0:
            quotas.append(int(quota) / int(period))
    return min(quotas)


def memory_bytes(root: Path = _ROOT) -> tuple[int, int]:
    """Return the memory that this process may use and how much of it is free, both limited by a container's."""
    sizes: dict[str, str] = dict(re.findall(r"^(\w+):\s+(\d+) kB$", _system.text(root / "proc/meminfo"), re.MULTILINE))
    if "MemTotal" in sizes:
        total, free = int(sizes["MemTotal"]) * 1024, int(sizes.get("MemAvailable", sizes["MemTotal"])) * 1024
    else:
        import psutil

        total, free = psutil.virtual_memory().total, psutil.virtual_memory().available
    limits = [*_cgroup(root, "", "memory.max"), *_cgroup(root, "memory", "memory.limit_in_bytes")]
    limit = min([int(text) for text in limits if text != "max"], default=total)
    return min(total, limit), min(free, limit)


def _cgroup(root: Path, controller: str, file: str) -> Iterator[str]:
    """Return what the control groups of this process say, from its own up to the root ("": version 2)."""
    for line in _system.text(root / "proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        if controller not in names.split(","):
            continue
        mount = root / "sys/fs/cgroup" / controller
        own = mount / path.strip("/")
        # A container sees the host's path, but only its own group, at the mount point.
        for folder in (own, *own.parents):
            if text := _system.text(folder / file).strip():
                yield text
            if folder == mount:
                break


def gpus() -> list[Gpu]:
    """Return the GPUs that nvidia-smi lists; none where it is not installed.

    Raises RuntimeError with its own words if it fails.
    """
    table = _smi("--query-gpu=name,driver_version,memory.total", "--format=csv,noheader,nounits")
    found = []
    for line in table.splitlines():
        if line.count(",") < 2:  # a remark
            continue
        name, driver, memory = (cell.strip() for cell in line.rsplit(",", 2))
        found.append(Gpu(name, driver, int(memory) if memory.isdigit() else 0))
    return found


def driver_cuda() -> str:
    """Return the newest CUDA version that the driver supports, or "" if it does not say."""
    found = re.search(r"CUDA[\w ]*Version\s*:\s*([\d.]+)", _smi())
    return found[1] if found else ""


def _smi(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["nvidia-smi", *arguments], check=False, capture_output=True, text=True, timeout=_SMI_S, errors="replace"
        )
    except FileNotFoundError:
        return ""
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"nvidia-smi did not answer within {_SMI_S:g} s") from None
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr).strip().partition("\n")[0] or f"exit code {done.returncode}")
    return done.stdout


def nvidia_on_bus(root: Path = _ROOT) -> bool:
    """Return whether an NVIDIA display controller is plugged in, with or without a driver."""
    devices = (root / "sys/bus/pci/devices").glob("*")
    return any(
        _system.text(at / "vendor").strip() == "0x10de" and _system.text(at / "class").startswith("0x03")
        for at in devices
    )
