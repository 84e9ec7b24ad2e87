"""Variables that each rank starts with."""

from __future__ import annotations

from labkit._system import LOOPBACK as _INTERFACE

__all__ = ["LOOPBACK", "ONE_THREAD"]

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
LOOPBACK = dict.fromkeys(("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"), _INTERFACE) if _INTERFACE else {}
"""Ranks of one machine talk within it, whether or not it has a network."""
