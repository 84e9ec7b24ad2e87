"""What runs inside the walls, shown there as single files.

It imports the standard library, and of ours only what is shown beside it.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["BARE", "GPU_PROBE", "KERNEL", "LANDLOCK", "LAUNCHER", "NAMESPACES", "PROBE", "REQUEST", "ZYGOTE"]

KERNEL, LANDLOCK, LAUNCHER, NAMESPACES, PROBE, REQUEST, ZYGOTE = (
    Path(__file__).with_name(f"{name}.py")
    for name in ("kernel_main", "landlock", "launcher", "namespaces", "probe_main", "request", "zygote_main")
)
GPU_PROBE = Path(__file__).with_name("gpu_probe_main.py")

BARE = ("-E", "-s", "-S")
"""How Python runs `launcher.py`: without environment variables, a user's packages, and the import of site."""
