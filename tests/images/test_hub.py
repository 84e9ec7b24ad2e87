"""The hub: who gets in, what server they get, and an assignment's way through the exchange and back."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from websocket import create_connection

from tests.images.composed import Compose, project
from tests.images.conftest import ROOT, docker

pytestmark = pytest.mark.image

LAB = "01_numpy_mlp"
COURSE = {"course_id": "dl-scale", "assignment_id": LAB}
PASSWORD = "correct-horse-battery"


class Browser:
    """One person's session with the hub."""

    def __init__(self, address: str, name: str) -> None:
        self.address, self.name, self.session = f"http://{address}", name, requests.Session()

    def form(self, path: str, **fields: str) -> requests.Response:
        """Open a page and send the form on it."""
        self.session.get(self.address + path, timeout=10)
        sent = {**fields, "_xsrf": self.session.cookies.get("_xsrf", path="/hub/") or ""}
        return self.session.post(self.address + path, data=sent, timeout=20)

    def sign_up(self, password: str = PASSWORD) -> str:
        fields = {"username": self.name, "signup_password": password, "signup_password_confirmation": password}
        page = self.form("/hub/signup", **fields).text
        return " ".join(re.sub(r"<[^>]*>", " ", page).split())

    def sign_in(self, password: str = PASSWORD) -> bool:
        answer = self.form("/hub/login?next=/hub/token", username=self.name, password=password)
        return answer.ok and answer.url == f"{self.address}/hub/token"

    def api(self, method: str, path: str, **what: Any) -> Any:
        """Return the JSON that the hub answers to this person; raise for a refusal."""
        header = {"X-XSRFToken": self.session.cookies.get("_xsrf", path="/hub/") or ""}
        answer = self.session.request(method, f"{self.address}/hub/api{path}", headers=header, timeout=30, **what)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def start(self) -> Server:
        """Start this person's server and wait until it answers."""
        token = self.api("POST", f"/users/{self.name}/tokens", json={})["token"]
        self.api("POST", f"/users/{self.name}/server")
        server = Server(f"{self.address}/user/{self.name}", token)
        for _ in range(300):
            if self.api("GET", f"/users/{self.name}")["servers"].get("", {}).get("ready"):
                return server
            time.sleep(0.3)
        raise AssertionError(f"{self.name}'s server does not start")


@dataclass(frozen=True)
class Server:
    """A person's server, asked with a token."""

    url: str
    token: str

    def api(self, method: str, path: str, **what: Any) -> Any:
        """Return the JSON that the server answers; raise for a refusal."""
        header = {"Authorization": f"token {self.token}"}
        answer = requests.request(method, self.url + path, headers=header, timeout=120, **what)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def run(self, code: str) -> str:
        """Run code in a kernel of this server and return what it prints."""
        kernel = self.api("POST", "/api/kernels", json={})["id"]
        socket = create_connection(
            f"{self.url.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels",
            header=[f"Authorization: token {self.token}"], timeout=60,
        )  # fmt: skip
        content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False, "stop_on_error": True}
        message = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "session": uuid.uuid4().hex}
        header = {**message, "username": "", "version": "5.3", "date": "2000-01-01T00:00:00Z"}
        body = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        socket.send(json.dumps(body))
        said = ""
        while True:
            got = json.loads(socket.recv())
            if got["parent_header"].get("msg_id") != message["msg_id"]:
                continue
            if got["msg_type"] == "stream":
                said += got["content"]["text"]
            elif got["msg_type"] == "error":
                said += f"{got['content']['ename']}: {got['content']['evalue']}"
            elif got["msg_type"] == "status" and got["content"]["execution_state"] == "idle":
                socket.close()
                self.api("DELETE", f"/api/kernels/{kernel}")
                return said


@dataclass(frozen=True)
class Hub:
    """A hub that runs, and its instructor, signed in."""

    project: str
    compose: Compose
    address: str
    instructor: Browser

    def student(self, name: str) -> Browser:
        """Return a student who has signed up, whom the instructor has let in, and who has signed in."""
        browser = Browser(self.address, name)
        browser.sign_up()
        self.instructor.session.get(f"http://{self.address}/hub/authorize/{name}", timeout=10).raise_for_status()
        assert browser.sign_in()
        return browser


@pytest.fixture(scope="module")
def hub(student_image: str, instructor_image: str) -> Iterator[Hub]:
    build = [str(ROOT / "docker" / "build.sh"), "hub"]
    subprocess.run(build, env={**os.environ, "TAG": "dl-scale-practicum:hub"}, check=True, capture_output=True)
    with project(HUB_ADMIN_PASSWORD=PASSWORD, HUB_MEMORY="3G") as (name, compose):
        compose("--profile", "hub", "up", "--detach", "--wait", "hub")
        address = compose("port", "hub", "8000").strip()
        instructor = Browser(address, "instructor")
        assert instructor.sign_in()
        yield Hub(name, compose, address, instructor)


def test_without_a_password_for_the_instructor_it_does_not_start(hub: Hub) -> None:
    with project() as (_, compose):
        compose("--profile", "hub", "up", "--detach", "hub")
        for _ in range(100):
            if "HUB_ADMIN_PASSWORD: not set\n" in (said := compose("logs", "--no-log-prefix", "hub")):
                return
            time.sleep(0.2)
    raise AssertionError(said)


def test_whoever_signs_up_waits_for_the_instructor(hub: Hub) -> None:
    ada = Browser(hub.address, "ada")
    assert "Your information has been sent to the admin" in ada.sign_up()
    assert not ada.sign_in()
    hub.instructor.session.get(f"http://{hub.address}/hub/authorize/ada", timeout=10).raise_for_status()
    assert not ada.sign_in("correct-horse-batterz")
    assert ada.sign_in()


@pytest.mark.parametrize("password", ["short", "1234567890", "x" * 73])
def test_weak_passwords_and_those_that_would_be_cut_are_refused(hub: Hub, password: str) -> None:
    browser = Browser(hub.address, f"weak{len(password)}")
    assert "Something went wrong" in browser.sign_up(password)
    assert not browser.sign_in(password)


def test_the_instructors_name_cannot_be_taken_and_students_cannot_let_others_in(hub: Hub) -> None:
    assert "already in use" in Browser(hub.address, "instructor").sign_up()
    eve = hub.student("eve")
    Browser(hub.address, "mallory").sign_up()
    assert eve.session.get(f"http://{hub.address}/hub/authorize/mallory", timeout=10).status_code == 403
    with pytest.raises(requests.HTTPError, match="403"):
        eve.api("GET", "/users")


def test_five_wrong_passwords_lock_the_account_for_a_while(hub: Hub) -> None:
    hub.student("tim")
    guesser = Browser(hub.address, "tim")
    assert not any(guesser.sign_in("wrong-password") for _ in range(5))
    assert not guesser.sign_in()


def test_a_student_gets_a_server_with_limits_that_runs_a_kernel(hub: Hub) -> None:
    server = hub.student("kim").start()
    assert server.run("import torch, os; print(int(torch.arange(5).sum()), os.getuid() > 20000)") == "10 True\n"
    looked = json.loads(docker("inspect", f"{hub.project}-kim"))[0]
    assert looked["HostConfig"]["Memory"] == 3 << 30
    assert looked["HostConfig"]["CpuQuota"] == 2 * looked["HostConfig"]["CpuPeriod"]
    rights = server.run("print(open('/proc/self/status').read())")
    assert "CapEff:\t0000000000000000" in rights and "NoNewPrivs:\t1" in rights
    assert "docker.sock" not in server.run("import os; print(os.listdir('/run'))")


def test_students_do_not_reach_each_others_files(hub: Hub) -> None:
    ann, bob = hub.student("ann"), hub.student("bob")
    hers, his = ann.start(), bob.start()
    hers.run("open('diary.txt', 'w').write('secret')")
    assert "diary.txt" in {entry["name"] for entry in hers.api("GET", "/api/contents")["content"]}
    assert "diary.txt" not in {entry["name"] for entry in his.api("GET", "/api/contents")["content"]}
    with pytest.raises(requests.HTTPError, match="403"):
        Server(hers.url, his.token).api("GET", "/api/contents")


def _assignment(server: Server, status: str) -> list[dict[str, Any]]:
    found = server.api("GET", "/assignments?course_id=dl-scale")
    assert found["success"], found
    return [each for each in found["value"] if each["assignment_id"] == LAB and each["status"] == status]


def test_an_assignment_is_released_fetched_submitted_and_collected(hub: Hub) -> None:
    desk = hub.instructor.start()
    pia, dan = hub.student("pia").start(), hub.student("dan").start()
    assert pia.api("GET", "/api/contents/labs")["content"] == []

    container = f"{hub.project}-instructor"
    docker("exec", container, "sh", "-c", f"cd ~/course && autograder release {LAB}", timeout_s=120)
    walls = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--ro-bind", "/proc", "/proc")
    assert docker("exec", container, *walls, "echo", "walled in") == "walled in\n"
    assert desk.api("POST", f"/formgrader/api/assignment/{LAB}/release")["success"]
    assert _assignment(pia, "released") and not _assignment(pia, "fetched")
    pia.api("POST", "/assignments/fetch", json=COURSE)
    (fetched,) = _assignment(pia, "fetched")
    assert fetched["path"] == f"labs/{LAB}"
    pia.run(f"open('labs/{LAB}/notes.txt', 'w').write('of pia')")
    submitted = pia.api("POST", "/assignments/submit", json=COURSE)
    assert submitted["success"], submitted

    inbound = "/srv/exchange/dl-scale/inbound"
    assert "PermissionError" in dan.run(f"import os; print(os.listdir('{inbound}'))")
    # Whoever hands in under another's name hands in for themselves.
    dan.api("POST", "/assignments/fetch", json=COURSE)
    forge = f"cd ~/labs && echo 'of dan' > {LAB}/notes.txt && nbgrader submit {LAB} --student=pia"
    dan.run(f"import subprocess; print(subprocess.run({forge!r}, shell=True, capture_output=True, text=True))")

    assert desk.api("POST", f"/formgrader/api/assignment/{LAB}/collect")["success"]
    handed_in = docker("exec", container, "sh", "-c", f"cd ~/course/submitted && head -n 1 */{LAB}/notes.txt")
    assert re.findall(r"==> (\w+)/.*\n(.*)", handed_in) == [("dan", "of dan"), ("pia", "of pia")]


def test_work_is_there_after_server_and_hub_were_stopped(hub: Hub) -> None:
    zoe = hub.student("zoe")
    zoe.start().run("open('kept.txt', 'w').write('kept')")
    zoe.api("DELETE", "/users/zoe/server")
    hub.compose("--profile", "hub", "up", "--detach", "--wait", "--force-recreate", "hub")
    again = Browser(hub.compose("port", "hub", "8000").strip(), "zoe")
    assert again.sign_in()
    assert again.start().run("print(open('kept.txt').read())") == "kept\n"
