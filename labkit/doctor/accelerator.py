"""Probes of the GPU, its driver, a compiler, and what PyTorch and Keras make of them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from labkit import _machine
from labkit.doctor.finding import Finding

__all__ = ["accelerator", "compiler", "keras", "torch_finding"]

_REINSTALL = "pip install --force-reinstall"
_TORCH_S = 30.0
_TORCH_PROBE = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import torch
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
facts = {"version": torch.__version__.split("+")[0], "cuda": torch.version.cuda, "gpus": gpus}
facts |= {"mps": torch.backends.mps.is_available(), "warnings": [str(item.message) for item in caught]}
print(json.dumps(facts))
"""


def accelerator() -> list[Finding]:
    """Examine driver and PyTorch together: what is wrong shows only when one is held against the other."""
    found = []
    gpus: list[_machine.Gpu] = []
    driver_cuda = ""
    try:
        gpus = _machine.gpus()
        driver_cuda = _machine.driver_cuda() if gpus else ""
        found = [_gpu(gpus, driver_cuda)]
    except RuntimeError as error:
        found = [Finding("warn", "GPU", f"nvidia-smi: {error}", "restart, or install the NVIDIA driver again")]
    if not _installed("torch"):
        return found  # its absence is said among the packages
    facts, trouble = _torch_facts()
    if trouble:
        return [*found, Finding("fail", "PyTorch", f"cannot be imported: {trouble}", f"{_REINSTALL} torch")]
    return [*found, torch_finding(facts, gpus, driver_cuda), *_forced(facts)]


def _gpu(gpus: list[_machine.Gpu], driver_cuda: str) -> Finding:
    if gpus:
        names = ", ".join(f"{gpu.name} ({gpu.memory_mib / 1024:.0f} GiB)" for gpu in gpus)
        cuda = f", CUDA up to {driver_cuda}" if driver_cuda else ""
        return Finding("ok", "GPU", f"{names}, driver {gpus[0].driver}{cuda}")
    if _machine.nvidia_on_bus():
        fix = "install NVIDIA's driver; in a container: docker run --gpus all"
        return Finding("warn", "GPU", "an NVIDIA GPU is plugged in, but no driver answers", fix)
    return Finding("ok", "GPU", "none; every point can be reached without one")


def _torch_facts() -> tuple[dict[str, Any], str]:
    """Import PyTorch in a process of its own, which may crash; return what it sees, or why it cannot be imported."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _TORCH_PROBE], check=False, capture_output=True, text=True, timeout=_TORCH_S
        )
    except subprocess.TimeoutExpired:
        return {}, f"no answer within {_TORCH_S:g} s"
    if done.returncode:
        return {}, (done.stderr.strip().splitlines() or [f"the process ended with {done.returncode}"])[-1]
    facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return facts, ""


def torch_finding(facts: dict[str, Any], gpus: list[_machine.Gpu], driver_cuda: str) -> Finding:
    """Judge what PyTorch sees (`facts`, from its own process) against what the driver says."""
    build = f"built for CUDA {facts['cuda']}" if facts["cuda"] else "a CPU build"
    if facts["gpus"]:
        return Finding("ok", "PyTorch", f"{build}, uses {facts['gpus']} GPU{'s' * (facts['gpus'] > 1)}")
    if facts["mps"]:
        return Finding("ok", "PyTorch", "uses Apple's GPU (mps)")
    if not gpus:
        return Finding("ok", "PyTorch", f"{build}, runs on the processor")
    if not facts["cuda"]:
        fix = f"{_REINSTALL} torch=={facts['version']} --index-url https://download.pytorch.org/whl/cu130"
        return Finding("warn", "PyTorch", "there is a GPU, but this is a CPU build", fix)
    if driver_cuda and _major(driver_cuda) < _major(facts["cuda"]):
        detail = f"{build}, but the driver {gpus[0].driver} is too old: it supports CUDA {driver_cuda}"
        return Finding("warn", "PyTorch", detail, f"update the NVIDIA driver to one for CUDA {facts['cuda']}")
    words = " ".join(facts["warnings"][-1].split()) if facts["warnings"] else "it does not say why"
    return Finding("warn", "PyTorch", f"{build}, but sees no GPU: {words}", "is CUDA_VISIBLE_DEVICES set? else restart")


def _major(version: str) -> int:
    return int(version.partition(".")[0])


def _forced(facts: dict[str, Any]) -> list[Finding]:
    wanted = os.environ.get("LABKIT_DEVICE", "").strip().lower()
    if not wanted:
        return []
    usable = {"cuda": bool(facts["gpus"]), "mps": bool(facts["mps"]), "cpu": True}.get(wanted, False)
    if usable:
        return [Finding("ok", "LABKIT_DEVICE", wanted)]
    return [Finding("fail", "LABKIT_DEVICE", f"{wanted}, which PyTorch cannot use here", "unset LABKIT_DEVICE")]


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def compiler() -> list[Finding]:
    """Look for what torch.compile needs on a processor: a C++ compiler, and Python's headers."""
    if not _installed("torch"):
        return []
    names = [os.environ["CXX"]] if os.environ.get("CXX") else ["g++", "clang++"]
    found = next((name for name in names if shutil.which(name)), "")
    if not found:
        detail = f"{' or '.join(names)} not found: cells that measure torch.compile say so and are skipped"
        return [Finding("warn", "C++ compiler", detail, "apt install g++ python3-dev; on a Mac xcode-select --install")]
    headers = Path(sysconfig.get_path("include"), "Python.h")
    if not headers.is_file():
        detail = f"{found}, but not Python's headers ({headers}): torch.compile needs both"
        return [Finding("warn", "C++ compiler", detail, "apt install python3-dev")]
    return [Finding("ok", "C++ compiler", f"{found}, for torch.compile")]


def keras() -> list[Finding]:
    """Say which backend Keras will use; it is not imported."""
    if not _installed("keras"):
        return []
    file = Path(os.environ.get("KERAS_HOME", "~/.keras")).expanduser() / "keras.json"
    origin, backend = "the default", "tensorflow"
    if file.is_file():
        origin, backend = str(file), str(json.loads(file.read_text(encoding="utf-8")).get("backend", backend))
    if "KERAS_BACKEND" in os.environ:
        origin, backend = "KERAS_BACKEND", os.environ["KERAS_BACKEND"]
    if backend in ("tensorflow", "torch"):
        if not _installed(backend):
            fix = f"pip install {backend}, or set KERAS_BACKEND to one that is installed"
            return [Finding("warn", "Keras backend", f"{backend} ({origin}) is not installed", fix)]
        return [Finding("ok", "Keras backend", f"{backend} ({origin})")]
    fix = "export KERAS_BACKEND=torch, or tensorflow"
    return [Finding("warn", "Keras backend", f"{backend} ({origin}): the labs use tensorflow or torch", fix)]
