"""Probes of the machine: processor, memory, disks and the network within it."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

from labkit import _machine, _system
from labkit.doctor.finding import Finding

__all__ = ["disk", "loopback", "memory", "processor", "shared_memory"]

_GIB = 1024**3


def processor() -> list[Finding]:
    """Count the cores that this process may use."""
    cores = _machine.cores()
    detail = f"{_machine.cpu_model()}, {cores:g} core{'s' * (cores != 1)} for this process"
    if cores >= 2:
        return [Finding("ok", "processor", detail)]
    return [Finding("warn", "processor", detail, "labs about ranks are slow: allow two cores (docker run --cpus 2)")]


def memory() -> list[Finding]:
    """Measure memory, a container's limit included."""
    total, free = _machine.memory_bytes()
    detail = f"{total / _GIB:.1f} GiB, {free / _GIB:.1f} GiB free"
    fix = "close other programs, or allow more (docker run --memory 8g): a notebook needs 1 to 3 GiB"
    if total < 2 * _GIB:
        return [Finding("fail", "memory", detail, fix)]
    return [Finding("warn", "memory", detail, fix) if free < 2 * _GIB else Finding("ok", "memory", detail)]


def disk() -> list[Finding]:
    """Measure the space for data, models and notebooks."""
    free = shutil.disk_usage(Path.cwd()).free / _GIB
    detail = f"{free:.1f} GiB free in {Path.cwd()}"
    if free >= 2:
        return [Finding("ok", "disk", detail)]
    return [Finding("fail" if free < 0.1 else "warn", "disk", detail, "free some space: data and models need 2 GiB")]


def shared_memory() -> list[Finding]:
    """Measure the memory through which data loaders hand over batches; a container has 64 MiB unless told."""
    place = Path("/dev/shm")
    if not _system.LINUX:
        return []
    size = shutil.disk_usage(place).total / _GIB if place.is_dir() else 0.0
    detail = f"{size:.2g} GiB in {place}"
    if size >= 0.25:
        return [Finding("ok", "shared memory", detail)]
    return [Finding("warn", "shared memory", detail, "data loaders with workers need it: docker run --shm-size 2g")]


def loopback() -> list[Finding]:
    """Try the network within this machine, through which ranks talk."""
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
    except OSError as error:
        fix = "ranks of labs 11 to 15 talk through it: ip link set lo up"
        return [Finding("fail", "loopback", f"no port can be bound: {error.strerror}", fix)]
    return [Finding("ok", "loopback", "a port can be bound")]
