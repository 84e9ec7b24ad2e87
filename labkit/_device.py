"""Where tensors live, how large a problem should be there, and where random numbers start."""

from __future__ import annotations

import os
import random
import sys
from typing import TypeVar

import numpy as np

__all__ = ["device", "scale", "seed_everything"]

T = TypeVar("T")

_NAMES = ("cuda", "mps", "cpu")


def device() -> str:
    """Return the best device that PyTorch can use here: "cuda", "mps" or "cpu".

    The environment variable LABKIT_DEVICE, set to one of the three, decides instead. Raises ValueError if it names
    another device and RuntimeError if PyTorch cannot use the one it names.
    """
    wanted = os.environ.get("LABKIT_DEVICE", "").strip().lower()
    if wanted and wanted not in _NAMES:
        raise ValueError(f"LABKIT_DEVICE: expected cuda, mps or cpu, got {wanted!r}\nhint: unset it")
    if wanted == "cpu":
        return "cpu"
    found = _found()
    if not wanted:
        return found[0]
    if wanted not in found:
        raise RuntimeError(
            f"LABKIT_DEVICE: PyTorch sees no {wanted} device here\nhint: unset it, or run `labkit doctor` to see why"
        )
    return wanted


def _found() -> list[str]:
    """Return the usable devices, best first; without PyTorch only the CPU is one."""
    try:
        import torch
    except ModuleNotFoundError:
        return ["cpu"]
    usable = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    return [name for name in _NAMES if usable[name]]


def scale(*, cpu: T, gpu: T) -> T:
    """Return `gpu` where `device()` is a GPU (cuda or mps), else `cpu`: a problem size that suits the machine."""
    return cpu if device() == "cpu" else gpu


def seed_everything(seed: int) -> np.random.Generator:
    """Seed every global random generator of this process and return a NumPy generator with the same seed.

    Seeds `random` and `numpy.random`, and of torch, tensorflow and keras those that are imported already: import them
    first. Prefer the returned generator to global ones; it is the only one that no library draws from behind your back.

    Results still differ between machines, devices, thread counts and library versions, because sums are added in
    another order; on a GPU some operators add in a random order (`torch.use_deterministic_algorithms(True)` reports
    them). Worker processes, threads that race, and the order of a `set` of strings (PYTHONHASHSEED) are out of reach.

    Raises ValueError unless 0 <= seed < 2**32.
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed_everything: expected a seed from 0 to 2**32 - 1, got {seed}")
    random.seed(seed)
    np.random.seed(seed)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)
    if tensorflow := sys.modules.get("tensorflow"):
        tensorflow.random.set_seed(seed)
    if keras := sys.modules.get("keras"):
        keras.utils.set_random_seed(seed)
    return np.random.default_rng(seed)
