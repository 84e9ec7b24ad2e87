"""Variables that each rank starts with."""

from __future__ import annotations

import sys

__all__ = ["LOOPBACK", "ONE_THREAD"]

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
LOOPBACK = {"GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {}
"""Ranks of one machine talk within it, whether or not it has a network."""
