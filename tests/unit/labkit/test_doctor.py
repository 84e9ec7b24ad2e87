"""The doctor: what each probe finds, on this machine and on strange ones."""

from __future__ import annotations

import json
import platform
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import namedtuple
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from labkit import _machine
from labkit._system import LINUX
from labkit._work import jupyterlab
from labkit.doctor import SECTIONS, Finding, accelerator, examine, machine, places, software

GIB = 1024**3
GPU = _machine.Gpu("RTX", "535.1", 24576)
CPU_BUILD: dict[str, Any] = {"version": "2.13.0", "cuda": None, "gpus": 0, "mps": False, "warnings": []}
CUDA_BUILD = {**CPU_BUILD, "cuda": "13.0"}
Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def plain_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LABKIT_DEVICE", "KERAS_BACKEND", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def only(findings: list[Finding]) -> Finding:
    (found,) = findings
    return found


def raises(error: type[BaseException]) -> Any:
    def fail(*_: object, **__: object) -> Any:
        raise error("gone")

    return fail


# --------------------------------------------------------------------------------------------------------------- whole
@pytest.mark.frameworks
def test_this_machine_passes_in_a_few_seconds() -> None:
    start = time.monotonic()
    sections = examine()
    assert time.monotonic() - start < 15  # 2 s alone; other work may share the cores
    assert list(sections) == list(SECTIONS)
    assert [found for part in sections.values() for found in part if found.status == "fail"] == []


def test_a_probe_that_crashes_is_a_warning_and_the_others_go_on() -> None:
    def strange_probe() -> list[Finding]:
        raise ValueError("two\nlines")

    sections = examine({"A": [strange_probe, machine.loopback], "B": []})
    assert sections["A"] == [
        Finding("warn", "strange probe", "could not be examined: ValueError: two lines"),
        Finding("ok", "loopback", "a port can be bound"),
    ]
    assert sections["B"] == []


def test_every_problem_comes_with_a_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "0.0.1")
    monkeypatch.setattr(_machine, "cores", lambda: 1.0)
    monkeypatch.setattr(_machine, "memory_bytes", lambda: (GIB, GIB))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1, 1, 0))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    probes = [*SECTIONS["Packages"], *SECTIONS["Machine"], *SECTIONS["Grading"]]
    findings = [found for part in examine({"all": probes}).values() for found in part]
    bad = [found for found in findings if found.status != "ok"]
    assert len(bad) > 20
    assert [found for found in bad if not found.fix] == []


# ------------------------------------------------------------------------------------------------------------ software
def test_python_is_compared_with_the_kits_own_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    assert software.python()[0].status == "ok"
    monkeypatch.setattr(platform, "python_version", lambda: "3.14.0")
    found = software.python()[0]
    assert (found.status, found.detail) == ("fail", "3.14.0 (needs >=3.11,<3.14)")


def test_every_requirement_of_the_installed_kit_has_a_line() -> None:
    names = [found.what for found in software.packages()]
    assert {"numpy", "torch", "tensorflow", "keras", "nbgrader"} <= set(names)
    assert "pytest" not in names  # an extra


def test_a_kit_that_is_not_installed_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(software, "_DISTRIBUTION", "no-such-distribution")
    assert only(software.python()).status == "warn"
    assert software.packages() == []


@pytest.mark.parametrize(
    ("line", "status", "detail"),
    [
        ("click>=8", "ok", metadata.version("click")),
        ("click<8,>=7", "warn", f"{metadata.version('click')}, tested with >=7,<8"),
        ("no-such-package==2.*", "fail", "not installed"),
    ],
)
def test_a_package_is_compared_with_its_range(line: str, status: str, detail: str) -> None:
    found = software.package(Requirement(line))
    assert (found.status, found.detail) == (status, detail)
    assert (
        found.fix
        == {"ok": "", "warn": "pip install 'click>=7,<8'", "fail": "pip install 'no-such-package==2.*'"}[status]
    )


def test_a_package_that_goes_by_another_name_without_cuda_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(software, "_version", {"tensorflow-cpu": "2.21.0"}.get)
    found = software.package(Requirement("tensorflow==2.21.*"))
    assert (found.status, found.detail) == ("ok", "2.21.0 (tensorflow-cpu)")


def test_a_kit_without_the_labs_frameworks_is_the_grader_alone() -> None:
    found = only(software.frameworks([Requirement("no-torch==2.*"), Requirement("no-keras>=3")]))
    assert (found.status, found.what) == ("warn", software.GRADER_ALONE)
    assert found.detail == "no-torch, no-keras are not installed; the grader does without"
    assert found.fix == "to run the labs: pip install 'dl-scale-practicum[labs]'"
    missing = software.frameworks([Requirement("numpy"), Requirement("no-keras>=3")])
    assert [part.status for part in missing] == ["ok", "fail"]


def test_reading_versions_imports_no_framework() -> None:
    code = """
import sys
from labkit.doctor import software
assert all(found.status == "ok" for found in software.packages())
print([name for name in ("torch", "tensorflow", "keras") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def kernel_that_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tmp_path / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    spec.joinpath("kernel.json").write_text(
        json.dumps({"argv": [command, "-m", "x"], "display_name": "P", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))


def test_the_kernel_of_this_environment_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_that_runs(sys.executable, tmp_path, monkeypatch)
    assert only(software.kernel()).status == "ok"


def test_a_kernel_of_another_environment_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other" / "bin" / "python"
    other.parent.mkdir(parents=True)
    other.symlink_to(sys.executable)  # two environments on one interpreter
    kernel_that_runs(str(other), tmp_path, monkeypatch)
    found = only(software.kernel())
    assert (found.status, str(other) in found.detail) == ("warn", True)


def test_nbgraders_extensions_are_enabled_here() -> None:
    assert only(software.extensions()).status == "ok"


def test_a_disabled_extension_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "labconfig" / "page_config.json"
    page.parent.mkdir()
    page.write_text('{"disabledExtensions": {"@jupyter/nbgrader:validate": true}}')
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    found = only(software.extensions())
    assert (found.status, found.detail) == ("warn", "disabled: @jupyter/nbgrader:validate")
    assert found.fix == "jupyter labextension enable @jupyter/nbgrader:validate"


def test_a_disabled_server_extension_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"ServerApp": {"jpserver_extensions": {"nbgrader.server_extensions.formgrader": False}}}
    (tmp_path / "jupyter_server_config.json").write_text(json.dumps(settings))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    assert only(software.extensions()).detail == "not enabled: formgrader"


def test_what_a_student_s_jupyterlab_leaves_out_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in jupyterlab.settings({}).items():
        monkeypatch.setenv(name, value)
    found = only(software.extensions())
    assert found.status == "ok", found.detail


def test_where_nobody_grades_formgrader_may_be_disabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "labconfig" / "page_config.json"
    page.parent.mkdir()
    page.write_text('{"disabledExtensions": {"@jupyter/nbgrader:formgrader": true}}')
    settings = {"ServerApp": {"jpserver_extensions": {"nbgrader.server_extensions.formgrader": False}}}
    (tmp_path / "jupyter_server_config.json").write_text(json.dumps(settings))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    monkeypatch.setattr(software, "entry_points", lambda **_: ())
    assert only(software.extensions()).status == "ok"


# ------------------------------------------------------------------------------------------------------------- machine
@pytest.mark.parametrize(("cores", "status"), [(8.0, "ok"), (2.0, "ok"), (1.5, "warn")])
def test_two_cores_are_enough(cores: float, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_machine, "cores", lambda: cores)
    assert only(machine.processor()).status == status


@pytest.mark.parametrize(("total", "free", "status"), [(8, 4, "ok"), (8, 1, "warn"), (1, 1, "fail")])
def test_memory_needs_two_gibibytes(total: int, free: int, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_machine, "memory_bytes", lambda: (total * GIB, free * GIB))
    assert only(machine.memory()).status == status


@pytest.mark.parametrize(("free", "status"), [(10 * GIB, "ok"), (GIB, "warn"), (1000, "fail")])
def test_a_full_disk_fails(free: int, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(2 * free, free, free))
    assert only(machine.disk()).status == status


@pytest.mark.skipif(not LINUX, reason="/dev/shm is Linux's")
def test_a_containers_default_shared_memory_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(64 * 1024**2, 0, 0))
    assert "--shm-size" in only(machine.shared_memory()).fix


def test_a_loopback_that_is_down_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "bind", raises(OSError))
    assert only(machine.loopback()).status == "fail"


# --------------------------------------------------------------------------------------------------------- accelerator
@pytest.mark.parametrize(
    ("facts", "gpus", "driver_cuda", "status", "words"),
    [
        (CPU_BUILD, [], "", "ok", "a CPU build, runs on the processor"),
        (CUDA_BUILD, [], "", "ok", "built for CUDA 13.0, runs on the processor"),
        ({**CUDA_BUILD, "gpus": 2}, [GPU, GPU], "13.1", "ok", "built for CUDA 13.0, uses 2 GPUs"),
        ({**CPU_BUILD, "mps": True}, [], "", "ok", "uses Apple's GPU (mps)"),
        (CPU_BUILD, [GPU], "13.0", "warn", "there is a GPU, but this is a CPU build"),
        (CUDA_BUILD, [GPU], "12.2", "warn", "driver 535.1 is too old: it supports CUDA 12.2"),
        ({**CUDA_BUILD, "warnings": ["a\n b"]}, [GPU], "13.0", "warn", "sees no GPU: a b"),
        (CUDA_BUILD, [GPU], "", "warn", "sees no GPU: it does not say why"),
    ],
)
def test_pytorch_is_held_against_the_driver(
    facts: dict[str, Any], gpus: list[_machine.Gpu], driver_cuda: str, status: str, words: str
) -> None:
    found = accelerator.torch_finding(facts, gpus, driver_cuda)
    assert found.status == status
    assert words in found.detail
    assert bool(found.fix) == (status != "ok")


def test_a_gpu_without_a_driver_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_machine, "gpus", list)
    monkeypatch.setattr(_machine, "nvidia_on_bus", lambda: True)
    monkeypatch.setattr(accelerator, "_torch_facts", lambda: (CPU_BUILD, ""))
    assert [found.status for found in accelerator.accelerator()] == ["warn", "ok"]


def test_a_driver_that_fails_is_a_warning_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_machine, "gpus", raises(RuntimeError))
    monkeypatch.setattr(accelerator, "_torch_facts", lambda: (CPU_BUILD, ""))
    assert accelerator.accelerator()[0].detail == "nvidia-smi: gone"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import no_such_library", "No module named 'no_such_library'"),
        ("import os; os.kill(os.getpid(), 4)", "the process ended with -4"),
        ("import time; time.sleep(9)", "no answer within 0.3 s"),
    ],
)
def test_a_pytorch_that_crashes_fails_without_taking_the_doctor_along(
    code: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accelerator, "_TORCH_PROBE", code)
    monkeypatch.setattr(accelerator, "_TORCH_S", 0.3 if "sleep" in code else 30)
    found = accelerator.accelerator()[-1]
    assert (found.status, found.what) == ("fail", "PyTorch")
    assert words in found.detail


@pytest.mark.parametrize(("wanted", "status"), [("cpu", "ok"), ("CPU ", "ok"), ("cuda", "fail"), ("tpu", "fail")])
def test_a_forced_device_must_be_there(wanted: str, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_DEVICE", wanted)
    monkeypatch.setattr(accelerator, "_torch_facts", lambda: (CPU_BUILD, ""))
    assert accelerator.accelerator()[-1].status == status


def test_a_compiler_is_there_with_its_headers_or_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if name == "clang++" else None)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    assert only(accelerator.compiler()).detail.startswith("clang++, but not Python's headers")
    (tmp_path / "Python.h").touch()
    assert only(accelerator.compiler()).status == "ok"
    monkeypatch.setenv("CXX", "g++-99")
    found = only(accelerator.compiler())
    assert (found.status, found.detail.split(":")[0]) == ("warn", "g++-99 not found")


def test_a_backend_of_keras_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    monkeypatch.setattr(accelerator, "_installed", lambda module: module == "keras")
    found = only(accelerator.keras())
    assert (found.status, found.detail) == ("warn", "torch (KERAS_BACKEND) is not installed")


def test_kerass_backend_is_read_where_keras_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert only(accelerator.keras()).detail == "tensorflow (the default)"
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "keras.json").write_text('{"backend": "jax"}')
    assert only(accelerator.keras()).status == "warn"
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    assert only(accelerator.keras()) == Finding("ok", "Keras backend", "torch (KERAS_BACKEND)")


# ------------------------------------------------------------------------------------------------- places and sandbox
def test_a_folder_that_cannot_be_written_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [found.status for found in places.writable()] == ["ok", "ok"]
    assert not (tmp_path / "data").exists()  # looking creates nothing
    monkeypatch.setattr(tempfile, "TemporaryFile", raises(PermissionError))
    assert [found.status for found in places.writable()] == ["fail", "warn"]


def test_data_sets_that_need_no_network_are_listed() -> None:
    found = only(places.data_sets())
    assert found.detail.startswith("digits, glyphs")
    assert "downloads mnist" in found.detail


@pytest.mark.skipif(not LINUX, reason="bubblewrap is Linux's")
def test_a_sandbox_that_is_missing_or_refused_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert only(places.sandbox()).detail == "bubblewrap is not installed"
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    program.chmod(0o755)
    assert only(places.sandbox()).detail == "bwrap: No permissions to create new namespace"
