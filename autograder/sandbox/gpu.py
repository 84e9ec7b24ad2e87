"""What a sandbox shows of an NVIDIA GPU: its device nodes, and the driver's libraries wherever this machine keeps them.

A distribution's packages put libcuda among the system's libraries, which every sandbox shows. Nodes of a cluster mount
the driver elsewhere, mostly in /usr/local/nvidia, and name that folder in LD_LIBRARY_PATH, which no sandbox passes on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from autograder.errors import SandboxError
from autograder.sandbox.base import Policy, ProcessLimits, Sandbox
from autograder.sandbox.guest import GPU_PROBE
from autograder.sandbox.host_paths import system_paths
from autograder.sandbox.select import complaint

__all__ = ["Gpu", "find_gpu"]

_SHARED_BY_GPUS = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
"""What CUDA opens beside the GPU's own node."""

_LIBRARY = "libcuda.so.1"
_WHERE = f"""
import ctypes
ctypes.CDLL({_LIBRARY!r})
with open("/proc/self/maps") as maps:
    print(*{{line.split(None, 5)[5].strip() for line in maps if "/libcuda.so" in line}}, sep="\\n")
"""
_ASKING_S = 30


@dataclass(frozen=True)
class Gpu:
    """One NVIDIA GPU as a sandbox can show it.

    Attributes:
        nodes: its device nodes, and those that all GPUs share.
        folders: where the driver's libraries are, as far as no sandbox shows that place anyway.
        environment: what the loader needs to find them.
    """

    MEMORY_MIB: ClassVar[int] = 1 << 32
    """The limit of processes that may use a GPU, none: CUDA reserves more addresses than any machine has memory."""

    nodes: tuple[Path, ...]
    folders: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def shown_by(self, policy: Policy) -> Policy:
        """Return a policy that shows this GPU as well."""
        return replace(
            policy,
            devices=(*policy.devices, *self.nodes),
            read_only=(*policy.read_only, *self.folders),
            environment={**policy.environment, **self.environment},
        )

    def works_in(self, sandbox: Sandbox, policy: Policy | None = None) -> None:
        """Start CUDA in a process of this sandbox, once; SandboxError with its own words if it cannot.

        policy: as of the processes to come, which shows this GPU.
        """
        limits = ProcessLimits(memory_mib=self.MEMORY_MIB)
        if reason := complaint(sandbox, policy or self.shown_by(Policy()), program=GPU_PROBE, limits=limits):
            raise SandboxError(
                f"{self.nodes[0]}: cannot be used in the sandbox ({sandbox.name}): {reason}",
                hint="`labkit doctor` says whether it works outside; without --gpu the lab is graded on the CPU",
            )


def find_gpu(number: int, devices: Path = Path("/dev")) -> Gpu:
    """Return the GPU of this number; SandboxError if it is not there, or its driver's library nowhere to be found."""
    own = devices / f"nvidia{number}"
    if not own.exists():
        there = sorted(path.name for path in devices.glob("nvidia[0-9]*"))
        raise SandboxError(f"{own}: no such GPU (there: {', '.join(there) or 'none'})", hint="nvidia-smi lists them")
    nodes = (own, *(path for name in _SHARED_BY_GPUS if (path := devices / name).exists()))
    search = os.environ.get("LD_LIBRARY_PATH", "")
    if folders := _folders_of(""):
        return Gpu(nodes, _not_shown(folders))
    named = [Path(name) for name in search.split(":") if name and (Path(name) / _LIBRARY).exists()]
    if folders := _folders_of(search):
        first = named[:1] or folders
        return Gpu(nodes, _not_shown([*first, *folders]), {"LD_LIBRARY_PATH": str(first[0])})
    raise SandboxError(
        f"{_LIBRARY}: the NVIDIA driver's library is not found on this machine",
        hint="in a container: docker run --gpus all; else name its folder in LD_LIBRARY_PATH",
    )


def _folders_of(search: str) -> list[Path]:
    """Return the folder of the library that the loader takes with this LD_LIBRARY_PATH; none if it finds none."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    environment |= {"LD_LIBRARY_PATH": search} if search else {}
    asked = subprocess.run(
        [sys.executable, "-I", "-c", _WHERE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_ASKING_S,
    )
    return [Path(line).parent for line in asked.stdout.splitlines()] if asked.returncode == 0 else []


def _not_shown(folders: list[Path]) -> tuple[Path, ...]:
    shown = system_paths()
    hidden = [path for path in folders if not any(path.is_relative_to(place) for place in shown)]
    return tuple(dict.fromkeys(hidden))
