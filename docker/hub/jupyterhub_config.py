"""JupyterHub for a class on one machine: each user gets a container of the course's image. docs/docker.md explains."""

import os
import sys
from pathlib import Path
from typing import Any

from course_hub import GROUP, Accounts, Uids, make_exchange  # type: ignore[import-not-found]
from dockerspawner import DockerSpawner  # type: ignore[import-not-found]

c = get_config()  # type: ignore[name-defined]  # noqa: F821 (Jupyter defines it)

DATA = Path("/srv/hub/data")
EXCHANGE = Path("/srv/exchange")
SECCOMP = Path("/srv/hub/seccomp.json")
PREFIX = os.environ.get("HUB_PREFIX", "practicum")
IMAGE = os.environ.get("HUB_IMAGE", "dl-scale-practicum")
COURSE = os.environ.get("HUB_COURSE_ID", "dl-scale")

# ---------------------------------------------------------------------------------------------- the hub and its proxy
# With a certificate the proxy speaks HTTPS; without one this port must not leave the machine.
c.JupyterHub.ssl_cert = os.environ.get("HUB_TLS_CERT", "")
c.JupyterHub.ssl_key = os.environ.get("HUB_TLS_KEY", "")
c.JupyterHub.bind_url = f"http{'s' if c.JupyterHub.ssl_cert else ''}://:8000"
c.JupyterHub.hub_ip = "0.0.0.0"
# The name of the service in compose.yaml: it stays the same when the hub is replaced while servers run.
c.JupyterHub.hub_connect_ip = os.environ.get("HUB_NAME", "hub")
c.JupyterHub.cookie_secret_file = str(DATA / "cookie_secret")
c.JupyterHub.db_url = f"sqlite:///{DATA}/jupyterhub.sqlite"
c.ConfigurableHTTPProxy.pid_file = "/tmp/proxy.pid"
# Servers outlive the hub: after an update of it, or a crash, students go on.
c.JupyterHub.cleanup_servers = False

# --------------------------------------------------------------------------------------------------------- accounts
c.JupyterHub.authenticator_class = Accounts
c.Authenticator.admin_users = {os.environ.get("HUB_ADMIN", "instructor")}
# Accounts lets in only whom the instructor has approved.
c.Authenticator.allow_all = True
# A name is part of a submission's in the exchange, where + and * mean something.
c.Authenticator.username_pattern = r"^[a-z][a-z0-9._-]{0,31}$"
c.NativeAuthenticator.open_signup = False
c.NativeAuthenticator.minimum_password_length = 10
c.NativeAuthenticator.check_common_password = True
c.NativeAuthenticator.allowed_failed_logins = 5
c.NativeAuthenticator.seconds_before_next_try = 300

# -------------------------------------------------------------------------------------------------- users' containers
c.JupyterHub.spawner_class = DockerSpawner
c.DockerSpawner.network_name = os.environ.get("HUB_NETWORK", "practicum_hub")
c.DockerSpawner.use_internal_ip = True
c.DockerSpawner.remove = True
c.DockerSpawner.prefix = PREFIX
c.DockerSpawner.mem_limit = os.environ.get("HUB_MEMORY", "8G")
c.DockerSpawner.cpu_limit = float(os.environ.get("HUB_CPUS", "2"))
# The instructor's first start copies the course.
c.Spawner.start_timeout = 120
c.Spawner.http_timeout = 120
c.Spawner.default_url = "/lab/tree/README.md"

make_exchange(EXCHANGE, COURSE)
uids = Uids(DATA / "uids.json", EXCHANGE / "uids.json")


def prepare(spawner: Any) -> None:
    """Choose image, uid and rights of a user's container."""
    instructor = spawner.user.admin
    spawner.image = f"{IMAGE}:cpu-instructor" if instructor else f"{IMAGE}:cpu"
    spawner.volumes = {
        f"{PREFIX}-{'course' if instructor else 'home'}-{{username}}": "/home/jovyan",
        os.environ.get("HUB_EXCHANGE", "practicum_exchange"): str(EXCHANGE),
    }
    spawner.environment = {"PRACTICUM_EXCHANGE": str(EXCHANGE), "PRACTICUM_COURSE_ID": COURSE}
    rights: dict[str, Any] = {"cap_drop": ["ALL"], "security_opt": ["no-new-privileges"], "pids_limit": 4096}
    if instructor:
        # Docker's own profile forbids the namespaces that the grader's sandbox is made of.
        rights["security_opt"].append(f"seccomp={SECCOMP.read_text(encoding='utf-8')}")
    else:
        # It starts as root, takes the student's uid on and drops these; no-new-privileges keeps it from coming back.
        spawner.extra_create_kwargs = {"user": "root"}
        spawner.environment |= {"NB_UID": str(uids.of(spawner.user.name)), "NB_GID": str(GROUP)}
        rights["cap_add"] = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID"]
        # Labs come from the exchange, so those of the image do not.
        rights["tmpfs"] = {"/opt/practicum/labs": "size=4k,mode=755"}
    spawner.extra_host_config = {"shm_size": os.environ.get("HUB_SHM", "2g"), **rights}


c.Spawner.pre_spawn_hook = prepare

# ----------------------------------------------------------------------------------------------- servers nobody uses
c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [
            sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={os.environ.get('HUB_IDLE_S', '7200')}",
        ],
    }
]  # fmt: skip
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    }
]
