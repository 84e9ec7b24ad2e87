"""docker/compose.yaml: valid, nothing exposed; its services come up, keep their volumes and obey their limits."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.images.composed import Compose, project
from tests.images.conftest import ROOT, TOKEN, docker

pytestmark = pytest.mark.image


@pytest.fixture
def compose(engine: None) -> Iterator[Compose]:
    """Run Compose on a project of its own."""
    with project() as (_, run):
        yield run


def _services(compose: Compose) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(compose("--profile", "*", "config", "--format", "json"))["services"]
    return found


def _get(compose: Compose, service: str, path: str, token: str = TOKEN) -> Any:
    address = compose("port", service, "8888").strip()
    request = urllib.request.Request(f"http://{address}{path}", headers={"Authorization": f"token {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def test_every_service_is_bound_to_this_machine_and_has_limits(compose: Compose) -> None:
    services = _services(compose)
    assert {"lab", "lab-gpu", "instructor"} <= set(services)
    for name, service in services.items():
        assert [port["host_ip"] for port in service["ports"]] == ["127.0.0.1"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert int(service["mem_limit"]) > 0 and service["pids_limit"] > 0, name
        assert service["cap_drop"] == ["ALL"] and not service.get("privileged"), name


def test_targets_and_arguments_of_the_builds_are_in_the_dockerfile(compose: Compose) -> None:
    text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^FROM .* AS (\S+)$", text, re.MULTILINE))
    arguments = set(re.findall(r"^ARG ([A-Z_]+)", text, re.MULTILINE))
    builds = {name: service["build"] for name, service in _services(compose).items()}
    assert builds
    for name, build in builds.items():
        assert build["target"] in targets, name
        assert set(build.get("args", {})) <= arguments, name


def test_the_gpu_service_reserves_every_gpu(compose: Compose) -> None:
    service = _services(compose)["lab-gpu"]
    (device,) = service["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": -1, "capabilities": ["gpu"]}
    assert service["image"].endswith(":cuda") and service["build"]["args"]["TORCH"] == "cuda"


def test_the_students_service_comes_up_without_privileges(student_image: str, compose: Compose) -> None:
    compose("up", "--detach", "--wait", "lab")
    assert _get(compose, "lab", "/api/status")["kernels"] == 0
    with pytest.raises(urllib.error.HTTPError, match="403"):
        _get(compose, "lab", "/api/status", token="wrong")
    rights = compose("exec", "-T", "lab", "grep", "-E", "^(Cap(Prm|Eff|Bnd)|NoNewPrivs)", "/proc/self/status")
    assert {line.split()[1] for line in rights.splitlines()} == {"0000000000000000", "1"}


def test_work_survives_down_and_limits_follow_the_variables(student_image: str, compose: Compose) -> None:
    compose("up", "--detach", "--wait", "lab")
    compose("exec", "-T", "lab", "sh", "-c", "echo mine > ~/notes.md")
    compose("down", "--timeout", "5")
    compose("up", "--detach", "--wait", "lab", PRACTICUM_MEMORY="3g", PRACTICUM_SHM="1g", PRACTICUM_CPUS="0.5")
    assert compose("exec", "-T", "lab", "cat", "/home/jovyan/notes.md") == "mine\n"
    looked = docker("inspect", "--format", "{{json .HostConfig}}", compose("ps", "--quiet", "lab").strip())
    limits = json.loads(looked)
    assert (limits["Memory"], limits["ShmSize"], limits["NanoCpus"]) == (3 << 30, 1 << 30, 500_000_000)


def test_the_instructors_service_has_formgrader_and_may_make_namespaces(
    instructor_image: str, compose: Compose
) -> None:
    compose("--profile", "instructor", "up", "--detach", "--wait", "instructor")
    assignments = _get(compose, "instructor", "/formgrader/api/assignments")
    assert "01_numpy_mlp" in {assignment["name"] for assignment in assignments}
    walls = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--ro-bind", "/proc", "/proc")
    assert compose("exec", "-T", "instructor", *walls, "echo", "walled in") == "walled in\n"
