"""Devices, sizes that suit them, and seeds."""

from __future__ import annotations

import random
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from labkit._device import device, scale, seed_everything


def torch_with(*, cuda: bool, mps: bool) -> SimpleNamespace:
    return SimpleNamespace(
        cuda=SimpleNamespace(is_available=lambda: cuda),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: mps)),
        manual_seed=lambda seed: None,
    )


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABKIT_DEVICE", raising=False)


@pytest.mark.parametrize(
    ("cuda", "mps", "best"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu"), (True, False, "cuda")]
)
def test_the_best_device_is_chosen(cuda: bool, mps: bool, best: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch_with(cuda=cuda, mps=mps))
    assert device() == best
    assert scale(cpu="small", gpu="large") == ("small" if best == "cpu" else "large")


def test_without_pytorch_the_device_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert device() == "cpu"


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch_with(cuda=True, mps=True))
    for name in ("cpu", "mps", "CUDA"):
        monkeypatch.setenv("LABKIT_DEVICE", name)
        assert device() == name.lower()


def test_a_device_that_is_not_there_is_an_error_with_a_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch_with(cuda=False, mps=False))
    monkeypatch.setenv("LABKIT_DEVICE", "cuda")
    with pytest.raises(RuntimeError, match="sees no cuda device here\nhint: unset it"):
        device()


def test_an_unknown_device_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_DEVICE", "tpu")
    with pytest.raises(ValueError, match="expected cuda, mps or cpu, got 'tpu'"):
        device()


def test_forcing_the_cpu_loads_no_framework() -> None:
    code = "import sys, labkit; print(labkit.device(), 'torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"LABKIT_DEVICE": "cpu"}
    )
    assert done.stdout == "cpu False\n"


def test_the_same_seed_gives_the_same_numbers() -> None:
    def draw() -> tuple[float, float, float]:
        rng = seed_everything(7)
        return random.random(), float(np.random.rand()), float(rng.random())

    assert draw() == draw()


def test_seeding_imports_no_framework() -> None:
    code = "import sys, labkit; labkit.seed_everything(1); print([m for m in ('torch', 'keras') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_frameworks_that_are_loaded_are_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    seeded: dict[str, int] = {}

    def setter(name: str) -> object:
        return lambda seed: seeded.update({name: seed})

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(manual_seed=setter("torch")))
    tensorflow = SimpleNamespace(random=SimpleNamespace(set_seed=setter("tensorflow")))
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    keras = SimpleNamespace(utils=SimpleNamespace(set_random_seed=setter("keras")))
    monkeypatch.setitem(sys.modules, "keras", keras)
    seed_everything(3)
    assert seeded == {"torch": 3, "tensorflow": 3, "keras": 3}


@pytest.mark.frameworks
def test_pytorch_repeats_after_seeding() -> None:
    import torch

    def draw() -> float:
        seed_everything(5)
        return torch.rand(1).item()

    assert draw() == draw()


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="expected a seed from 0"):
        seed_everything(seed)
