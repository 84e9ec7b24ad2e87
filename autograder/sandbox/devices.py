"""Device nodes of a GPU, for a policy that lets one submission at a time use it."""

from __future__ import annotations

from pathlib import Path

from autograder.errors import SandboxError

__all__ = ["gpu_nodes"]

_SHARED = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
"""What CUDA opens beside the GPU's own node."""


def gpu_nodes(number: int, devices: Path = Path("/dev")) -> tuple[Path, ...]:
    """Return the nodes that CUDA needs for the NVIDIA GPU of this number; SandboxError if there is no such GPU here."""
    own = devices / f"nvidia{number}"
    if not own.exists():
        there = sorted(path.name for path in devices.glob("nvidia[0-9]*"))
        raise SandboxError(f"{own}: no such GPU (there: {', '.join(there) or 'none'})", hint="nvidia-smi lists them")
    return (own, *(path for name in _SHARED if (path := devices / name).exists()))
